// The outer loop of Gaussian learning: linearise, one proximal step of all shared scalars, noise and prior scale by
// evidence.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "engine/learn/data.h"
#include "engine/learn/gaussian/curvature/curvature.h"
#include "engine/learn/gaussian/log_linear_noise.h"

namespace dma {

// All that changes while learning: a saved state goes on with the same bytes.
struct SharedState {
  Vector mean;                        // means of the shared scalars
  Vector scale = Vector::Ones(1);     // factors on the prior precisions, by group
  double damping = 1;                 // mu of the next proximal step
  std::vector<LogLinearNoise> noise;  // per output
  int epoch = 0;
  Index subset = 0;  // rows that it is learning from, of growing subsets; 0: all

  // Progress in predicting left-out rows since epoch `first` (see SharedFitOptions::least_gain).
  struct Watch {
    int first = 0, flat = 0;
    double reference = -1e300, best_score = -1e300;
    std::vector<SharedState> best = {};  // the state with the best score, if one is kept
  };
  Watch watch = {};
  // True if left-out rows were no longer predicted better; otherwise learning ended at its limit, or was stopped.
  static constexpr int kFlatScores = 2;
  bool is_settled() const { return watch.flat >= kFlatScores; }
  // A new stage of learning: what was gained before is no measure for it.
  void begin_stage() { watch = {.first = epoch}; }
  // Noise and epoch alone: what a finished fit is asked for.
  SharedState condensed() const { return {.mean = {}, .scale = scale, .noise = noise, .epoch = epoch}; }
};

struct SharedEpoch {
  int epoch = 0;
  double log_evidence = 0;  // at the beginning of the epoch
  double objective = 0;     // after its step: sum r^2 / (2 s) + sum lambda (m - m0)^2 / 2
  double effective_scalars = 0, damping = 0;
  Vector scale = {};  // by group
  bool moved = false;
};

inline constexpr double kLeastChange = 2e-4;
struct SharedFitOptions {
  int epochs = 100;  // most epochs of the state: one that has them is left alone
  bool learn_noise = true, learn_scale = true;
  bool noise_depends_on_inputs = false;
  // Rows enter with their noise s to this power (and its geometric mean to the rest), in [0, 1]: 1 is the likelihood.
  // Less keeps noisy rows, and with them the mean squared error, in the game while quiet rows already count more.
  double weight_exponent = 1;
  // Every five epochs the learned rows are scored, each as if it had been left out. Stop when they twice gained less
  // than this many nats per row and epoch, at the best state found. 0: never. (The evidence is no guide here: on real
  // tables it falls while left-out and test rows are still predicted better.)
  double least_gain = 0.0003;
  // Leaving rows of classes out costs more than an epoch: stop when the log evidence changed by less than this many
  // nats per row (kLeastChange is usual) in three epochs in a row. 0: never.
  double least_change = 0;
  std::function<bool(const SharedEpoch&)> on_epoch = {};  // false stops
  // For curvatures that are made on the way, see Curvature::use_threads().
  std::size_t jobs = 1;
  std::shared_ptr<WorkerTeam> team = nullptr;
  StageWatch on_stage = {};
};

// Data as the Gaussian rows that they look like at these scalars (see_as_gaussian), with the noise of those, not yet
// weighted. Where all noise is Gaussian, or a target is a class, they are the given data: a curvature sees classes
// itself.
struct SeenRows {
  SeenRows(const RowModel& model, const RowData& given, const Vector& m, Vector noise);
  const RowData& data() const { return own ? *own : given; }
  const RowData& given;
  std::shared_ptr<const RowData> own = {};  // null: those that are given
  Vector noise;
  double log_density = 0;  // sum over outputs that are not Gaussian
};

// Runs epochs on `state`; the curvature is then assembled at the final state, with full weights. Returns the log
// evidence there.
double fit_shared(const RowModel& model, const RowData& data, const SharedPrior& prior, const SharedFitOptions& options,
                  SharedState& state, Curvature& curvature);

Vector row_noise(const SharedState& state, const Matrix& rows);
// The noise as a function of the inputs, learned at a mean that stays: from residuals and leverages at constant noise.
void learn_noise_function(const RowData& data, Curvature& curvature, SharedState& state);
// -J + sum log lambda / 2 - log |L| / 2 - sum log s / 2 and constants, at the curvature's linearisation; `other` is the
// sum of log f of outputs whose noise is not Gaussian.
double log_evidence(const SharedPrior& prior, const SharedState& state, const RowData& data, Curvature& curvature,
                    double other = 0);

}  // namespace dma
