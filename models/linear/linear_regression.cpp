#include "models/linear/linear_models.h"

#include <cmath>
#include <vector>

#include "engine/joint/joint.h"
#include "engine/support/dense.h"
#include "engine/support/maximise.h"
#include "engine/support/text.h"
#include "factors/standard_registry.h"
#include "models/series/weighted_points.h"
#include "models/table/standardiser.h"

namespace dma {

namespace {

constexpr double kWideIntercept = 1e4;                         // prior variance of the intercept, in variances of y
constexpr double kLeastVariance = 1e-12, kMostVariance = 1e6;  // range of an inferred variance, in the same units

// Inputs and output with mean 0 and standard deviation 1, and a last column of ones for the intercept.
struct StandardisedTable {
  Standardiser of_x, of_y;
  Eigen::MatrixXd x;
  Eigen::VectorXd y;

  StandardisedTable(const Eigen::MatrixXd& given_x, const Eigen::VectorXd& given_y)
      : of_x(Standardiser::of(given_x)),
        of_y(Standardiser::of(given_y)),
        x(given_x.rows(), given_x.cols() + 1),
        y(of_y.apply(given_y)) {
    x << of_x.apply(given_x), Eigen::VectorXd::Ones(given_x.rows());
  }

  double y_scale() const { return of_y.scale[0]; }
  // Maps weights and intercept of the standardised table to those of the given one; of_y.shift is added to the
  // intercept.
  Eigen::MatrixXd map() const {
    const Eigen::Index last = of_x.scale.size();
    Eigen::MatrixXd map = Eigen::MatrixXd::Zero(last + 1, last + 1);
    map.diagonal() << of_x.scale.cwiseInverse().transpose(), 1;
    map.row(last).head(last) = -of_x.shift.cwiseQuotient(of_x.scale);
    return y_scale() * map;
  }
};

class RegressionGraph {
 public:
  enum Unknown { kNoise, kPrior, kUnknowns };

  explicit RegressionGraph(const StandardisedTable& table)
      : y_(table.y), variances_(static_cast<std::size_t>(table.x.cols()), 1.0) {
    variances_.back() = kWideIntercept;
    const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> rows = table.x;
    prior_ = graph_.factor("gaussian_prior", {weights_ = graph_.variable("weights", variances_.size())},
                           {{"mean", 0.0}, {"variance", variances_}});
    line_ = graph_.variable("line", static_cast<std::size_t>(y_.size()));
    graph_.factor("linear", {column(weights_), line_},
                  {{"A", std::vector<double>(rows.data(), rows.data() + rows.size())}});
    const VariableId seen = graph_.observed("y", static_cast<std::size_t>(y_.size()));
    noise_ = graph_.factor("gaussian_noise", {line_, seen}, {{"variance", 1.0}});
    state_.emplace(compile(graph_, joint(), standard_registry()));
    state_->observe(seen, std::span(y_.data(), static_cast<std::size_t>(y_.size())));
  }

  // The log evidence, and its derivatives by the logarithms of the two variances.
  double solve(const Eigen::VectorXd& logs, Eigen::VectorXd& slopes) {
    const double noise = std::exp(logs[kNoise]), prior = std::exp(logs[kPrior]);
    std::fill(variances_.begin(), variances_.end() - 1, prior);
    state_->set_parameter(prior_, "variance", variances_);
    state_->set_parameter(noise_, "variance", noise);
    const Report report = run(state_->plan(), *state_);
    if (!report.converged()) fail("linear regression: {}", report.line());
    const Belief line = state_->belief(line_), weights = state_->belief(weights_);
    slopes.setZero(kUnknowns);
    for (std::size_t i = 0; i < line.size(); ++i) {
      const double rest = y_[static_cast<Eigen::Index>(i)] - line.mean(i);
      slopes[kNoise] += 0.5 * ((rest * rest + line.variance(i)) / noise - 1);
    }
    for (std::size_t j = 0; j + 1 < weights.size(); ++j)
      slopes[kPrior] += 0.5 * ((weights.mean(j) * weights.mean(j) + weights.variance(j)) / prior - 1);
    return JointPosterior(*state_).log_evidence();
  }
  Eigen::VectorXd mean() const { return JointPosterior(*state_).mean(weights_); }
  Eigen::MatrixXd covariance() const { return JointPosterior(*state_).covariance(weights_, weights_); }

 private:
  Eigen::VectorXd y_;
  std::vector<double> variances_;  // prior variances of the weights
  Graph graph_;
  VariableId weights_{}, line_{};
  FactorId prior_{}, noise_{};
  std::optional<State> state_;
};

void check_table(const Eigen::MatrixXd& x, const Eigen::VectorXd& y, const LinearRegressionOptions& options) {
  if (x.rows() != y.size())
    fail("linear regression: x has {} rows and y {}; one for each observation is expected in both", x.rows(), y.size());
  if (x.rows() < 3) fail("linear regression: there are {} rows; at least 3 are expected", x.rows());
  if (!x.allFinite() || !y.allFinite())
    fail("linear regression: a number of {} is not finite", x.allFinite() ? "y" : "x");
  for (const auto& [name, variance] :
       {std::pair{"noise", options.noise_variance}, std::pair{"prior", options.prior_variance}})
    if (variance && !(*variance > 0 && std::isfinite(*variance)))
      fail("linear regression: the {} variance is {}; a finite number above 0 is expected, or none to have it inferred",
           name, *variance);
}

}  // namespace

LinearFit linear_regression(const Eigen::MatrixXd& x, const Eigen::VectorXd& y,
                            const LinearRegressionOptions& options) {
  check_table(x, y, options);
  const StandardisedTable table(x, y);
  const double y_variance = table.y_scale() * table.y_scale();
  RegressionGraph graph(table);
  // Given variances are fixed; the search is over the others.
  Eigen::VectorXd logs = Eigen::VectorXd::Constant(RegressionGraph::kUnknowns, std::log(0.5)), slopes;
  std::vector<Eigen::Index> open;
  if (options.noise_variance)
    logs[RegressionGraph::kNoise] = std::log(*options.noise_variance / y_variance);
  else
    open.push_back(RegressionGraph::kNoise);
  if (options.prior_variance)
    logs[RegressionGraph::kPrior] = std::log(*options.prior_variance);
  else
    open.push_back(RegressionGraph::kPrior);
  const auto evidence = [&](const Eigen::VectorXd& at, Eigen::VectorXd& by) {
    logs(open) = at;
    const double found = graph.solve(logs, slopes);
    by = slopes(open);
    return found;
  };
  const double low = std::log(kLeastVariance), high = std::log(kMostVariance);
  const Maximum best = maximise(evidence, logs(open), {.low = low, .high = high, .tolerance = 1e-6});
  // The prior is uniform over standard deviations.
  const auto posterior = [&](const Eigen::VectorXd& at, Eigen::VectorXd& by) {
    const double found = evidence(at, by) + 0.5 * at.sum();
    by.array() += 0.5;
    return found;
  };
  const std::vector<Maximum> found =
      summits(posterior, std::span(&best.at, 1), {.low = low, .high = high, .tolerance = 1e-4});
  const std::vector<WeightedPoint> may_be = weighted_points(posterior, found, {.low = low, .high = high}).points;
  LinearFit fit;
  fit.log_evidence = best.value - static_cast<double>(y.size()) * std::log(table.y_scale());
  fit.converged = best.converged;
  fit.weights = Eigen::VectorXd::Zero(table.x.cols());
  fit.covariance = Eigen::MatrixXd::Zero(table.x.cols(), table.x.cols());
  double weight = 0;
  for (const WeightedPoint& point : may_be) {
    Eigen::VectorXd by(point.at.size());
    (void)evidence(point.at, by);
    const double fraction = point.weight / (weight += point.weight);
    const Eigen::VectorXd apart = graph.mean() - fit.weights;
    fit.weights += fraction * apart;
    fit.covariance += fraction * (graph.covariance() - fit.covariance + (1 - fraction) * apart * apart.transpose());
    fit.noise_variance += fraction * (std::exp(logs[RegressionGraph::kNoise]) * y_variance - fit.noise_variance);
    fit.prior_variance += fraction * (std::exp(logs[RegressionGraph::kPrior]) - fit.prior_variance);
  }
  const Eigen::MatrixXd map = table.map();
  fit.weights = map * fit.weights;
  fit.weights[fit.weights.size() - 1] += table.of_y.shift[0];
  fit.covariance = product_by_transposed(product_of(map, fit.covariance), map);
  return fit;
}

LinearFit::Prediction LinearFit::predict(const Eigen::MatrixXd& x) const {
  if (x.cols() + 1 != weights.size())
    fail("linear regression: a row of {} numbers is given; {} are expected, as in the table it was fitted to", x.cols(),
         weights.size() - 1);
  Eigen::MatrixXd rows = Eigen::MatrixXd::Ones(x.rows(), weights.size());
  rows.leftCols(x.cols()) = x;
  const Eigen::VectorXd variance = (rows * covariance).cwiseProduct(rows).rowwise().sum().cwiseMax(0.0);
  return {rows * weights, (variance.array() + noise_variance).sqrt(), variance.cwiseSqrt()};
}

}  // namespace dma
