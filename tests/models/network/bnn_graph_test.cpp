#include "models/network/bnn_graph.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/gates/gates.h"
#include "engine/inspect/dot.h"
#include "engine/run/evidence.h"
#include "engine/run/run.h"
#include "factors/standard_registry.h"
#include "models/graphs/graph_file.h"
#include "models/network/bnn.h"
#include "models/table/relevance.h"
#include "schedules/forward_backward.h"
#include "tests/oracles/random_matrices.h"
#include "tests/oracles/scores.h"

namespace {

using namespace dma;
using oracle::farthest, oracle::filled, oracle::random_matrix;

// The network in plain loops: a unit with z = w.h + b and v = smoothing^2 |w|^2 gives E[leaky(N(z, v))].
Vector network(const BnnShape& shape, const Vector& m, Vector h) {
  Index at = 0;
  for (std::size_t l = 0; l + 1 < shape.layers.size(); ++l) {
    const auto units = static_cast<Index>(shape.layers[l + 1]), inputs = static_cast<Index>(shape.layers[l]);
    Vector next(units);
    for (Index j = 0; j < units; ++j) {
      double z = shape.bias ? m(at + units * inputs + j) : 0, square = 0;
      for (Index i = 0; i < inputs; ++i) {
        const double w = m(at + j * inputs + i);
        z += w * h(i), square += w * w;
      }
      const double sd = shape.smoothing * std::sqrt(square);
      next(j) = z;
      if (l + 2 == shape.layers.size()) continue;
      const double slope = shape.slopes[l], t = z / sd;
      const double above = sd > 0 ? z * 0.5 * std::erfc(-t / std::numbers::sqrt2) +
                                        sd * std::exp(-0.5 * t * t) / std::sqrt(2 * std::numbers::pi)
                                  : std::max(z, 0.0);
      next(j) = slope * z + (1 - slope) * above;
    }
    at += units * static_cast<Index>(shape.fan_in(l));
    h = next;
  }
  return h;
}

}  // namespace

TEST_CASE("network: its row program is the network, with and without smoothing and biases") {
  for (const bool bias : {true, false})
    for (const double smoothing : {0.0, 0.5}) {
      const BnnShape shape{.layers = {3, 6, 5, 2}, .slopes = {0.1, 0.4}, .bias = bias, .smoothing = smoothing};
      const RowProgram program = network_rows(shape);
      const Vector m = draw(program.prior(), 1);
      const Matrix rows = random_matrix(7, 3, 2);
      Matrix f, gains, above, below;
      program.linearise(m, rows, f, gains);
      for (Index n = 0; n < rows.rows(); ++n)
        CHECK(farthest(f.row(n).transpose(), network(shape, m, rows.row(n).transpose())) < 1e-13);
      constexpr double kStep = 1e-6;
      for (Index i = 0; i < m.size(); ++i) {
        Vector moved = m;
        moved(i) = m(i) + kStep;
        program.evaluate(moved, rows, above);
        moved(i) = m(i) - kStep;
        program.evaluate(moved, rows, below);
        const Matrix slopes = filled(above.size(), [&](Index k) { return (above(k) - below(k)) / (2 * kStep); });
        CHECK(farthest(slopes, gains.col(i)) < 1e-7);
      }
      Index at = 0;
      for (std::size_t l = 0; l < 3; ++l)
        for (std::size_t i = 0; i < shape.fan_in(l) * shape.layers[l + 1]; ++i, ++at) {
          CHECK(program.prior().mean(at) == 0);
          CHECK(program.prior().precision(at) == doctest::Approx(static_cast<double>(shape.fan_in(l))).epsilon(1e-15));
        }
      CHECK(at == program.scalars());
    }
}

TEST_CASE("network: slopes and activation priors must be as many as its layers want") {
  CHECK_NOTHROW(network_rows({.layers = {2, 3, 3, 1}, .slopes = {0.1, 0.1}}));
  CHECK_THROWS_AS(network_rows({.layers = {2, 3, 3, 1}, .slopes = {0.1}}), Error);
  CHECK_THROWS_AS(
      network_rows({.layers = {2, 3, 3, 1}, .slopes = {0.1, 0.1}, .activation_prior = {kInfinity, kInfinity}}), Error);
}

TEST_CASE("network: every layer is one matrix product, and its kernel matrix needs no matrix of gains") {
  const RowProgram program = network_rows({.layers = {3, 6, 5, 1}, .slopes = {0.1, 0.4}});
  CHECK(describe(program) ==
        "row program: inputs 3, shared scalars 65, outputs 1, steps 5\n"
        "  affine     z1 (6) = W1 smoothed1 + b1\n"
        "  function   x1 (6) = leaky_relu(z1), averaged over noise\n"
        "  affine     z2 (5) = W2 smoothed2 + b2\n"
        "  function   x2 (5) = leaky_relu(z2), averaged over noise\n"
        "  affine     z3 (1) = W3 x2 + b3\n");
  const Vector m = draw(program.prior(), 1);
  const Matrix rows = random_matrix(7, 3, 2), others = random_matrix(4, 3, 3);
  Matrix f, gains, other_gains;
  program.linearise(m, others, f, other_gains);
  program.linearise(m, rows, f, gains);
  for (const bool alike : {true, false}) {  // inputs, or each with a prior variance of its own
    constexpr double kTimes[] = {1e-3, 1, 0.2};
    const Vector variance = filled(program.scalars(), [&](Index i) {
      return 1 / program.prior().precision(i) * (!alike && i < 6 * 3 ? kTimes[i % 3] : 1);
    });
    const Matrix spread = filled(7, program.scalars(), [&](Index n, Index i) { return gains(n, i) * variance(i); });
    const auto own = program.gains(m, rows, variance, f), its = program.gains(m, others, variance, f);
    const Matrix kernel = product_by_transposed(spread, gains);
    CHECK(farthest(own->kernel(variance), kernel) < 1e-12);
    CHECK(farthest(own->kernel_diagonal(variance), kernel.diagonal()) < 1e-12);
    CHECK(farthest(own->kernel_with(*its, variance), product_by_transposed(spread, other_gains)) < 1e-12);
    CHECK(farthest(own->forward(m), product_of(gains, m)) < 1e-12);
    CHECK(farthest(own->backward(rows.col(0)), transposed_product(gains, rows.col(0))) < 1e-12);
  }
}

// With the weights at the means of every fit, so that noise alone is left, the graph gives what predict() does.
// Messages carry the noise of smoothing to y, where the row program ends it: then the means alone are the same.
TEST_CASE("network: its whole graph, written and read, is the mixture that it predicts by") {
  constexpr Index kRows = 60;
  const Matrix e = random_matrix(kRows, 2, 2);
  for (const auto& [inputs, outputs, smoothing] :
       {std::tuple<Index, Index, double>{2, 1, 0}, {2, 2, 0}, {2, 1, 0.4}, {20, 1, 0}}) {
    const Matrix x = random_matrix(kRows, inputs, 1);
    const Matrix y = filled(kRows, outputs, [&](Index n, Index j) {
      return std::sin(2 * x(n, 0)) + 0.3 * std::exp(0.6 * x(n, 1)) * e(n, j);
    });
    Bnn net({.layers = {static_cast<std::size_t>(inputs), 3, static_cast<std::size_t>(outputs)},
             .standardise = false,
             .members = 2,
             .smoothing = smoothing});
    net.fit(x, y, {.epochs = 10});
    Bnn::Memory memory = net.memory(false);
    JointRegression::Memory& joint = *memory.joint;
    REQUIRE(joint.members[1].weighted_posterior);
    REQUIRE(joint.baseline);
    const std::vector<Index> seen = inputs_that_matter(joint.relevance);
    CHECK(seen.empty() == (inputs == 2));
    CHECK(seen.size() < 20);
    // Weights of all inputs: those that do not matter are 0, and so are their variances.
    const auto whole = [&, inputs = inputs](const Vector& m) {
      if (seen.empty()) return m;
      const auto own = std::ssize(seen);
      Vector all = Vector::Zero(m.size() + 3 * (inputs - own));
      for (Index i = 0; i < 3 * own; ++i) all(i / own * inputs + seen[static_cast<std::size_t>(i % own)]) = m(i);
      std::copy(m.begin() + 3 * own, m.end(), all.begin() + 3 * inputs);
      return all;
    };
    for (Index i = 0; i < inputs; ++i)
      CHECK((net.prior(0).variance[static_cast<std::size_t>(i)] > 0) ==
            (seen.empty() || std::ranges::count(seen, i) > 0));
    joint.network_fraction = 0.7;
    joint.members[0].plain_posterior->tails[0] = {3, 0.8};
    joint.members[0].weighted_posterior->tails[0] = {1e300, 1.2};
    joint.baseline->tails[0] = {5, 1.1};
    joint.baseline->state.noise[0] = LogLinearNoise::constant(0.2);
    net.restore(memory);

    GraphFile written;
    written.graph = net.graph();
    const GraphFile file = parse_graph(graph_text(written));
    const Graph& g = file.graph;
    const Plan plan = compile(g, gates(forward_backward()), standard_registry());
    State state(plan);
    const auto set = [&](const std::string& name, const std::vector<double>& means) {
      state.set_parameter(g.find_factor(name), "mean", means);
      state.set_parameter(g.find_factor(name), "variance", std::vector<double>(means.size()));
    };
    const auto set_all = [&](const Vector& m, const BnnShape& shape, const std::string& of) {
      Index at = 0;
      for (std::size_t l = 1; l < shape.layers.size(); ++l) {
        const auto units = static_cast<Index>(shape.layers[l]),
                   weights = units * static_cast<Index>(shape.layers[l - 1]);
        set(fmt::format("prior{}{}", l, of), {m.data() + at, m.data() + at + weights});
        set(fmt::format("bias_prior{}{}", l, of), {m.data() + at + weights, m.data() + at + weights + units});
        at += weights + units;
      }
    };
    const BnnShape shape{.layers = net.options().layers, .slopes = {}};
    const std::string labels[] = {"", "_network2"};
    for (std::size_t k = 0; k < 2; ++k) {
      set_all(whole(joint.members[k].plain_posterior->state.mean), shape, labels[k]);
      set_all(whole(joint.members[k].weighted_posterior->state.mean), shape, labels[k] + "_weighted");
    }
    std::vector<double> weights, biases;
    for (Index i = 0; i < (inputs + 1) * outputs; ++i)  // weights and bias of every output
      ((i + 1) % (inputs + 1) == 0 ? biases : weights).push_back(joint.baseline->state.mean(i));
    set("prior1_linear", weights);
    set("bias_prior1_linear", biases);

    const Matrix drawn = random_matrix(6, inputs, 3);
    const Matrix rows = filled(6, inputs, [&](Index n, Index j) { return 2 * drawn(n, j); });  // some beyond the bounds
    const Matrix targets = random_matrix(6, outputs, 4);
    std::vector<PredictionComponent> components = net.predict(rows).components;
    for (PredictionComponent& own : components) own.epistemic_sd.setZero();
    CHECK(components.size() == 5);
    const Prediction expected = Prediction::mix(components);
    const Matrix log_density = expected.log_density(targets);
    const VariableId vx = g.find_variable("x"), vy = g.find_variable("y");
    for (Index n = 0; n < rows.rows(); ++n) {
      const Vector row = rows.row(n).transpose();
      state.observe(vx, {row.data(), static_cast<std::size_t>(inputs)});
      state.observe(vy, std::nullopt);
      (void)run(plan, state);
      const Belief predicted = state.belief(vy);
      for (Index j = 0; j < outputs; ++j) {
        const auto place = static_cast<std::size_t>(j);
        CHECK(predicted.mean(place) == doctest::Approx(expected.mean(n, j)).epsilon(1e-11));
        if (smoothing > 0) continue;
        CHECK(predicted.variance(place) == doctest::Approx(std::pow(expected.sd(n, j), 2)).epsilon(1e-11));
        std::vector<std::optional<double>> values(static_cast<std::size_t>(outputs));
        values[place] = targets(n, j);
        state.observe(vy, values);
        (void)run(plan, state);
        CHECK(std::abs(log_evidence(plan, state) - log_density(n, j)) < 2e-7);  // tails by widths have eight digits
      }
    }
  }
}
