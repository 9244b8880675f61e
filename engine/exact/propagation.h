// Sums or maxima over all values of the unknown nodes, by two passes over a clique tree.
//
//   collect     every clique, children first: table = product of its factors and its children's messages;
//               message to the parent = the table summed over its own nodes
//   distribute  every clique, parents first: table *= (the parent's table summed over what is not shared) / message;
//               each table is then the joint of its nodes, up to one scale for all of them
//
// Computed in doubles, with each message scaled by a power of 2. If a product underflows, the caller starts again in
// wide numbers: a zero is always a true zero.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "engine/exact/cliques.h"
#include "engine/support/wide_number.h"

namespace dma::clique_tree {

// A message to a node from outside its factors: log weights of its values.
struct Hint {
  std::uint32_t node;
  std::vector<double> logs;
};

// Inputs of one run; they must outlive the tables.
struct Problem {
  const DiscreteGraph& discrete;
  const CliqueTree& tree;
  const Values& values;
};

template <class Number>
class Propagation {
 public:
  explicit Propagation(const Problem& problem);

  // Sums or maxima. Returns false if doubles underflow.
  bool collect(const State& state, std::span<const Hint> hints, bool by_maxima = false);
  bool distribute();
  // After collect: log of the sum (or maximum) of the product of all factors; -inf if every combination is forbidden.
  double log_total() const { return log_total_; }
  // After distribute: writes the log of the probability of every combination of values of some nodes of one clique, the
  // last innermost.
  void log_marginal(std::uint32_t clique, std::span<const std::uint32_t> nodes, std::vector<double>& logs) const;

  // Chooses values, parents first: `choose` gets the weights of a clique's own nodes, given the nodes it shares with
  // its parent, and returns an index. After collect by maxima the largest weight belongs to the most probable
  // combination; after distribute the weights are probabilities up to a scale.
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
  std::size_t value_count(std::uint32_t node) const { return problem_.discrete.nodes[node].values; }

  bool multiply_factors(std::uint32_t clique, FactorWeights& weights);
  bool multiply_logs(std::uint32_t clique, std::span<const std::uint32_t> nodes, std::span<const double> logs);
  void add_known(FactorWeights& weights);
  template <class Other>
  bool multiply(std::uint32_t clique, std::span<const std::uint32_t> nodes, std::span<const Other> other);

  Problem problem_;
  std::vector<std::size_t> first_, first_message_;  // by clique
  std::vector<Number> tables_, messages_;
  std::vector<int> exponents_;  // by clique: its message is 2^exponent times the stored one
  double log_scale_ = 0, log_total_ = 0;
  std::vector<Number> converted_, sums_;
};

extern template class Propagation<double>;
extern template class Propagation<WideNumber>;

}  // namespace dma::clique_tree
