#include "factors/authoring/from_function.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <boost/container/static_vector.hpp>
#include <cmath>

#include "factors/authoring/belief_linearisation.h"
#include "factors/authoring/gauss_hermite.h"
#include "factors/authoring/slot_parameters.h"

namespace dma {

namespace {

// Inputs narrower than this, relative to their size, count as known: differences of g across them would be rounding.
constexpr double kKnown = 1e-7;

// Fits of g by quadrature over the unknown inputs.
class QuadratureFit {
 public:
  QuadratureFit(const Kind::Function& g, std::span<const double> parameters) : g_(g), parameters_(parameters) {}

  LinearisedFunction operator()(const InputVector& mean, const InputMatrix& covariance) const {
    boost::container::static_vector<Eigen::Index, kMostInputs> open, known;
    for (Eigen::Index i = 0; i < mean.size(); ++i)
      (std::sqrt(std::max(0.0, covariance(i, i))) > kKnown * (1 + std::abs(mean(i))) ? open : known).push_back(i);
    const auto count = static_cast<Eigen::Index>(open.size());
    InputMatrix root(count, count);
    for (Eigen::Index a = 0; a < count; ++a)
      for (Eigen::Index b = 0; b < count; ++b)
        root(a, b) = covariance(open[static_cast<std::size_t>(a)], open[static_cast<std::size_t>(b)]);
    if (count > 0) {
      constexpr double kRidge = 1e-12;  // remaining width along a direction that y determines
      root.diagonal() *= 1 + kRidge;
      const Eigen::LLT<InputMatrix> factor(root);
      root = factor.info() == Eigen::Success ? InputMatrix(factor.matrixL())
                                             : InputMatrix(root.diagonal().cwiseSqrt().asDiagonal());
    }
    const std::span<const Eigen::Index> free(open.data(), open.size());
    LinearisedFunction fit{.value = expected(mean, free, root), .noise = 0, .gains = InputVector::Zero(mean.size())};
    if (count > 0) {
      InputVector slopes = InputVector::Zero(count);  // by standard coordinate
      double variance = 0;
      visit(mean, free, root, [&](double value, double weight, const double* z) {
        const double off = value - fit.value;
        variance += weight * off * off;
        for (Eigen::Index a = 0; a < count; ++a) slopes(a) += weight * z[a] * off;
      });
      // Var[g] >= |slopes|^2 by Bessel's inequality, also on the nodes; rounding may violate it by an ulp.
      fit.noise = std::max(0.0, variance - slopes.squaredNorm());
      root.template triangularView<Eigen::Lower>().transpose().solveInPlace(slopes);
      for (Eigen::Index a = 0; a < count; ++a) fit.gains(open[static_cast<std::size_t>(a)]) = slopes(a);
    }
    for (const Eigen::Index i : known) {
      constexpr double kStep = 1e-5;  // balances rounding against the cubic term
      const double h = kStep * (1 + std::abs(mean(i)));
      InputVector above = mean, below = mean;
      above(i) += h;
      below(i) -= h;
      fit.gains(i) = (expected(above, free, root) - expected(below, free, root)) / (above(i) - below(i));
    }
    return fit;
  }

 private:
  // Calls use(g, weight, standard coordinates) on the nodes.
  template <class Use>
  void visit(const InputVector& mean, std::span<const Eigen::Index> free, const InputMatrix& root,
             const Use& use) const {
    InputVector x = mean;
    const auto value = [&] { return g_({x.data(), static_cast<std::size_t>(x.size())}, parameters_); };
    if (free.empty()) return use(value(), 1.0, nullptr);
    for_each_node<kMostInputs>(GaussHermite::fine(free.size()), free.size(), [&](const double* z, double weight) {
      for (std::size_t a = 0; a < free.size(); ++a) {
        x(free[a]) = mean(free[a]);
        for (std::size_t b = 0; b <= a; ++b)
          x(free[a]) += root(static_cast<Eigen::Index>(a), static_cast<Eigen::Index>(b)) * z[b];
      }
      use(value(), weight, z);
    });
  }
  double expected(const InputVector& mean, std::span<const Eigen::Index> free, const InputMatrix& root) const {
    double sum = 0;
    visit(mean, free, root, [&](double value, double weight, const double*) { sum += weight * value; });
    return sum;
  }

  const Kind::Function& g_;
  std::span<const double> parameters_;
};

struct FunctionMessage {
  std::shared_ptr<const Kind::Function> g;
  std::size_t parameter_count;

  // To the output from the inputs; to input i from all inputs and y, which comes last.
  template <std::size_t n>
  Gaussian to_output(const std::array<Gaussian, n>& x, const SlotParameters& p) const {
    const ParameterNumbers numbers(p, parameter_count);
    return fitted_to_output(QuadratureFit(*g, numbers.span()), x);
  }
  template <std::size_t n>
  Gaussian to_input(std::size_t i, const std::array<Gaussian, n>& all, const SlotParameters& p) const {
    const ParameterNumbers numbers(p, parameter_count);
    return fitted_to_input(QuadratureFit(*g, numbers.span()), i, std::span(all).first(n - 1), all[n - 1]);
  }
};

template <std::size_t... i>
void add_messages(Kind& kind, const FunctionMessage& message, std::index_sequence<i...>) {
  constexpr std::size_t kInputs = sizeof...(i);
  kind.message(kLinearisedMethod, "y", [message](const GaussianAt<i>&... x, SlotParameters p) {
    return message.to_output(std::array<Gaussian, kInputs>{x...}, p);
  });
  for (std::size_t target = 0; target < kInputs; ++target)
    kind.message(
        kLinearisedMethod, kind.ports()[target].name,
        [message, target](const GaussianAt<i>&... x, const Gaussian& y, SlotParameters p) {
          return message.to_input(target, std::array<Gaussian, kInputs + 1>{x..., y}, p);
        },
        from(kind.ports()[i].name..., "y"));
}

}  // namespace

Kind factor_from_function(std::string name, const std::vector<std::string>& inputs, Kind::Function g,
                          std::string summary, std::vector<ParameterSpec> parameters) {
  if (inputs.empty() || inputs.size() > kMostInputs)
    fail("kind '{}': a function of {} inputs; one to {} are expected", name, inputs.size(), kMostInputs);
  Kind kind(std::move(name), std::move(summary));
  for (const std::string& input : inputs) kind.input(input);
  kind.output("y").function(g);
  add_parameters(kind, parameters);
  const FunctionMessage message{std::make_shared<const Kind::Function>(std::move(g)), parameters.size()};
  switch (inputs.size()) {
    case 1:
      add_messages(kind, message, std::make_index_sequence<1>());
      break;
    case 2:
      add_messages(kind, message, std::make_index_sequence<2>());
      break;
    default:
      add_messages(kind, message, std::make_index_sequence<3>());
  }
  return kind;
}

ParameterSpec array_parameter(std::string name) {
  return {std::move(name), finite(), {}, false,
          [](std::span<const double> given, const PortComponents&) { return std::vector(given.begin(), given.end()); }};
}

void detail::refuse_outputs(const std::string& name, std::size_t found, std::size_t expected) {
  fail("kind '{}': its function returned {} numbers, but it has {} outputs; return one for each of them", name, found,
       expected);
}

Kind detail::vector_kind(std::string name, Kind::VectorSize size, VectorFunction g, LinearView view,
                         std::string summary, const std::vector<ParameterSpec>& parameters) {
  if (size.inputs == 0 || size.outputs == 0)
    fail("kind '{}': a function of {} inputs and {} outputs; at least one of each is expected", name, size.inputs,
         size.outputs);
  Kind kind(std::move(name), std::move(summary));
  kind.variadic_input("x");
  constexpr std::size_t kNamed = 7;
  if (size.outputs > kNamed)
    kind.variadic_output("y");
  else
    for (std::size_t o = 1; o <= size.outputs; ++o) kind.output(size.outputs == 1 ? "y" : "y" + std::to_string(o));
  add_parameters(kind, parameters);
  kind.vector_function(std::move(g), size, std::move(view));
  return kind;
}

}  // namespace dma
