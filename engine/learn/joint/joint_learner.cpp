#include "engine/learn/joint/joint_learner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/learn/joint/posterior.h"
#include "engine/support/error.h"

namespace dma {

namespace {

constexpr double kMostBytes = 4e9;

// The columns of `variables` as a matrix, one example a row.
Matrix gather_rows(const Graph& graph, const std::vector<VariableId>& variables, const Data& data,
                   std::string_view what) {
  Index rows = -1, columns = 0;
  for (const VariableId v : variables) columns += static_cast<Index>(graph[v].size);
  Matrix all;
  Index column = 0;
  for (const VariableId v : variables) {
    const auto found = std::ranges::find(data, v, &Observations::variable);
    if (found == data.end()) fail("{}: no values of variable '{}' are given", what, graph[v].name);
    if (std::ranges::any_of(found->is_missing, [](std::uint8_t mark) { return mark != 0; }))
      fail("{}: values of variable '{}' are missing; the joint learner needs all of them, Learner does not", what,
           graph[v].name);
    const auto size = static_cast<Index>(graph[v].size), count = static_cast<Index>(found->values.size());
    if (count % size != 0 || (rows >= 0 && count / size != rows))
      fail("{}: variable '{}' has {} values; {} for each example are expected", what, graph[v].name, count, size);
    if (rows < 0) rows = count / size, all.resize(rows, columns);
    using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    all.middleCols(column, size) = Eigen::Map<const RowMajor>(found->values.data(), rows, size);
    column += size;
  }
  if (!all.allFinite()) fail("{}: the data hold a value that is not a finite number", what);
  return all;
}

}  // namespace

struct JointLearner::Parts {
  Graph graph;
  std::vector<VariableId> targets;
  RowProgram model;
  SharedFitOptions options;
  RowData data;
  SharedState state;
  SharedPosterior posterior;
};

JointLearner::JointLearner(const Graph& graph, const Registry& registry, std::vector<VariableId> targets,
                           SharedFitOptions options)
    : parts_(new Parts{graph, targets, RowProgram(graph, registry, targets), std::move(options), {}, {}, {}}) {
  const auto p = static_cast<double>(parts_->model.scalars());
  if (3 * 8 * p * p > kMostBytes)
    fail(
        "joint learning: {} shared scalars would take {:.1f} GB, more than {:.1f} GB; message sweeps (Learner) can "
        "learn them",
        parts_->model.scalars(), 24 * p * p / 1e9, kMostBytes / 1e9);
  parts_->state.mean = parts_->model.prior().mean;
  for (const double variance : parts_->model.noise()) parts_->state.noise.push_back(LogLinearNoise::constant(variance));
}
JointLearner::~JointLearner() = default;
JointLearner::JointLearner(JointLearner&&) noexcept = default;

JointLearnReport JointLearner::fit(const Data& data) {
  Parts& p = *parts_;
  const Matrix rows = gather_rows(p.graph, p.model.inputs(), data, "fit"),
               targets = gather_rows(p.graph, p.targets, data, "fit");
  if (rows.cols() > 0 && rows.rows() != targets.rows())
    fail("fit: {} examples of inputs but {} of targets", rows.rows(), targets.rows());
  const Index before = p.data.targets.rows();
  p.data.rows.conservativeResize(before + targets.rows(), p.model.input_size());
  p.data.targets.conservativeResize(before + targets.rows(), targets.cols());
  if (rows.cols() > 0) p.data.rows.bottomRows(targets.rows()) = rows;
  p.data.targets.bottomRows(targets.rows()) = targets;
  return learn();
}

JointLearnReport JointLearner::forget(std::span<const std::size_t> rows) {
  Parts& p = *parts_;
  std::vector<bool> gone(this->rows(), false);
  for (const std::size_t row : rows) {
    if (row >= gone.size()) fail("forget: row {} is given, but there are only {}", row, gone.size());
    gone[row] = true;
  }
  std::vector<Index> kept;
  for (std::size_t i = 0; i < gone.size(); ++i)
    if (!gone[i]) kept.push_back(static_cast<Index>(i));
  p.data = {p.data.rows(kept, Eigen::all).eval(), p.data.targets(kept, Eigen::all).eval()};
  return learn();
}

JointLearnReport JointLearner::learn() {
  Parts& p = *parts_;
  const auto curvature = make_primal();
  curvature->use_threads(p.options.jobs, p.options.team);
  SharedFitOptions options = p.options;
  options.epochs += p.state.epoch;
  p.state.begin_stage();
  const int before = p.state.epoch;
  const double evidence = fit_shared(p.model, p.data, p.model.prior(), options, p.state, *curvature);
  p.posterior = SharedPosterior::of(p.data, p.state, *curvature, evidence);
  return {p.state.epoch - before, evidence, curvature->effective_scalars()};
}

std::size_t JointLearner::rows() const { return static_cast<std::size_t>(parts_->data.targets.rows()); }
const SharedState& JointLearner::state() const { return parts_->state; }
double JointLearner::noise_variance(std::size_t output) const {
  return std::exp(parts_->state.noise.at(output).beta(0));
}

std::vector<Gaussian> JointLearner::belief(VariableId shared) const {
  const Parts& p = *parts_;
  if (!p.graph[shared].shared) fail("variable '{}' is not shared: it belongs to one example", p.graph[shared].name);
  const Index first = p.model.first_scalar(shared);
  std::vector<Gaussian> all;
  if (p.posterior.factor.size() == 0) {
    for (Index i = first; i < first + static_cast<Index>(p.graph[shared].size); ++i)
      all.push_back(Gaussian::from_moments(p.model.prior().mean(i), 1 / p.model.prior().precision(i)));
    return all;
  }
  const Vector variances = p.posterior.marginal_variances(p.model, p.model.prior());
  for (Index i = first; i < first + static_cast<Index>(p.graph[shared].size); ++i)
    all.push_back(Gaussian::from_moments(p.state.mean(i), variances(i)));
  return all;
}

void JointLearner::predict(const Data& inputs, std::span<double> means, std::span<double> variances) const {
  const Parts& p = *parts_;
  if (p.posterior.factor.size() == 0) fail("predict: nothing has been learned yet; call fit first");
  const RowBeliefs beliefs =
      p.posterior.predict(p.model, p.model.prior(), gather_rows(p.graph, p.model.inputs(), inputs, "predict"));
  const auto size = static_cast<std::size_t>(beliefs.mean.size());
  if (means.size() != size || variances.size() != size)
    fail("predict: room for {} means and {} variances is given, {} are expected", means.size(), variances.size(), size);
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Eigen::Map<RowMajor>(means.data(), beliefs.mean.rows(), beliefs.mean.cols()) = beliefs.mean;
  Eigen::Map<RowMajor>(variances.data(), beliefs.mean.rows(), beliefs.mean.cols()) = beliefs.variance + beliefs.noise;
}

std::string JointLearnReport::line() const {
  return fmt::format("{} epochs; log evidence {:.4g}; {:.1f} scalars determined by the rows", epochs, log_evidence,
                     effective_scalars);
}

}  // namespace dma
