// Tree-reweighted messages between discrete variables: bounds on the evidence of a graph of any width.
//
// A forest is a set of factors f_a without a loop; rho_a is the fraction of forests that contain f_a. For any messages
// m_ai from factors to nodes, with u_i the weights of a node by itself,
//
//   b_i = u_i prod over a of m_ai^rho_a / Z_i    g_a = f_a^(1 / rho_a) / prod over i of m_ai
//   prod f_a prod u_i  =  prod Z_i  prod b_i  prod g_a^rho_a
//
// has as its log the mean, over forests, of the log of  prod Z_i prod b_i prod over the forest of g_a. The log of a sum
// of exponentials is convex, and a forest is summed leaf by leaf, where a factor gives at most its largest r_ai(x_i) =
// sum over the other nodes of g_a prod b_j. So
//
//   log evidence  <=  sum log Z_i + sum rho_a max over i and x_i of log r_ai(x_i),
//
// for any messages. It is smallest where every r_ai is constant (Wainwright, Jaakkola and Willsky 2005), and m_ai r_ai
// is the next message. Without loops every rho is 1: belief propagation, and the bound is reached.
//
// The lower bound is the mean-field bound, maximised node by node.
#pragma once

#include <span>
#include <vector>

#include "engine/exact/propagation.h"

namespace dma::clique_tree {

class Reweighted {
 public:
  Reweighted(const DiscreteGraph& discrete, const Values& values, const State& state, std::span<const Hint> hints);

  // Sends every message twice, in one order and in reverse. Returns how far the log of an r was from constant.
  double sweep();
  // True if the tables forbid every combination of values.
  bool is_impossible() const { return is_impossible_; }
  double upper_bound();
  double lower_bound();
  // Valid after upper_bound: the log probability of every value of a node; empty if it is known.
  const std::vector<std::vector<double>>& log_beliefs() const { return beliefs_; }
  std::size_t messages() const { return messages_; }  // per sweep

 private:
  // One table for factors over the same two or more unknown nodes, or over subsets of these.
  struct Region {
    std::vector<std::uint32_t> nodes;
    std::vector<double> logs;         // log f, the last node innermost
    std::vector<std::size_t> first;   // by node: index of its values in `sent`
    std::vector<double> sent;         // log m
    double rho = 1;
  };
  using Beliefs = std::vector<std::vector<double>>;

  template <class Visit>
  void for_each(std::span<const std::uint32_t> nodes, const Visit& visit);
  std::size_t place(std::span<const std::uint32_t> nodes) const;
  void add(std::vector<std::uint32_t> nodes, std::vector<double> logs);
  void draw_forests();
  double refresh_beliefs();
  void find_ratios(const Region& region);
  template <class Add>
  void add_others(const Region& region, std::uint32_t node, const Beliefs& q, const Add& add);
  double mean_field(Beliefs q);

  const DiscreteGraph& discrete_;
  std::vector<Region> regions_;
  std::vector<std::vector<std::uint32_t>> regions_at_;  // by node
  Beliefs weights_, beliefs_;                           // logs of u and, up to their sum, b
  Values at_;                                           // known values, and the current combination of for_each
  double constant_ = 0;                                 // log of the factors whose nodes are all known
  std::size_t messages_ = 0;
  bool is_impossible_ = false;
  std::vector<double> totals_, largest_, ratios_;  // ratios_: log r as in `sent`, NaN where b is 0
};

}  // namespace dma::clique_tree
