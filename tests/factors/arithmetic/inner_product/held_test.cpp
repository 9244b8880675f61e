// Rows of weights held as moments, against the kernels of natural parameters with their messages multiplied in
// afterwards.
#include <doctest/doctest.h>

#include <cmath>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/uniform_real_distribution.hpp>
#include <type_traits>
#include <vector>

#include "factors/arithmetic/inner_product.h"

using namespace dma;

namespace {

constexpr std::size_t kRows = 5;

// A layer of kRows x terms weights, one activation per term, and a message to each sum.
struct HeldLayer {
  explicit HeldLayer(std::size_t terms, unsigned seed, bool known_inputs = false) : count(terms), random(seed) {
    for (std::size_t i = 0; i < kRows * terms; ++i) set(weight_tau, weight_rho, between(-2, 2), between(0.05, 2));
    for (std::size_t t = 0; t < terms; ++t)
      if (known_inputs) input_tau.push_back(t == 1 ? 0 : between(-2, 2)), input_rho.push_back(kInfinity);
      else set(input_tau, input_rho, between(-2, 2), between(0.05, 2));
    for (std::size_t r = 0; r < kRows; ++r) set(total_tau, total_rho, between(-2, 2), between(0.01, 1));
  }
  static void set(std::vector<double>& tau, std::vector<double>& rho, double mean, double variance) {
    tau.push_back(mean / variance), rho.push_back(1 / variance);
  }
  double between(double low, double high) {
    return boost::random::uniform_real_distribution<double>(low, high)(random);
  }

  std::size_t count;
  boost::random::mt19937 random;
  std::vector<double> weight_tau, weight_rho, input_tau, input_rho, total_tau, total_rho;
};

struct Learned {
  std::vector<double> sum_tau = std::vector<double>(kRows), sum_rho = sum_tau;  // messages to the sums
  std::vector<double> tau, rho;                                              // beliefs of the weights
  std::vector<double> to_y_tau, to_y_rho;
  std::uint64_t faults = 0;
};

struct HeldCall {
  explicit HeldCall(HeldLayer& layer, Learned& learned)
      : scratch(4 * kScratchPerTerm * layer.count + kLeastScratch),
        to_x_tau(layer.weight_tau.size()),
        to_x_rho(to_x_tau) {
    learned.tau = layer.weight_tau, learned.rho = layer.weight_rho;
    learned.to_y_tau = learned.to_y_rho = to_x_tau;
    const auto terms = static_cast<std::uint32_t>(layer.count);
    views[0] = {learned.tau.data(), learned.rho.data(), 0, terms, terms};
    views[1] = {layer.input_tau.data(), layer.input_rho.data(), 0, 0, terms};
    views[2] = {layer.total_tau.data(), layer.total_rho.data(), 0, 1, 1};
    forward.columns = backward.columns = kRows;
    forward.reads = backward.reads = views;
    forward.scratch = backward.scratch = scratch.data();
    forward.sink = {learned.sum_tau.data(), learned.sum_rho.data()};
    backward.sink = {to_x_tau.data(), to_x_rho.data()};
    backward.second_sink = {learned.to_y_tau.data(), learned.to_y_rho.data()};
    backward.out_column = static_cast<std::ptrdiff_t>(terms);
    backward.out_terms = terms;
  }
  PortView views[3];
  std::vector<double> scratch, to_x_tau, to_x_rho;
  Call forward, backward;
};

using Rule = InnerProduct::Rule;

// The product over all rows replaces the first message, and uniform messages replace the others.
void multiply_to_y(Learned& learned, std::size_t terms) {
  for (std::size_t i = terms; i < learned.to_y_tau.size(); ++i) {
    const std::size_t t = i % terms;
    const Natural product =
        multiply({learned.to_y_tau[t], learned.to_y_rho[t]}, {learned.to_y_tau[i], learned.to_y_rho[i]});
    learned.to_y_tau[t] = product.tau, learned.to_y_rho[t] = product.rho;
    learned.to_y_tau[i] = learned.to_y_rho[i] = 0;
  }
}

template <Rule kRule, bool kToY>
Learned by_natural_parameters(HeldLayer layer) {
  Learned learned;
  HeldCall calls(layer, learned);
  Outcome outcome;
  InnerProduct::to_total(calls.forward, outcome);
  InnerProduct::to_terms<kRule, true, kToY>(calls.backward, outcome);
  for (std::size_t i = 0; i < learned.tau.size(); ++i) {
    const Natural belief = multiply({learned.tau[i], learned.rho[i]}, {calls.to_x_tau[i], calls.to_x_rho[i]});
    learned.tau[i] = belief.tau, learned.rho[i] = belief.rho;
  }
  learned.faults = outcome.faults;
  multiply_to_y(learned, layer.count);
  return learned;
}

template <Rule kRule, bool kToY>
Learned by_moments(HeldLayer layer, bool stays = true) {
  Learned learned;
  HeldCall calls(layer, learned);
  std::vector<double> mean, variance, per_slot(kRows * kHeldPerSlot), per_term(layer.count * kHeldPerTerm);
  for (std::size_t i = 0; i < learned.tau.size(); ++i)
    variance.push_back(1 / learned.rho[i]), mean.push_back(learned.tau[i] / learned.rho[i]);
  std::vector<double> product_tau(layer.count), product_rho(layer.count);
  HeldCavity cavity{.mean = mean.data(),
                    .variance = variance.data(),
                    .natural = {learned.tau.data(), learned.rho.data()},
                    .per_slot = per_slot.data(),
                    .per_term = per_term.data(),
                    .is_read_again = stays};
  if (kToY) cavity.product = {product_tau.data(), product_rho.data()};
  Outcome outcome;
  InnerProduct::held_to_total(calls.forward, cavity, outcome);
  InnerProduct::held_to_terms<kRule, kToY>(calls.backward, cavity, outcome);
  for (std::size_t t = 0; kToY && t < layer.count; ++t) {
    CHECK(product_tau[t] == learned.to_y_tau[t]);
    CHECK(product_rho[t] == learned.to_y_rho[t]);
  }
  for (std::size_t i = 0; i < mean.size(); ++i) {
    const Natural belief = dma::learned({learned.tau[i], learned.rho[i]}, mean[i], variance[i]);
    learned.tau[i] = belief.tau, learned.rho[i] = belief.rho;
  }
  learned.faults = outcome.faults;
  return learned;
}

void check_close(const std::vector<double>& a, const std::vector<double>& b, const std::vector<double>& scale) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    CAPTURE(i);
    if (a[i] == b[i]) continue;  // infinities too
    CHECK(std::abs(a[i] - b[i]) <= 1e-12 * (std::abs(a[i]) + std::sqrt(scale[i])));
  }
}

void check_same(const Learned& a, const Learned& b) {
  check_close(a.sum_rho, b.sum_rho, a.sum_rho);
  check_close(a.sum_tau, b.sum_tau, a.sum_rho);
  check_close(a.rho, b.rho, a.rho);
  check_close(a.tau, b.tau, a.rho);
  check_close(a.to_y_rho, b.to_y_rho, a.to_y_rho);
  check_close(a.to_y_tau, b.to_y_tau, a.to_y_rho);
  CHECK(a.faults == b.faults);
}

}  // namespace

TEST_CASE_TEMPLATE_DEFINE("held inner_product: weights and activations learn what natural parameters tell them", Of,
                          held_rules) {
  for (const std::size_t terms : {2u, 3u, 4u, 5u, 8u, 13u, 48u}) {
    CAPTURE(terms);
    const HeldLayer layer(terms, static_cast<unsigned>(terms));
    check_same(by_natural_parameters<Of::value, true>(layer), by_moments<Of::value, true>(layer));
    check_same(by_natural_parameters<Of::value, true>(layer), by_moments<Of::value, true>(layer, false));
    check_same(by_natural_parameters<Of::value, false>(layer), by_moments<Of::value, false>(layer));
    const HeldLayer known(terms, static_cast<unsigned>(terms), true);
    check_same(by_natural_parameters<Of::value, false>(known), by_moments<Of::value, false>(known));
    check_same(by_natural_parameters<Of::value, true>(known), by_moments<Of::value, true>(known));
  }
}
using Direct = std::integral_constant<Rule, Rule::direct>;
using Linearised = std::integral_constant<Rule, Rule::linearised>;
TEST_CASE_TEMPLATE_INVOKE(held_rules, Direct, Linearised);

TEST_CASE("held inner_product: rows out of the ordinary are done by natural parameters") {
  HeldLayer layer(6, 7);
  SUBCASE("a sum of which nothing is known") { layer.total_tau[2] = layer.total_rho[2] = 0; }
  SUBCASE("a sum that is known") { layer.total_rho[2] = kInfinity; }
  SUBCASE("one term dominates") { layer.weight_rho[8] = 1e-9; }
  SUBCASE("one mean dominates") { layer.weight_tau[8] = 1e6; }
  SUBCASE("an activation of which nothing is known") { layer.input_tau[3] = layer.input_rho[3] = 0; }
  SUBCASE("an activation that is known") { layer.input_rho[3] = kInfinity; }
  SUBCASE("an activation known to be nothing") { layer.input_tau[3] = 0, layer.input_rho[3] = kInfinity; }
  SUBCASE("a mean of zero") { layer.weight_tau[9] = 0; }
  SUBCASE("a mean whose powers underflow") { layer.weight_tau[9] = 1e-45; }
  check_same(by_natural_parameters<Rule::direct, true>(layer), by_moments<Rule::direct, true>(layer));
  check_same(by_natural_parameters<Rule::linearised, true>(layer), by_moments<Rule::linearised, true>(layer));
}

TEST_CASE("held inner_product: a weight of an input that is zero is left as it was, to the last digit") {
  const HeldLayer known(6, 11, true);
  const Learned learned = by_moments<Rule::direct, false>(known);
  for (std::size_t r = 0; r < kRows; ++r) {
    CHECK(learned.tau[r * 6 + 1] == known.weight_tau[r * 6 + 1]);
    CHECK(learned.rho[r * 6 + 1] == known.weight_rho[r * 6 + 1]);
  }
}
