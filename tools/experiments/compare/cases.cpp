#include "tools/experiments/compare/cases.h"

#include "engine/support/dense.h"
#include "factors/arithmetic/leaky_relu.h"

namespace dma::compare {

namespace {

double log_normal(double x, double mean, double variance) {
  return log_density(Gaussian::from_moments(mean, variance), x);
}

ParameterList normal(double mean, double variance) { return {{"mean", mean}, {"variance", variance}}; }

Case product_case() {
  Case c{.name = "product", .what = "z = w x, w ~ N(1, 1), x ~ N(2, 0.5), z = 3 +- 0.5"};
  const VariableId w = c.graph.variable("w"), x = c.graph.variable("x"), z = c.graph.variable("z"),
                   y = c.graph.observed("y");
  c.graph.factor("gaussian_prior", {w}, normal(1, 1));
  c.graph.factor("gaussian_prior", {x}, normal(2, 0.5));
  c.factor = c.graph.factor("product", {w, x, z});
  c.graph.factor("gaussian_noise", {z, y}, {{"variance", 0.25}});
  c.variable = w;
  c.port = "x";
  c.prior = Gaussian::from_moments(1, 1);
  c.observations = {{y, 3.0}};
  c.log_posterior = [](double at) { return log_normal(at, 1, 1) + log_normal(3, 2 * at, 0.5 * at * at + 0.25); };
  return c;
}

Case collapse_case() {
  Case c{.name = "collapse", .what = "z = 2 w, w ~ N(0, 1), z = 1 +- 0.5"};
  const VariableId w = c.graph.variable("w"), x = c.graph.observed("x"), z = c.graph.variable("z"),
                   y = c.graph.observed("y");
  c.graph.factor("gaussian_prior", {w}, normal(0, 1));
  c.factor = c.graph.factor("product", {w, x, z});
  c.graph.factor("gaussian_noise", {z, y}, {{"variance", 0.25}});
  c.variable = w;
  c.port = "x";
  c.prior = Gaussian::from_moments(0, 1);
  c.observations = {{x, 2.0}, {y, 1.0}};
  c.log_posterior = [](double at) { return log_normal(at, 0, 1) + log_normal(1, 2 * at, 0.25); };
  return c;
}

Case relu_case(std::string name, std::string what, double mean, double variance, double y_value, double noise) {
  constexpr double kSlope = 0.1;
  Case c{.name = std::move(name), .what = std::move(what)};
  const VariableId x = c.graph.variable("x"), a = c.graph.variable("a"), y = c.graph.observed("y");
  c.graph.factor("gaussian_prior", {x}, normal(mean, variance));
  c.factor = c.graph.factor("leaky_relu", {x, a}, {{"slope", kSlope}});
  c.graph.factor("gaussian_noise", {a, y}, {{"variance", noise}});
  c.variable = x;
  c.port = "x";
  c.prior = Gaussian::from_moments(mean, variance);
  c.observations = {{y, y_value}};
  c.log_posterior = [=](double at) {
    return log_normal(at, mean, variance) + log_normal(y_value, LeakyRelu::value(at, {kSlope}), noise);
  };
  return c;
}

// The posterior of the first of some unknowns of a linear model is Gaussian: rows sum_j c_j x_j = b +- sqrt(variance).
struct LinearRow {
  std::vector<double> c;
  double b, variance;
};
std::function<double(double)> first_unknown(const std::vector<LinearRow>& rows) {
  const auto n = static_cast<Eigen::Index>(rows[0].c.size());
  Eigen::MatrixXd information = Eigen::MatrixXd::Zero(n, n);
  Eigen::VectorXd pull = Eigen::VectorXd::Zero(n);
  for (const LinearRow& row : rows) {
    const Eigen::Map<const Eigen::VectorXd> a(row.c.data(), n);
    information += a * a.transpose() / row.variance;
    pull += a * row.b / row.variance;
  }
  factorise_lower(information);
  Eigen::VectorXd first = Eigen::VectorXd::Unit(n, 0);
  solve_by_factor(information, first);
  const double mean = first.dot(pull), variance = first[0];
  return [=](double at) { return log_normal(at, mean, variance); };
}

Case loop_case() {
  Case c{.name = "loop", .what = "y1 = w1 + w2 = 1 +- 0.5, y2 = w1 + 1.5 w2 = 2 +- 0.5, w ~ N(0, 1)"};
  const VariableId w1 = c.graph.variable("w1"), w2 = c.graph.variable("w2");
  for (const VariableId w : {w1, w2}) c.graph.factor("gaussian_prior", {w}, normal(0, 1));
  const double second[] = {1, 1.5}, values[] = {1, 2};
  for (int r = 0; r < 2; ++r) {
    const VariableId z = c.graph.variable(""), y = c.graph.observed("");
    c.factor = c.graph.factor("sum", {Connection("terms", w1), Connection("terms", w2), Connection("total", z)},
                              {{"coefficients", std::vector<double>{1, second[r]}}});
    c.graph.factor("gaussian_noise", {z, y}, {{"variance", 0.25}});
    c.observations.emplace_back(y, values[r]);
  }
  c.variable = w1;
  c.port = "terms";
  c.prior = Gaussian::from_moments(0, 1);
  c.has_loop = true;
  c.log_posterior = first_unknown({{{1, 0}, 0, 1}, {{0, 1}, 0, 1}, {{1, 1}, 1, 0.25}, {{1, 1.5}, 2, 0.25}});
  return c;
}

}  // namespace

std::vector<Case> cases() {
  std::vector<Case> all;
  all.push_back(product_case());
  all.push_back(collapse_case());
  all.push_back(relu_case("relu", "y = leaky_relu(x, 0.1), x ~ N(0, 1), y = 0.5 +- 0.5", 0, 1, 0.5, 0.25));
  all.push_back(relu_case("spread", "y = leaky_relu(x, 0.1), x ~ N(-2, 1), y = 2.5 +- 0.7", -2, 1, 2.5, 0.49));
  all.push_back(loop_case());
  return all;
}

}  // namespace dma::compare
