// Every factor kind as a plate of 100,000, all its messages, next to a scalar loop over the same message functions on
// arrays of Gaussian values.
#include <cmath>
#include <memory>

#include "engine/compile/compile.h"
#include "engine/run/run.h"
#include "factors/arithmetic/copy.h"
#include "factors/arithmetic/leaky_relu.h"
#include "factors/arithmetic/log_copy.h"
#include "factors/arithmetic/product.h"
#include "factors/arithmetic/sum.h"
#include "factors/likelihoods/gaussian_noise.h"
#include "factors/likelihoods/gaussian_prior.h"
#include "factors/standard_registry.h"
#include "schedules/forward_backward.h"
#include "tools/bench/comparison.h"

namespace dma::bench {

namespace {

constexpr std::size_t kSlots = 100000, kTerms = 4;
constexpr double kPlateNoise = 0.3, kSlope = 0.2;
using Messages = std::vector<Gaussian>;

// Means around 1 with both signs unless told, variances from 0.1 to 1.9.
Messages values(std::size_t count, double phase, bool positive = false) {
  Messages out;
  for (std::size_t i = 0; i < count; ++i) {
    const double wave = std::sin(0.37 * static_cast<double>(i) + phase);
    out.push_back(
        Gaussian::from_moments(positive ? 1.5 + wave : 2 * wave, 1 + 0.9 * std::cos(1.7 * static_cast<double>(i))));
  }
  return out;
}

// A graph under construction. The prior of a variable is computed once and is all that arrives from it.
class Plate {
 public:
  Graph graph;

  VariableId variable(std::string_view name, const Messages& messages) {
    const VariableId v = graph.variable(name, messages.size());
    std::vector<double> mean, variance;
    for (const Gaussian& m : messages) mean.push_back(m.mean()), variance.push_back(m.variance());
    graph.factor("gaussian_prior", {v}, {{"mean", mean}, {"variance", variance}});
    return v;
  }
  void compile() {
    plan_ = dma::compile(graph, forward_backward(), standard_registry());
    state_ = std::make_unique<State>(plan_);
  }
  void run() { dma::run(plan_, *state_, {.diagnose = false}); }
  State& state() { return *state_; }
  double messages() const { return static_cast<double>(plan_.messages_per_sweep()); }

 private:
  Plan plan_;
  std::unique_ptr<State> state_;
};

using Bench = void (*)(benchmark::State&, Table&, Row);

void race(benchmark::State& bench, Table& table, Row row, Plate& plate, const Work& plain) {
  plate.compile();
  row.messages = plate.messages();
  compare(
      bench, table, std::move(row), [&] { plate.run(); }, plain);
}

// The message depends on parameters alone, so it is computed when they change: here one mean for all slots.
void gaussian_prior(benchmark::State& bench, Table& table, Row row) {
  std::vector<double> means(kSlots, 0.5), variances(kSlots, 2.0), kept = means;
  Graph g;
  const auto x = g.variable("x", kSlots);
  const auto prior = g.factor("gaussian_prior", {x}, {{"mean", means}, {"variance", variances}});
  const Plan plan = compile(g, forward_backward(), standard_registry());
  State state(plan);
  Messages out(kSlots);
  row.messages = kSlots;
  compare(
      bench, table, std::move(row),
      [&] {
        state.set_parameter(prior, "mean", 0.7);
        run(plan, state, {.diagnose = false});
      },
      [&] {
        for (double& mean : kept) mean = 0.7;
        for (std::size_t i = 0; i < kSlots; ++i) out[i] = GaussianPrior::to_x({kept[i], variances[i]});
      });
}

void gaussian_noise(benchmark::State& bench, Table& table, Row row) {
  const Messages x = values(kSlots, 0), y = values(kSlots, 1);
  Messages to_x(kSlots), to_y(kSlots);
  Plate plate;
  plate.graph.factor("gaussian_noise", {plate.variable("x", x), plate.variable("y", y)}, {{"variance", kPlateNoise}});
  race(bench, table, std::move(row), plate, [&] {
    for (std::size_t i = 0; i < kSlots; ++i) to_y[i] = GaussianNoise::to_y(x[i], {kPlateNoise});
    for (std::size_t i = 0; i < kSlots; ++i) to_x[i] = GaussianNoise::to_x(y[i], {kPlateNoise});
  });
}

void product(benchmark::State& bench, Table& table, Row row) {
  const Messages x = values(kSlots, 0), y = values(kSlots, 1), z = values(kSlots, 2);
  Messages to_x(kSlots), to_y(kSlots), to_z(kSlots);
  Plate plate;
  plate.graph.factor("product", {plate.variable("x", x), plate.variable("y", y), plate.variable("z", z)});
  race(bench, table, std::move(row), plate, [&] {
    for (std::size_t i = 0; i < kSlots; ++i) to_z[i] = Product::to_z(x[i], y[i]);
    for (std::size_t i = 0; i < kSlots; ++i) to_x[i] = Product::to_factor(y[i], z[i]);
    for (std::size_t i = 0; i < kSlots; ++i) to_y[i] = Product::to_factor(x[i], z[i]);
  });
}

void sum(benchmark::State& bench, Table& table, Row row) {
  const Messages terms = values(kSlots * kTerms, 0), total = values(kSlots, 1);
  const std::vector<double> ones(kTerms, 1.0);
  Messages to_terms(terms.size()), to_total(kSlots);
  Plate plate;
  plate.graph.factor("sum", {plate.variable("terms", terms), plate.variable("total", total)});
  race(bench, table, std::move(row), plate, [&] {
    const auto slot = [](auto& messages, std::size_t i) { return std::span(messages.data() + i * kTerms, kTerms); };
    for (std::size_t i = 0; i < kSlots; ++i) to_total[i] = Sum::to_total(slot(terms, i), ones);
    for (std::size_t i = 0; i < kSlots; ++i) Sum::to_terms(slot(terms, i), total[i], ones, slot(to_terms, i));
  });
}

void copy(benchmark::State& bench, Table& table, Row row) {
  const Messages x = values(kSlots, 0), copies = values(kSlots * kTerms, 1);
  Messages to_x(kSlots), to_copies(copies.size());
  Plate plate;
  plate.graph.factor("copy", {plate.variable("x", x), plate.variable("copies", copies)});
  race(bench, table, std::move(row), plate, [&] {
    for (std::size_t i = 0; i < kSlots; ++i) {
      Gaussian all;
      for (std::size_t t = 0; t < kTerms; ++t) all = all * copies[i * kTerms + t];
      to_x[i] = all;
    }
    for (std::size_t i = 0; i < kSlots; ++i) {
      const std::span out(to_copies.data() + i * kTerms, kTerms);
      Copy::to_all(std::span(copies.data() + i * kTerms, kTerms), out);
      for (Gaussian& message : out) message = x[i] * message;
    }
  });
}

// Two factors on one log-normal variable, so that messages arrive from both sides.
void log_copy(benchmark::State& bench, Table& table, Row row) {
  const Messages a = values(kSlots, 0, true), b = values(kSlots, 1, true);
  std::vector<LogNormal> a_to_log(kSlots), b_to_log(kSlots);
  Messages to_a(kSlots), to_b(kSlots);
  Plate plate;
  const auto log = plate.graph.variable("log", kSlots, "log_normal");
  plate.graph.factor("log_copy", {log, plate.variable("a", a)});
  plate.graph.factor("log_copy", {log, plate.variable("b", b)});
  race(bench, table, std::move(row), plate, [&] {
    for (std::size_t i = 0; i < kSlots; ++i) a_to_log[i] = LogCopy::to_log(a[i], {1});
    for (std::size_t i = 0; i < kSlots; ++i) b_to_log[i] = LogCopy::to_log(b[i], {1});
    for (std::size_t i = 0; i < kSlots; ++i) to_a[i] = LogCopy::to_x(b_to_log[i], {1});
    for (std::size_t i = 0; i < kSlots; ++i) to_b[i] = LogCopy::to_x(a_to_log[i], {1});
  });
}

void leaky_relu(benchmark::State& bench, Table& table, Row row) {
  const Messages x = values(kSlots, 0), y = values(kSlots, 1);
  Messages to_x(kSlots), to_y(kSlots);
  Plate plate;
  plate.graph.factor("leaky_relu", {plate.variable("x", x), plate.variable("y", y)}, {{"slope", kSlope}});
  race(bench, table, std::move(row), plate, [&] {
    for (std::size_t i = 0; i < kSlots; ++i) to_y[i] = LeakyRelu::to_y(x[i], {kSlope});
    for (std::size_t i = 0; i < kSlots; ++i) to_x[i] = LeakyRelu::to_x(y[i], {kSlope});
  });
}

// Product and sum: fused by the engine, message by message in the plain loop.
void inner_product(benchmark::State& bench, Table& table, Row row) {
  const std::size_t count = kSlots * kTerms;
  const Messages x = values(count, 0), y = values(count, 1), total = values(kSlots, 2);
  Messages products(count), to_products(count), to_x(count), to_y(count), to_total(kSlots);
  Plate plate;
  const auto p = plate.graph.variable("p", count);
  plate.graph.factor("product", {plate.variable("x", x), plate.variable("y", y), p});
  plate.graph.factor("sum", {p, plate.variable("total", total)});
  race(bench, table, std::move(row), plate, [&] {
    const auto slot = [](auto& messages, std::size_t i) { return std::span(messages.data() + i * kTerms, kTerms); };
    for (std::size_t i = 0; i < count; ++i) products[i] = Product::to_z(x[i], y[i]);
    for (std::size_t i = 0; i < kSlots; ++i) to_total[i] = Sum::to_total(slot(products, i), {});
    for (std::size_t i = 0; i < kSlots; ++i) Sum::to_terms(slot(products, i), total[i], {}, slot(to_products, i));
    for (std::size_t i = 0; i < count; ++i) to_x[i] = Product::to_factor(y[i], to_products[i]);
    for (std::size_t i = 0; i < count; ++i) to_y[i] = Product::to_factor(x[i], to_products[i]);
  });
}

}  // namespace

void register_plates(Table& table) {
  const std::vector<std::pair<std::string, Bench>> kinds = {{"gaussian_prior", gaussian_prior},
                                                            {"gaussian_noise", gaussian_noise},
                                                            {"product", product},
                                                            {"sum", sum},
                                                            {"copy", copy},
                                                            {"log_copy", log_copy},
                                                            {"leaky_relu", leaky_relu},
                                                            {"inner_product", inner_product}};
  for (const auto& [kind, bench] : kinds)
    benchmark::RegisterBenchmark(("plate/" + kind).c_str(), [&table, own_kind = kind,
                                                             own_bench = bench](benchmark::State& s) {
      own_bench(s, table, {.name = "plate of 100,000: " + own_kind, .bound = 1});
    })->UseManualTime();
}

}  // namespace dma::bench
