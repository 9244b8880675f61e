#include "factors/from_function.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <array>
#include <cmath>

namespace dma {

namespace {

// Nodes and weights of the n-point rule for N(0, 1) (Golub and Welsch: eigenvalues of the Jacobi matrix of the Hermite
// polynomials, whose off-diagonal entries are sqrt(k)).
struct Rule {
  Eigen::VectorXd nodes, weights;
  explicit Rule(int n) {
    Eigen::VectorXd diagonal = Eigen::VectorXd::Zero(n), off(n - 1);
    for (int k = 1; k < n; ++k) off(k - 1) = std::sqrt(static_cast<double>(k));
    Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver;
    solver.computeFromTridiagonal(diagonal, off);
    nodes = solver.eigenvalues();
    weights = solver.eigenvectors().row(0).cwiseAbs2();
  }
};

// Fewer points per dimension where there are more dimensions: at most 2,000 evaluations a message.
const Rule& rule_for(std::size_t inputs) {
  static const Rule one(64), two(24), three(12);
  return inputs == 1 ? one : inputs == 2 ? two : three;
}

template <std::size_t k>
using Inputs = std::array<Gaussian, k>;
template <std::size_t k>
using Function = std::function<double(const std::array<double, k>&)>;

template <std::size_t k>
struct LinearFit {
  double mean = 0, variance = 0;
  std::array<double, k> gradient{};
};

// Calls visit(point, weight, standard coordinates) on the product grid.
template <std::size_t k, class Visit>
void for_each_node(const Inputs<k>& x, const Visit& visit) {
  const Rule& rule = rule_for(k);
  std::array<Eigen::Index, k> index{};
  for (;;) {
    std::array<double, k> point, standard;
    double weight = 1;
    for (std::size_t i = 0; i < k; ++i) {
      standard[i] = rule.nodes(index[i]);
      weight *= rule.weights(index[i]);
      point[i] = x[i].mean() + (x[i].is_point() ? 0.0 : x[i].sd()) * standard[i];
    }
    visit(point, weight, standard);
    std::size_t i = 0;
    while (i < k && ++index[i] == rule.nodes.size()) index[i++] = 0;
    if (i == k) return;
  }
}

template <std::size_t k>
LinearFit<k> linear_fit(const Function<k>& g, const Inputs<k>& x) {
  LinearFit<k> fit;
  for_each_node<k>(x, [&](const auto& point, double weight, const auto&) { fit.mean += weight * g(point); });
  for_each_node<k>(x, [&](const auto& point, double weight, const auto& standard) {
    const double off = g(point) - fit.mean;
    fit.variance += weight * off * off;
    for (std::size_t i = 0; i < k; ++i) fit.gradient[i] += weight * standard[i] * off;
  });
  for (std::size_t i = 0; i < k; ++i) {
    if (!x[i].is_point()) {
      fit.gradient[i] *= std::sqrt(x[i].rho);
      continue;
    }
    // At a point mass the fit's gradient is the derivative of E[g].
    constexpr double kStep = 1e-5;  // balances rounding against the cubic term
    const double h = kStep * (1 + std::abs(x[i].tau));
    const auto mean_at = [&](double at) {
      Inputs<k> moved = x;
      moved[i] = Gaussian::point(at);
      double mean = 0;
      for_each_node<k>(moved, [&](const auto& point, double weight, const auto&) { mean += weight * g(point); });
      return mean;
    };
    fit.gradient[i] = (mean_at(x[i].tau + h) - mean_at(x[i].tau - h)) / (2 * h);
  }
  return fit;
}

template <std::size_t k>
bool any_uniform(const Inputs<k>& x) {
  return std::ranges::any_of(x, [](const Gaussian& g) { return g.is_uniform(); });
}

template <std::size_t k>
Gaussian to_output(const Function<k>& g, const Inputs<k>& x) {
  if (any_uniform<k>(x)) return Gaussian::uniform();
  const LinearFit<k> fit = linear_fit<k>(g, x);
  return Gaussian::from_moments(fit.mean, fit.variance);
}

template <std::size_t k>
Gaussian to_input(const Function<k>& g, std::size_t i, const Inputs<k>& x, const Gaussian& y) {
  if (y.is_uniform() || any_uniform<k>(x)) return Gaussian::uniform();
  const LinearFit<k> fit = linear_fit<k>(g, x);
  const double a = fit.gradient[i], own = x[i].is_point() ? 0.0 : a * a * x[i].variance();
  if (a == 0) return Gaussian::uniform();
  // Var[g] >= A^2 v by the Cauchy-Schwarz inequality, on the nodes too; rounding may break it by an ulp.
  const double noise = y.variance() + std::max(0.0, fit.variance - own);
  return Gaussian::from_moments(x[i].mean() + (y.mean() - fit.mean) / a, noise / (a * a));
}

}  // namespace

Kind factor_from_function(std::string name, std::function<double(double)> g, std::string summary) {
  const Function<1> f = [g](const std::array<double, 1>& x) { return g(x[0]); };
  Kind kind(std::move(name), std::move(summary));
  kind.input("x").output("y").function([g](auto v, auto) { return g(v[0]); });
  kind.message(kLinearisedMethod, "y", [f](const Gaussian& x) { return to_output<1>(f, {x}); });
  kind.message(kLinearisedMethod, "x", [f](const Gaussian& x, const Gaussian& y) { return to_input<1>(f, 0, {x}, y); },
               from("x", "y"));
  return kind;
}

Kind factor_from_function(std::string name, std::function<double(double, double)> g, std::string summary) {
  const Function<2> f = [g](const std::array<double, 2>& x) { return g(x[0], x[1]); };
  Kind kind(std::move(name), std::move(summary));
  kind.input("x1").input("x2").output("y").function([g](auto v, auto) { return g(v[0], v[1]); });
  kind.message(kLinearisedMethod, "y",
               [f](const Gaussian& a, const Gaussian& b) { return to_output<2>(f, {a, b}); });
  for (const std::size_t i : {0u, 1u})
    kind.message(
        kLinearisedMethod, i == 0 ? "x1" : "x2",
        [f, i](const Gaussian& a, const Gaussian& b, const Gaussian& y) { return to_input<2>(f, i, {a, b}, y); },
        from("x1", "x2", "y"));
  return kind;
}

Kind factor_from_function(std::string name, std::function<double(double, double, double)> g, std::string summary) {
  const Function<3> f = [g](const std::array<double, 3>& x) { return g(x[0], x[1], x[2]); };
  Kind kind(std::move(name), std::move(summary));
  kind.input("x1").input("x2").input("x3").output("y").function([g](auto v, auto) { return g(v[0], v[1], v[2]); });
  kind.message(kLinearisedMethod, "y", [f](const Gaussian& a, const Gaussian& b, const Gaussian& c) {
    return to_output<3>(f, {a, b, c});
  });
  for (const std::size_t i : {0u, 1u, 2u})
    kind.message(
        kLinearisedMethod, i == 0 ? "x1" : i == 1 ? "x2" : "x3",
        [f, i](const Gaussian& a, const Gaussian& b, const Gaussian& c, const Gaussian& y) {
          return to_input<3>(f, i, {a, b, c}, y);
        },
        from("x1", "x2", "x3", "y"));
  return kind;
}

}  // namespace dma
