#include "models/network/network_graph.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/compile/compile.h"
#include "engine/run/run.h"
#include "factors/standard_registry.h"
#include "models/graphs/graph_file.h"
#include "models/learn/table_learner.h"
#include "models/network/bnn.h"
#include "models/table/relevance.h"
#include "schedules/schedules.h"
#include "tests/oracles/network_rows.h"
#include "tests/oracles/random_matrices.h"
#include "tests/oracles/relative.h"
#include "tests/oracles/saved_network.h"
#include "tests/oracles/scores.h"

namespace {

using namespace dma;
using oracle::farthest, oracle::filled, oracle::network_rows, oracle::random_matrix;

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
          CHECK(program.prior().precision(at) == oracle::relative(static_cast<double>(shape.fan_in(l)), 1e-15));
        }
      CHECK(at == program.scalars());
    }
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

TEST_CASE("network: the graph of a member, written and read, is what it has learned, with noise and tails") {
  constexpr Index kRows = 60;
  const Matrix e = random_matrix(kRows, 2, 2);
  struct Case {
    Index inputs, outputs;
    double smoothing;
    NoiseModel noise;
  };
  for (const auto& [inputs, outputs, smoothing, noise_model] : {Case{2, 1, 0, NoiseModel::choose},
                                                                {2, 2, 0, NoiseModel::choose},
                                                                {2, 2, 0, NoiseModel::constant},
                                                                {2, 1, 0.4, NoiseModel::choose},
                                                                {20, 1, 0, NoiseModel::choose}}) {
    CAPTURE(inputs);
    CAPTURE(outputs);
    CAPTURE(smoothing);
    const Matrix x = random_matrix(kRows, inputs, 1);
    const Matrix y = filled(kRows, outputs, [&](Index n, Index j) {
      return std::sin(2 * x(n, 0)) + 0.3 * std::exp(0.6 * x(n, 1)) * e(n, j);
    });
    Bnn learned({.layers = {static_cast<std::size_t>(inputs), 3, static_cast<std::size_t>(outputs)},
                 .noise_model = noise_model,
                 .standardise = false,
                 .members = 2,
                 .smoothing = smoothing});
    learned.fit(x, y, {.epochs = 10});
    // The first member's noise has tails, the second's is Gaussian.
    const bool by_inputs = noise_model == NoiseModel::choose;
    Json json = oracle::saved_network(learned);
    for (std::size_t k = 0; k < 2; ++k)
      json["graphs"]["members"][k][by_inputs ? "weighted_posterior" : "plain_posterior"]["tails"][0] =
          Json{{"degrees", k == 0 ? 3.0 : 1e300}, {"scale", k == 0 ? 0.8 : 1.2}};
    const Bnn net = oracle::read_network(learned.options(), json);
    const GraphMixture& mixture = net.jointly()->graphs().mixture();
    const std::vector<Index> matter = inputs_that_matter(mixture.memory().choice.relevance);
    CHECK(matter.empty() == (inputs == 2));
    CHECK(matter.size() < 20);
    const auto seen = static_cast<Index>(matter.empty() ? inputs : std::ssize(matter));

    const Matrix drawn = random_matrix(6, inputs, 3);
    const Matrix rows = filled(6, inputs, [&](Index n, Index j) { return 2 * drawn(n, j); });  // some beyond the bounds
    const Matrix off = random_matrix(6, outputs, 4);
    for (std::size_t k = 0; k < 2; ++k) {
      const GraphMixture::Member& member = mixture.memory().members[k];
      REQUIRE(member.weighted_posterior.has_value() == by_inputs);
      // With the weights at their means noise alone is left. Messages carry the noise of smoothing to y, where the row
      // program ends it: then the means alone are the same.
      RowBeliefs beliefs = mixture.beliefs(rows)[2 * k + (by_inputs ? 1 : 0)];
      beliefs.variance.setZero();
      const Prediction expected = Prediction::mix({component(beliefs, member.last(), {})});
      const Matrix targets =
          filled(6, outputs, [&](Index n, Index j) { return expected.mean(n, j) + 2 * off(n, j) * expected.sd(n, j); });
      const Matrix log_density = expected.log_density(targets);

      GraphFile written;
      written.graph = net.graph(k);
      const GraphFile file = parse_graph(graph_text(written));
      const Graph& g = file.graph;
      const VariableId vx = g.find_variable("x"), vy = g.find_variable("y");
      CHECK(static_cast<Index>(g[vx].size) == inputs);  // the noise reads all of them
      const Plan plan = compile(g, forward_backward(), standard_registry());
      State state(plan);
      const Vector& m = member.last().state.mean;
      Index at = 0;
      const auto set = [&](const std::string& prior, const std::string& variable) {
        const auto size = static_cast<Index>(g[g.find_variable(variable)].size);
        const std::vector<double> means(m.data() + at, m.data() + at + size), none(means.size());
        state.set_parameter(g.find_factor(prior), "mean", means);
        state.set_parameter(g.find_factor(prior), "variance", none);
        at += size;
      };
      for (const int layer : {1, 2})
        set(fmt::format("prior{}", layer), fmt::format("W{}", layer)),
            set(fmt::format("bias_prior{}", layer), fmt::format("b{}", layer));
      CHECK(at == m.size());
      const LayerPrior prior = net.prior(0, k);  // the prior that the graph has, too
      CHECK(std::ssize(prior.variance) == 3 * (seen + 1));
      CHECK(prior.variance[0] > 0);

      for (Index n = 0; n < rows.rows(); ++n) {
        const Vector row = rows.row(n).transpose();
        state.observe(vx, {row.data(), static_cast<std::size_t>(inputs)});
        state.observe(vy, std::nullopt);
        (void)run(plan, state);
        const Belief predicted = state.belief(vy);
        for (Index j = 0; j < outputs; ++j) {
          const auto place = static_cast<std::size_t>(j);
          CHECK(predicted.mean(place) == oracle::relative(expected.mean(n, j), 1e-11));
          if (smoothing > 0) continue;
          CHECK(predicted.variance(place) == oracle::relative(std::pow(expected.sd(n, j), 2), 1e-11));
          std::vector<std::optional<double>> values(static_cast<std::size_t>(outputs));
          values[place] = targets(n, j);
          state.observe(vy, values);
          (void)run(plan, state);
          CHECK(std::abs(log_evidence(plan, state) - log_density(n, j)) < 2e-7);  // tails by widths have eight digits
        }
      }
    }
  }
}

TEST_CASE("network: the graph of a member has the priors that were learned") {
  const Matrix x = random_matrix(40, 2, 1), y = random_matrix(40, 1, 2);
  Bnn net({.layers = {2, 3, 1}, .members = 2});
  net.fit(x, y, {.epochs = 5});
  for (std::size_t k = 0; k < 2; ++k) {
    const GraphMixture& mixture = net.jointly()->graphs().mixture();
    const SharedPrior start = mixture.prior_of(k);
    const Graph g = net.graph(k);
    Index at = 0;
    for (const char* name : {"prior1", "bias_prior1", "prior2", "bias_prior2"}) {
      const auto numbers_of = [&](const char* parameter) {
        for (const auto& [own, value] : g[g.find_factor(name)].parameters)
          if (own == parameter) return std::vector<double>(value.numbers.begin(), value.numbers.end());
        return std::vector<double>();
      };
      const std::vector<double> means = numbers_of("mean"), variances = numbers_of("variance");
      for (std::size_t i = 0; i < means.size(); ++i, ++at) {
        CHECK(means[i] == start.mean(at));
        CHECK(variances[i] ==
              doctest::Approx(1 / (start.precision(at) * mixture.memory().members[k].last().state.scale(0))));
      }
    }
    CHECK(at == start.mean.size());
  }
}

namespace {

// Sizes of the shared variables, in words.
std::string variables_of(const SharedModel& model) {
  std::string all;
  for (const SharedModel::Variable& v : model.variables) all += fmt::format("{} {}x{} ", v.name, v.rows, v.columns);
  return all;
}

}  // namespace

TEST_CASE("network family: widths, smoothing and the inputs that matter make the network") {
  const NetworkFamilyOptions options{.shape = {.layers = {3, 4, 2}, .slopes = {0.3}}, .prior_variance_scale = 2};
  const GraphFamily family = network_family(options);
  CHECK(family.first.sizes == std::vector<std::size_t>{4});
  CHECK(family.first.smoothing == 0.5);
  CHECK(family.text({20, 20}) == "20-20 hidden units");
  const SharedModel first = family.model(family.first);
  CHECK(variables_of(first) == "W1 4x3 b1 4x1 W2 2x4 b2 2x1 ");
  CHECK(first.columns.empty());
  CHECK(first.likelihoods.empty());
  CHECK(first.rows->scalars() == 26);
  CHECK(!first.first_at_mean);
  // Hidden weights are anchored where a member starts, which is drawn from 1 / fan-in.
  CHECK(first.anchored.size() == 16);
  CHECK(first.anchored.back() == 15);
  CHECK(first.prior.mean.cwiseAbs().maxCoeff() == 0);
  CHECK(first.prior.precision(0) == doctest::Approx(4 / 2.0));
  CHECK(first.prior.precision(25) == doctest::Approx(5 / 2.0));
  CHECK(first.spread.precision(0) == doctest::Approx(4));
  CHECK(first.spread.precision(25) == doctest::Approx(5));
  const Vector m = random_matrix(26, 1, 1);
  const Matrix rows = random_matrix(5, 3, 2);
  Matrix f;
  first.rows->evaluate(m, rows, f);
  for (Index n = 0; n < 5; ++n)
    CHECK(farthest(f.row(n).transpose(), network(options.shape, m, rows.row(n).transpose())) < 1e-13);

  // The second input does not matter, and the third less than the first.
  const Vector relevance{{1, kLeastRelevance, 0.3}};
  const SharedModel some = family.model({.sizes = {2, 5}, .smoothing = 0.2, .relevance = relevance});
  CHECK(variables_of(some) == "W1 2x2 b1 2x1 W2 5x2 b2 5x1 W3 2x5 b3 2x1 ");
  CHECK(some.columns == std::vector<Index>{0, 2});
  // A unit has as much prior variance as if its inputs were alike.
  const Vector variance = some.prior.precision.cwiseInverse();
  CHECK(variance(0) == doctest::Approx(2 * 1 / 2.3));
  CHECK(variance(1) == doctest::Approx(2 * 0.3 / 2.3));
  CHECK(variance(4) == doctest::Approx(2 * 1 / 2.3));  // the bias
  const BnnShape shape = chosen_shape(options, {.sizes = {2, 5}, .smoothing = 0.2});
  CHECK(shape.slopes == std::vector<double>{0.3, 0.3});
  const Vector own = random_matrix(some.rows->scalars(), 1, 3);
  some.rows->evaluate(own, rows, f);
  const BnnShape narrow{.layers = {2, 2, 5, 2}, .slopes = {0.3, 0.3}, .smoothing = 0.2};
  for (Index n = 0; n < 5; ++n)
    CHECK(farthest(f.row(n).transpose(), network(narrow, own, Vector{{rows(n, 0), rows(n, 2)}})) < 1e-13);

  // The simple one is the line of all inputs, which starts at 0.
  const SharedModel line = family.simple(relevance);
  CHECK(variables_of(line) == "W1 2x3 b1 2x1 ");
  CHECK(line.columns.empty());
  CHECK(line.anchored.empty());
  CHECK(line.spread.precision.minCoeff() > 1e200);
  CHECK(1 / line.prior.precision(1) == doctest::Approx(kLeastRelevance / (relevance.sum() + 1)));
  CHECK(!network_family({.shape = {.layers = {3, 2}, .slopes = {}}}).simple);
}

TEST_CASE("network family: smoothings to try are narrower for few inputs") {
  const auto tried = [](std::size_t inputs, const Vector& relevance) {
    const GraphFamily family = network_family({.shape = {.layers = {inputs, 4, 1}, .slopes = {0.1}}});
    return family.smoothings({.sizes = {4}, .smoothing = 0.5, .relevance = relevance});
  };
  CHECK(tried(2, {}) == std::vector<double>{1, 0.5, 0.2, 0.07});
  CHECK(tried(3, {}) == std::vector<double>{1, 0.5, 0.2});
  CHECK(tried(3, Vector{{1, 1, kLeastRelevance}}) == std::vector<double>{1, 0.5, 0.2, 0.07});
}

TEST_CASE("network family: given priors are taken as they are, with nothing beside them") {
  const BnnShape shape{.layers = {2, 3, 1}, .slopes = {0.1}};
  const std::vector<LayerPrior> priors = draw_prior(shape, 1, 0.5, 3);
  const GraphFamily family = network_family({.shape = shape, .priors = priors});
  CHECK(!family.simple);
  const SharedModel model = family.model(family.first);
  CHECK(model.anchored.empty());
  const std::vector<LayerPrior> found = layer_priors(shape, model.prior);
  REQUIRE(found.size() == 2);
  for (std::size_t l = 0; l < 2; ++l) {
    CHECK(found[l].mean == priors[l].mean);
    for (std::size_t i = 0; i < priors[l].variance.size(); ++i)
      CHECK(found[l].variance[i] == oracle::relative(priors[l].variance[i], 1e-15));
  }
}

TEST_CASE("network family: of classes the outputs are scores, whose biases are free and start at 0") {
  for (const std::size_t classes : {1u, 3u}) {
    CAPTURE(classes);
    const GraphFamily family = network_family({.shape = {.layers = {2, 4, classes}, .slopes = {0.1}}, .classes = true});
    for (const SharedModel& model : {family.model(family.first), family.simple({})}) {
      REQUIRE(model.likelihoods.size() == classes);
      CHECK(model.likelihoods[0]->kind() == (classes == 1 ? "logistic" : "softmax"));
      const Index all = model.rows->scalars(), outputs = static_cast<Index>(classes);
      for (Index i = 0; i < all; ++i) CHECK((model.prior.group_of(i) == -1) == (i >= all - outputs));
      CHECK(model.prior.precision(all - 1) == 0.04);
      CHECK(std::abs(draw(model.spread, 1)(all - 1)) < 1e-100);
    }
  }
}
