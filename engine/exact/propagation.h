// Sums or maxima over all values of the unknown nodes, by two passes over a clique tree.
//
//   collect     every clique, children first: table = product of its factors and its children's messages;
//               message to the parent = the table summed over its own nodes
//   distribute  every clique, parents first: table *= (the parent's table summed over what is not shared) / message;
//               each table is then the joint of its nodes, up to one scale for all of them
//
// In doubles, each message scaled by a power of 2. A product that underflows is noticed, and the caller begins again in
// wide numbers: a zero is always a true zero.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "engine/exact/cliques.h"
#include "engine/support/wide_number.h"

namespace dma::clique_tree {

// What is known of a node beside its factors: the log of a weight for each of its values.
struct Hint {
  std::uint32_t node;
  std::vector<double> logs;
};

// What one run is about: all of it outlives the tables.
struct Problem {
  const Network& network;
  const CliqueTree& tree;
  const Values& values;
};

template <class Number>
class Propagation {
 public:
  explicit Propagation(const Problem& problem);

  // By sums, or by maxima. False: doubles do not reach.
  bool collect(const State& state, std::span<const Hint> hints, bool by_maxima = false);
  bool distribute();
  // After collect: log of the sum (the maximum) of the product of all factors; -inf if every combination is forbidden.
  double log_total() const { return log_total_; }
  // After distribute: log of the probability of every combination of values of some nodes of one clique, the last
  // innermost.
  std::vector<double> log_marginal(std::uint32_t clique, std::span<const std::uint32_t> nodes) const;

  // Chooses values, parents first: `choose` is given the weights of the own nodes of a clique, given what it shares,
  // and picks one. After collect by maxima the largest is of the most probable combination; after distribute the
  // weights are probabilities, up to a scale.
  using Choose = std::function<std::size_t(std::span<const Number>)>;
  void assign(Values& values, const Choose& choose) const;

 private:
  std::span<Number> table(std::uint32_t clique) {
    return std::span(tables_).subspan(first_[clique], of(clique).entries);
  }
  std::span<const Number> table(std::uint32_t clique) const {
    return std::span(tables_).subspan(first_[clique], of(clique).entries);
  }
  std::span<Number> message(std::uint32_t clique) {
    return std::span(messages_).subspan(first_message_[clique], of(clique).shared_entries);
  }
  const Clique& of(std::uint32_t clique) const { return problem_.tree.cliques[clique]; }
  std::size_t value_count(std::uint32_t node) const { return problem_.network.nodes[node].values; }

  bool multiply_factors(std::uint32_t clique, FactorWeights& weights);
  bool multiply_logs(std::uint32_t clique, std::span<const std::uint32_t> nodes, std::span<const double> logs);
  void add_known(FactorWeights& weights);
  template <class Other>
  bool multiply(std::uint32_t clique, std::span<const std::uint32_t> nodes, std::span<const Other> other);

  Problem problem_;
  std::vector<std::size_t> first_, first_message_;  // of each clique
  std::vector<Number> tables_, messages_;
  std::vector<int> exponents_;  // of each clique: its message is 2^exponent times what is stored
  double log_scale_ = 0, log_total_ = 0;
  std::vector<Number> converted_, sums_;
};

extern template class Propagation<double>;
extern template class Propagation<WideNumber>;

}  // namespace dma::clique_tree
