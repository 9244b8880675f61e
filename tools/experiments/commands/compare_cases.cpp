// The graphs, each with its exact posterior.
#include "engine/support/dense.h"
#include "factors/arithmetic/leaky_relu.h"
#include "models/graphs/expressions.h"
#include "tools/experiments/commands/compare.h"

namespace dma::compare {

namespace {

double log_normal(double x, double mean, double variance) {
  return log_density(Gaussian::from_moments(mean, variance), x);
}

// A variable with the prior N(mean, variance), whose marginal is compared.
VariableId compared(Case& c, const char* name, double mean, double variance) {
  c.prior = Gaussian::from_moments(mean, variance);
  return c.variable = gaussian_prior(c.graph, c.graph.variable(name), mean, variance);
}

// z is seen through noise: y has this value.
void see(Case& c, VariableId z, double variance, double value) {
  const VariableId y = c.graph.observed("");
  c.graph.factor("gaussian_noise", {z, y}, {{"variance", variance}});
  c.observations.emplace_back(y, value);
}

Case product_case() {
  Case c{.name = "product", .what = "z = w x, w ~ N(1, 1), x ~ N(2, 0.5), z = 3 +- 0.5", .port = "x"};
  const VariableId w = compared(c, "w", 1, 1), x = gaussian_prior(c.graph, c.graph.variable("x"), 2.0, 0.5),
                   z = c.graph.variable("z");
  c.factor = c.graph.factor("product", {w, x, z});
  see(c, z, 0.25, 3);
  c.log_posterior = [](double at) { return log_normal(at, 1, 1) + log_normal(3, 2 * at, 0.5 * at * at + 0.25); };
  return c;
}

Case collapse_case() {
  Case c{.name = "collapse", .what = "z = 2 w, w ~ N(0, 1), z = 1 +- 0.5", .port = "x"};
  const VariableId w = compared(c, "w", 0, 1), x = c.graph.observed("x"), z = c.graph.variable("z");
  c.factor = c.graph.factor("product", {w, x, z});
  c.observations.emplace_back(x, 2.0);
  see(c, z, 0.25, 1);
  c.log_posterior = [](double at) { return log_normal(at, 0, 1) + log_normal(1, 2 * at, 0.25); };
  return c;
}

Case relu_case(std::string name, std::string what, double mean, double variance, double y, double noise) {
  constexpr double kSlope = 0.1;
  Case c{.name = std::move(name), .what = std::move(what), .port = "x"};
  const VariableId x = compared(c, "x", mean, variance), a = c.graph.variable("a");
  c.factor = c.graph.factor("leaky_relu", {x, a}, {{"slope", kSlope}});
  see(c, a, noise, y);
  c.log_posterior = [=](double at) {
    return log_normal(at, mean, variance) + log_normal(y, LeakyRelu::value(at, {kSlope}), noise);
  };
  return c;
}

Case loop_case() {
  Case c{.name = "loop",
         .what = "y1 = w1 + w2 = 1 +- 0.5, y2 = w1 + 1.5 w2 = 2 +- 0.5, w ~ N(0, 1)",
         .port = "terms",
         .has_loop = true};
  const VariableId w1 = compared(c, "w1", 0, 1), w2 = gaussian_prior(c.graph, c.graph.variable("w2"), 0.0, 1.0);
  Eigen::MatrixXd information = Eigen::MatrixXd::Identity(2, 2);
  Eigen::VectorXd pull = Eigen::VectorXd::Zero(2), first = Eigen::VectorXd::Unit(2, 0);
  for (const auto& [coefficient, value] : {std::pair(1.0, 1.0), std::pair(1.5, 2.0)}) {
    const VariableId z = c.graph.variable("");
    c.factor = c.graph.factor("sum", {Connection("terms", w1), Connection("terms", w2), Connection("total", z)},
                              {{"coefficients", std::vector<double>{1, coefficient}}});
    see(c, z, 0.25, value);
    const Eigen::Vector2d row(1, coefficient);
    information += row * row.transpose() / 0.25;
    pull += row * value / 0.25;
  }
  factorise_lower(information);
  solve_by_factor(information, first);
  c.log_posterior = [mean = first.dot(pull), variance = first[0]](double at) { return log_normal(at, mean, variance); };
  return c;
}

}  // namespace

std::vector<Case> cases() {
  return {product_case(), collapse_case(),
          relu_case("relu", "y = leaky_relu(x, 0.1), x ~ N(0, 1), y = 0.5 +- 0.5", 0, 1, 0.5, 0.25),
          relu_case("spread", "y = leaky_relu(x, 0.1), x ~ N(-2, 1), y = 2.5 +- 0.7", -2, 1, 2.5, 0.49), loop_case()};
}

}  // namespace dma::compare
