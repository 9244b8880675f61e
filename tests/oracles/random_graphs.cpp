#include "tests/oracles/random_graphs.h"

#include <vector>

#include "tests/oracles/random_messages.h"

namespace dma::oracle {

namespace {

// Variances and coefficients within one order of magnitude of 1: the dense solve then keeps 12 digits.
constexpr Interval kVariance{0.1, 10};
constexpr Interval kCoefficient{0.3, 3};

class TreeBuilder {
 public:
  TreeBuilder(std::uint64_t seed, double hub) : random_(seed), hub_(hub) { latent_.push_back(with_prior()); }

  GivenGraph build(std::size_t variables) {
    while (out_.graph.variables().size() < variables) grow();
    return std::move(out_);
  }

 private:
  double coefficient() { return random_.sign() * random_.log_uniform(kCoefficient); }
  VariableId any() {
    if (hub_ > 0 && random_.chance(hub_)) return latent_[0];
    return latent_[static_cast<std::size_t>(random_.uniform() * static_cast<double>(latent_.size()))];
  }
  VariableId fresh() { return out_.graph.variable(""); }
  void add_prior(VariableId v) {
    out_.graph.factor("gaussian_prior", {v}, {{"mean", coefficient()}, {"variance", random_.log_uniform(kVariance)}});
  }
  VariableId with_prior() {
    const VariableId v = fresh();
    add_prior(v);
    return v;
  }
  VariableId observed(double value) {
    const VariableId v = out_.graph.observed("");
    out_.observed[v.value] = value;
    return v;
  }

  // Attaches new variables to an existing one: below it (`down`: the new one is computed from it) or above it.
  void grow() {
    const VariableId old = any();
    if (hub_ > 0 && random_.chance(0.1)) add_prior(old);
    const double which = random_.uniform();
    if (which < 0.25) return add_leaf(old);
    const bool down = random_.chance(0.5);
    const VariableId fresh_one = down ? fresh() : with_prior();
    const VariableId from = down ? old : fresh_one, to = down ? fresh_one : old;
    if (which < 0.5) {
      out_.graph.factor("gaussian_noise", {from, to}, {{"variance", random_.log_uniform(kVariance)}});
    } else if (which < 0.65) {
      out_.graph.factor("product", {from, observed(coefficient()), to});
    } else if (which < 0.75) {
      add_copy(from, to);
    } else {
      add_sum(from, to);
    }
    latent_.push_back(fresh_one);
  }
  void add_leaf(VariableId v) {
    out_.graph.factor("gaussian_noise", {v, observed(3 * coefficient())},
                      {{"variance", random_.log_uniform(kVariance)}});
  }
  void add_copy(VariableId from, VariableId to) {
    std::vector<Connection> ends{from, to};
    if (random_.chance(0.5)) latent_.push_back(fresh()), ends.emplace_back(latent_.back());
    out_.graph.factor("copy", ends);
  }
  void add_sum(VariableId from, VariableId to) {
    std::vector<Connection> ends{from};
    std::vector<double> coefficients{coefficient()};
    for (const std::size_t more = static_cast<std::size_t>(3 * random_.uniform()); ends.size() <= more;) {
      latent_.push_back(with_prior());
      ends.emplace_back(latent_.back());
      coefficients.push_back(coefficient());
    }
    ends.emplace_back(to);
    out_.graph.factor("sum", ends, {{"coefficients", coefficients}});
  }

  RandomMessages random_;
  double hub_;
  GivenGraph out_;
  std::vector<VariableId> latent_;
};

// c0 a + c1 b, observed under noise.
void tie(GivenGraph& out, RandomMessages& random, VariableId a, VariableId b, std::vector<double> coefficients) {
  const VariableId total = out.graph.variable("");
  const VariableId seen = out.graph.observed("");
  out.graph.factor("sum", {a, b, total}, {{"coefficients", std::move(coefficients)}});
  out.graph.factor("gaussian_noise", {total, seen}, {{"variance", 1.0}});
  out.observed[seen.value] = random.sign() * random.log_uniform({0.1, 5});
}

VariableId start(GivenGraph& out, RandomMessages& random) {
  const VariableId v = out.graph.variable("");
  out.graph.factor("gaussian_prior", {v}, {{"mean", random.sign() * random.uniform()}, {"variance", 1.0}});
  return v;
}

}  // namespace

GivenGraph random_tree(std::uint64_t seed, std::size_t variables, double hub) {
  return TreeBuilder(seed, hub).build(variables);
}

GivenGraph ring(std::uint64_t seed, std::size_t variables, double coupling) {
  RandomMessages random(seed);
  GivenGraph out;
  std::vector<VariableId> x;
  for (std::size_t i = 0; i < variables; ++i) x.push_back(start(out, random));
  for (std::size_t i = 0; i < variables; ++i) tie(out, random, x[i], x[(i + 1) % variables], {1.0, coupling});
  return out;
}

GivenGraph grid(std::uint64_t seed, std::size_t side) {
  RandomMessages random(seed);
  GivenGraph out;
  std::vector<VariableId> x;
  for (std::size_t i = 0; i < side * side; ++i) x.push_back(start(out, random));
  for (std::size_t r = 0; r < side; ++r)
    for (std::size_t c = 0; c < side; ++c) {
      if (c + 1 < side) tie(out, random, x[r * side + c], x[r * side + c + 1], {1.0, -1.0});
      if (r + 1 < side) tie(out, random, x[r * side + c], x[(r + 1) * side + c], {1.0, -1.0});
    }
  return out;
}

std::vector<std::vector<double>> random_values(const Graph& graph, std::uint64_t seed) {
  RandomMessages random(seed);
  std::vector<std::vector<double>> values;
  for (const auto& v : graph.variables()) {
    values.emplace_back();
    for (std::uint32_t i = 0; i < v.size; ++i) values.back().push_back(random.sign() * random.log_uniform({0.2, 3}));
  }
  return values;
}

}  // namespace dma::oracle
