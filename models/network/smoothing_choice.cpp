#include "models/network/smoothing_choice.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/learn/joint/growing.h"
#include "engine/support/shuffle.h"
#include "models/network/solver_form.h"

namespace dma {

namespace {

constexpr double kTrialProducts = 1e7, kMostTrialledProducts = 4e8;  // of an epoch: some 2 ms, and some 50
constexpr Index kFewestTrialRows = 30;
constexpr int kFirstTrialEpochs = 15, kTrialEpochs = 40;
constexpr double kClearTrialNats = 5, kClearTrialNatsPerRow = 0.05;
constexpr Index kInputsOfSteepFunctions = 2;

Index trial_rows(Index rows, Index outputs, Index scalars) {
  const auto p = static_cast<double>(scalars);
  const double most = std::max(std::cbrt(kTrialProducts), kTrialProducts / (p * p)) / static_cast<double>(outputs);
  return std::min(rows, static_cast<Index>(most));
}

}  // namespace

double choose_smoothing(const BnnShape& shape, const SharedPrior& prior, const SharedState& start,
                        const RowData& data, SharedFitOptions options, std::uint64_t seed) {
  const Index rows = data.rows.rows(), outputs = data.targets.cols(), scalars = prior.mean.size();
  const bool dear = products_of_epoch(data.count(), scalars) > kMostTrialledProducts;
  const Index tried = trial_rows(rows, outputs, scalars);
  if (tried < kFewestTrialRows || (dear && !worth_growing(rows, outputs, scalars))) return shape.smoothing;
  std::vector<Index> some = random_order(rows, seed);
  some.resize(static_cast<std::size_t>(tried));
  const RowData subset = data.some(some);
  std::vector<double> smoothings = {1, 0.5, 0.2};
  if (shape.layers.front() <= kInputsOfSteepFunctions) smoothings.push_back(0.07);
  struct Trial {
    double smoothing, evidence;
    SharedState state;
  };
  const auto learn = [&](Trial& trial, int epochs) {
    BnnShape own = shape;
    own.smoothing = trial.smoothing;
    const auto curvature = subset.count() <= scalars ? make_dual() : make_primal();
    const RowProgram network = network_rows(own);  // which the curvature refers to
    curvature->use_threads(options.jobs, nullptr);
    options.epochs = epochs;
    trial.evidence = fit_shared(network, subset, prior, options, trial.state, *curvature);
  };
  const double clear = std::max(kClearTrialNats, kClearTrialNatsPerRow * static_cast<double>(subset.count()));
  Trial own{shape.smoothing, 0, start};
  learn(own, kFirstTrialEpochs);
  std::vector<Trial> baselines;
  for (const double smoothing : smoothings) {
    if (smoothing == shape.smoothing) continue;
    Trial baseline{smoothing, 0, start};
    learn(baseline, kFirstTrialEpochs);
    if (baseline.evidence > own.evidence - clear)
      baselines.push_back(std::move(baseline));  // others will not get ahead
  }
  if (baselines.empty()) return shape.smoothing;
  learn(own, kTrialEpochs);
  double best = shape.smoothing, least = own.evidence + clear;
  for (Trial& baseline : baselines) {
    learn(baseline, kTrialEpochs);
    if (baseline.evidence > least) best = baseline.smoothing, least = baseline.evidence;
  }
  return best;
}

}  // namespace dma
