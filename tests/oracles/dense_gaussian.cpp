#include "tests/oracles/dense_gaussian.h"

#include <Eigen/Dense>
#include <stdexcept>
#include <utility>

namespace dma::oracle {

namespace {

using Row = std::vector<std::pair<std::uint32_t, double>>;  // variable, coefficient

double parameter(const Graph::Factor& factor, std::string_view name, double fallback) {
  for (const auto& [given, value] : factor.parameters)
    if (given == name) return value.numbers.at(0);
  return fallback;
}

struct System {
  explicit System(std::size_t n)
      : k(Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(n), static_cast<Eigen::Index>(n))),
        h(Eigen::VectorXd::Zero(static_cast<Eigen::Index>(n))) {}

  // precision / 2 (row . x - target)^2
  void add_square(const Row& row, double target, double precision) {
    for (const auto& [i, a] : row) {
      h(i) += precision * a * target;
      for (const auto& [j, b] : row) k(i, j) += precision * a * b;
    }
  }
  void add_constraint(Row row, double target) { constraints.emplace_back(std::move(row), target); }

  Eigen::MatrixXd k;
  Eigen::VectorXd h;
  std::vector<std::pair<Row, double>> constraints;
};

void add_sum(const Graph::Factor& factor, System& system) {
  const std::size_t terms = factor.connections.size() - 1;
  std::vector<double> coefficients(terms, 1.0);
  for (const auto& [given, value] : factor.parameters)
    if (given == "coefficients") coefficients.assign(value.numbers.begin(), value.numbers.end());
  Row row{{factor.connections[terms].variable.value, -1.0}};
  for (std::size_t t = 0; t < terms; ++t) row.emplace_back(factor.connections[t].variable.value, coefficients[t]);
  system.add_constraint(std::move(row), 0);
}

void add_factor(const Graph::Factor& factor, const std::map<std::uint32_t, double>& observed, System& system) {
  const auto at = [&](std::size_t port) { return factor.connections[port].variable.value; };
  if (factor.kind == "gaussian_prior") {
    system.add_square({{at(0), 1.0}}, parameter(factor, "mean", 0), 1 / parameter(factor, "variance", 1));
  } else if (factor.kind == "gaussian_noise") {
    system.add_square({{at(0), 1.0}, {at(1), -1.0}}, 0, 1 / parameter(factor, "variance", 1));
  } else if (factor.kind == "sum") {
    add_sum(factor, system);
  } else if (factor.kind == "copy") {
    for (std::size_t p = 1; p < factor.connections.size(); ++p) system.add_constraint({{at(0), 1.0}, {at(p), -1.0}}, 0);
  } else if (factor.kind == "product") {
    const std::size_t known = observed.contains(at(0)) ? 0 : 1;
    system.add_constraint({{at(1 - known), observed.at(at(known))}, {at(2), -1.0}}, 0);
  } else {
    throw std::logic_error("dense_posterior knows no kind " + std::string(factor.kind));
  }
}

}  // namespace

DensePosterior dense_posterior(const Graph& graph, const std::map<std::uint32_t, double>& observed) {
  const auto n = static_cast<Eigen::Index>(graph.variables().size());
  System system(graph.variables().size());
  for (const auto& factor : graph.factors()) add_factor(factor, observed, system);
  for (const auto& [variable, value] : observed) system.add_constraint({{variable, 1.0}}, value);
  const auto m = static_cast<Eigen::Index>(system.constraints.size());
  Eigen::MatrixXd whole = Eigen::MatrixXd::Zero(n + m, n + m);
  Eigen::VectorXd right = Eigen::VectorXd::Zero(n + m);
  whole.topLeftCorner(n, n) = system.k;
  right.head(n) = system.h;
  for (Eigen::Index c = 0; c < m; ++c) {
    const auto& [row, target] = system.constraints[static_cast<std::size_t>(c)];
    for (const auto& [i, a] : row) whole(n + c, i) += a, whole(i, n + c) += a;
    right(n + c) = target;
  }
  const Eigen::PartialPivLU<Eigen::MatrixXd> solver(whole);
  const Eigen::VectorXd x = solver.solve(right);
  const Eigen::MatrixXd inverse = solver.inverse();
  DensePosterior posterior;
  for (Eigen::Index i = 0; i < n; ++i) {
    posterior.mean.push_back(x(i));
    posterior.variance.push_back(inverse(i, i));
  }
  return posterior;
}

}  // namespace dma::oracle
