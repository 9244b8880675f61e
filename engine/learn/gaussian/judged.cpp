#include "engine/learn/gaussian/judged.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "engine/learn/gaussian/growing.h"
#include "engine/learn/gaussian/mixture_fitting.h"
#include "engine/support/parallel.h"
#include "engine/support/shuffle.h"

namespace dma {

namespace {

// A fifth of the rows is held out at a time: five times, or less often, but twice at least, where an epoch of all parts
// would take more products than this.
constexpr Index kFolds = 5, kFewestFolds = 2;
constexpr double kFoldProducts = 5e8;
// As many rows tell the level of noise to 4 %; more than the latter tell no more.
constexpr Index kEnoughHeldOut = 400, kMostHeldOut = 4000;

// Rows that a trial learns.
Index trial_rows(Index rows) { return std::min(rows - rows / kFolds, kMostTrialRows); }

}  // namespace

double usual_trial_seconds(const RowData& data, Index scalars) {
  constexpr double kEpochs = 50, kEpochsOfAllRows = 12, kProductsASecond = 1e10;
  const Index rows = data.rows.rows(), outputs = data.targets.cols();
  return (worth_growing(rows, outputs, scalars) ? kEpochsOfAllRows : kEpochs) *
         products_of_epoch(trial_rows(rows) * outputs, scalars) / kProductsASecond;
}

double seconds_after_trials(double trial, const RowData& data, Index scalars, std::size_t members, bool judges) {
  constexpr double kTimesATrial = 1.7;  // noise that depends on inputs is learned too
  const Index rows = data.rows.rows();
  const double most = kFoldProducts / products_of_epoch((rows - rows / kFolds) * data.targets.cols(), scalars),
               folds = judges && data.count() <= kRowsPerScalar * scalars
                           ? std::clamp(most, double{kFewestFolds}, double{kFolds})
                           : 0;
  const double each = kTimesATrial * trial * static_cast<double>(rows) / static_cast<double>(trial_rows(rows));
  return each * static_cast<double>(members) * (1 + folds * (1 - 1.0 / kFolds));
}

void ExpectedEnd::after(double seconds) {
  using namespace std::chrono;
  end_ = steady_clock::now() + duration_cast<steady_clock::duration>(duration<double>(std::min(seconds, 1e7)));
}

LearnControl ExpectedEnd::told(const LearnControl& control) const {
  LearnControl own = control;
  if (own.on_stage)
    own.on_stage = [this, tell = control.on_stage](LearnStage stage) {
      const std::chrono::duration<double> left = end_ - std::chrono::steady_clock::now();
      const bool is_known = end_.time_since_epoch().count() > 0;
      stage.seconds_left = is_known ? std::max(0.0, left.count()) : -1;
      tell(stage);
    };
  return own;
}

Judged::Judged(const std::shared_ptr<const GraphFamily>& family, GraphMixtureOptions options, const GraphChoice& choice,
               const RowData& data, bool trial) {
  const Index rows = data.rows.rows();
  const std::vector<Index> order = random_order(rows, options.seed + 0x5eed);
  const std::uint64_t seed = options.seed;
  options.tails = false;
  if (trial) options.members = 1, options.noise_model = NoiseModel::constant, options.simple = false;
  const Index outputs = data.targets.cols(),
              learned = std::min(rows - rows / kFolds, trial ? kMostTrialRows : rows) * outputs;
  const double most = kFoldProducts / products_of_epoch(learned, family->model(choice).rows->scalars());
  Index count = 0;
  for (Index fold = 0; fold < kFolds && count < kEnoughHeldOut; ++fold) {
    if (fold >= kFewestFolds && static_cast<double>(fold) >= most) break;
    const Index first = fold * rows / kFolds, last = std::min((fold + 1) * rows / kFolds, first + kMostHeldOut);
    Part part{{order.begin() + first, order.begin() + last}, {order.begin() + last, order.end()}, {}};
    part.learned.insert(part.learned.end(), order.begin(), order.begin() + first);
    if (trial) part.learned.resize(std::min(part.learned.size(), static_cast<std::size_t>(kMostTrialRows)));
    for (auto* some : {&part.held, &part.learned}) std::ranges::sort(*some);
    count += last - first;
    options.seed = seed + 1000 * static_cast<std::uint64_t>(fold);
    part.mixture = std::make_shared<GraphMixture>(family, options);
    GraphChoice own = choice;
    if (own.relevance.size() > 0) own.relevance = family->relevance(data.some(part.learned));
    part.mixture->choose(std::move(own));
    parts_.push_back(std::move(part));
  }
}

bool Judged::has_learned_all(Index rows) const {
  return rows - static_cast<Index>(parts_[0].held.size()) <= kMostTrialRows;
}

void Judged::learn_as(const GraphMixtureOptions& options) {
  for (Part& part : parts_) part.mixture->set_members(options.members, options.noise_model, options.simple);
}

bool Judged::learn(const RowData& data, const LearnControl& control, const std::string& what, std::size_t first,
                   std::size_t count) {
  const SolverForm form =
      choose_form(data.rows.rows(), data.targets.cols(), parts_.at(first).mixture->model().rows->scalars());
  const std::size_t jobs = members_at_once(form, control, count);
  std::atomic<bool> stopped = false;
  std::atomic<std::size_t> learned = 0;
  parallel_for(count, jobs, [&](std::size_t task) {
    if (stopped) return;
    Part& part = parts_[first + task];
    LearnControl own{
        .jobs = std::max<std::size_t>(1, control.jobs / jobs), .team = control.team, .keep_going = control.keep_going};
    const auto on_epoch = [&](const GraphMixture::Progress&) { return !control.keep_going || control.keep_going(); };
    if (part.mixture->fit(data.some(part.learned), own, on_epoch).interrupted) stopped = true;
    if (control.on_stage)
      control.on_stage({what + ", rows held out", static_cast<double>(++learned) / static_cast<double>(count)});
  });
  return !stopped;
}

Matrix Judged::scores(const RowData& data, std::size_t count, bool tails) const {
  std::vector<Index> rows;
  RowBeliefs found = no_beliefs(data.rows.rows(), data.targets.cols());
  for (std::size_t p = 0; p < count; ++p) {
    const Part& part = parts_[p];
    put(part.mixture->beliefs(data.rows(part.held, Eigen::all))[0], part.held, found);
    rows.insert(rows.end(), part.held.begin(), part.held.end());
  }
  const RowData held = data.some(rows);
  SharedPosterior posterior;
  if (tails) posterior.tails = tails_of(held, found.some(rows));
  Matrix scores = Matrix::Ones(held.targets.rows(), 2);
  scores.col(0) = Prediction::mix({component(found.some(rows), posterior, {}, held.likelihoods)})
                      .log_density(held.targets)
                      .rowwise()
                      .sum();
  if (held.weights.size() > 0) scores.col(1) = held.weights;
  return scores;
}

std::vector<SharedState> Judged::starts(const SharedModel& model, Index rows) const {
  std::vector<SharedState> all;
  if (parts_.empty() || parts_[0].mixture->model().columns != model.columns) return all;
  const auto learned = static_cast<Index>(parts_[0].learned.size());
  for (const GraphMixture::Member& member : parts_[0].mixture->memory().members) {
    SharedState& start = all.emplace_back(member.plain);
    start.epoch = 0, start.subset = learned < rows - static_cast<Index>(parts_[0].held.size()) ? learned : 0;
    start.begin_stage();
  }
  return all;
}

HeldOut Judged::beliefs(const RowData& data, std::size_t members) const {
  HeldOut found;
  if (parts_.empty()) return found;
  const RowBeliefs nothing = no_beliefs(data.rows.rows(), data.targets.cols());
  found.plain.assign(members, nothing), found.weighted.assign(members, nothing);
  found.simple = nothing;
  for (const Part& part : parts_) {
    const Matrix rows = data.rows(part.held, Eigen::all);
    const std::vector<RowBeliefs> own = part.mixture->beliefs(rows);
    for (std::size_t k = 0; k < members; ++k) {
      put(own[2 * k], part.held, found.plain[k]);
      put(own[2 * k + (own[2 * k + 1].mean.size() > 0 ? 1 : 0)], part.held, found.weighted[k]);
    }
    if (part.mixture->memory().simple) put(part.mixture->beliefs_of_simple(rows), part.held, found.simple);
    found.rows.insert(found.rows.end(), part.held.begin(), part.held.end());
  }
  std::ranges::sort(found.rows);
  return found;
}

}  // namespace dma
