#include "tools/experiments/commands/compare.h"

#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/uniform_01.hpp>
#include <chrono>
#include <cmath>

#include "engine/certify/curve.h"
#include "engine/compile/compile.h"
#include "engine/joint/joint.h"
#include "engine/kinds/evaluate.h"
#include "engine/run/run.h"
#include "schedules/schedules.h"

namespace dma::compare {

namespace {

Curve exact_curve(const Case& c) {
  return trace([&](double x) { return std::exp(c.log_posterior(x)); }, {{c.prior.mean(), c.prior.sd()}});
}

Plan compiled(const Case& c, const std::string& method, const Registry& registry) {
  if (method == "joint") return compile(c.graph, joint(), registry);
  const CompileOptions options{.method = method == "adf" ? "dma" : method};
  return method == "adf" ? compile(c.graph, forward(), registry, options)
                         : compile(c.graph, sequential({.limit = 200}), registry, options);
}

}  // namespace

std::vector<std::string> methods() { return {"adf", "dma", "linearised", "ep", "hybrid", "vmp"}; }

Gaussian exact_marginal(const Case& c) {
  const Curve exact = exact_curve(c);
  return Gaussian::from_moments(exact.mean(), exact.variance());
}

Measurement measure(const Case& c, const std::string& method, const Registry& registry) {
  const Plan plan = compiled(c, method, registry);
  State state(plan);
  for (const auto& [variable, value] : c.observations) state.observe(variable, value);
  Measurement m;
  const auto start = std::chrono::steady_clock::now();
  constexpr int kRepetitions = 100;
  Report report;
  for (int i = 0; i < kRepetitions; ++i) report = run(plan, state, {.diagnose = false});
  m.microseconds =
      std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count() / kRepetitions;
  m.refused = report.faults;
  m.replaced = report.replaced;
  m.sweeps = report.joint ? report.joint->iterations : report.sweeps;
  if (!report.joint) m.message = state.messages(c.factor, c.port)[0];
  m.marginal = state.belief(c.variable)[0];
  m.kl = m.marginal.is_point() ? kInfinity : exact_curve(c).kl(m.marginal);
  return m;
}

Habits habits_of(const std::string& method, const Registry& registry) {
  Habits h;
  if (method == "adf") return h;  // forward only: no message to an input at all
  h.sends_back = true;
  boost::random::mt19937_64 random(1);
  boost::random::uniform_01<double> unit;
  const auto message = [&] {
    const double variance = std::pow(10.0, -1 + 2 * unit(random));
    return Natural{(4 * unit(random) - 2) / std::sqrt(variance), 1 / variance};
  };
  constexpr int kTrials = 10'000;
  int improper = 0, tried = 0;
  const auto try_kind = [&](const char* name, std::size_t target, const std::vector<double>& parameters) {
    const Kind& kind = registry.kind(name);
    for (int i = 0; i < kTrials; ++i) {
      Arrivals arrivals(kind.ports().size());
      for (auto& port : arrivals) port = {message()};
      const auto one = evaluate(kind, method, target, arrivals, parameters);
      arrivals[target] = {message()};
      const auto other = evaluate(kind, method, target, arrivals, parameters);
      ++tried;
      improper += !one;
      if (one && other && !((*one)[0] == (*other)[0])) h.divides = true;
    }
  };
  try_kind("product", 0, {});
  try_kind("leaky_relu", 0, {0.1});
  h.improper_fraction = static_cast<double>(improper) / tried;
  for (const Case& c : cases()) {
    if (c.has_loop) continue;
    const Measurement m = measure(c, method, registry);
    h.collapses |= m.marginal.is_point();
    h.iterates |= m.sweeps > 2;  // the second sweep finds that nothing changed
  }
  return h;
}

}  // namespace dma::compare
