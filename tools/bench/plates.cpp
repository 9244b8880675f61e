// Plates of 100,000 factors, all their messages, next to a scalar loop over the same message functions on arrays of
// Gaussian values.
#include <cmath>
#include <memory>

#include "engine/compile/compile.h"
#include "engine/run/run.h"
#include "factors/arithmetic/product.h"
#include "factors/arithmetic/sum.h"
#include "factors/likelihoods/gaussian_noise.h"
#include "factors/standard_registry.h"
#include "schedules/schedules.h"
#include "tools/bench/comparison.h"

namespace dma::bench {

namespace {

constexpr std::size_t kSlots = 100000, kTerms = 4;
constexpr double kPlateNoise = 0.3;
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
  const std::pair<std::string, Bench> kinds[] = {
      {"gaussian_noise", gaussian_noise}, {"product", product}, {"inner_product", inner_product}};
  for (const auto& [kind, bench] : kinds)
    add(table, "plate/" + kind, [kind, bench](benchmark::State& s, Table& all) {
      bench(s, all, {.name = "plate of 100,000: " + kind, .bound = 1});
    });
}

}  // namespace dma::bench
