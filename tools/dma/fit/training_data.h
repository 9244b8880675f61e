// The rows of a table, checked: those to learn from and those kept aside.
#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "models/table/column_coding.h"

namespace dma {

struct TrainingData {
  std::vector<std::string> features, targets;
  Eigen::MatrixXd inputs, outputs;                      // rows to learn from
  Eigen::MatrixXd held_out_inputs, held_out_outputs;    // rows kept aside, perhaps none
  Eigen::VectorXd weights = {}, held_out_weights = {};  // weights of rows; empty: 1 for all
  std::vector<std::string> classes = {};                // names of the classes; the output is a place among them

  ColumnCoding coding = {};             // coding of columns as features; empty: they are numbers
  std::string without_target = {};      // one line about rows that are left out; empty if there are none
  std::vector<std::string> notes = {};  // lines about what was made of columns and rows
  std::string ignored = {};  // one line about columns that say nothing, or nothing new; empty if there are none

  std::vector<std::size_t> lines = {};  // numbers of all rows in memory that count, in order; else empty or lines

  std::size_t rows_elsewhere = 0;  // rows to learn from that other processes have

  std::size_t rows() const { return static_cast<std::size_t>(inputs.rows()) + rows_elsewhere; }
  std::size_t held_out_rows() const { return static_cast<std::size_t>(held_out_inputs.rows()); }
  void drop(const std::vector<Eigen::Index>& far) {  // places among the rows to learn from, sorted
    if (far.empty()) return;
    std::vector<Eigen::Index> kept;
    for (Eigen::Index n = 0; n < inputs.rows(); ++n)
      if (!std::ranges::binary_search(far, n)) kept.push_back(n);
    inputs = inputs(kept, Eigen::all).eval();
    outputs = outputs(kept, Eigen::all).eval();
    if (weights.size() > 0) weights = weights(kept).eval();
  }
  // Keeps a fraction of the rows aside, chosen by the seed.
  void hold_out(double fraction, std::uint64_t seed);
  bool has_classes() const { return !classes.empty(); }
  ClassLabels labels() const;
  ClassLabels held_out_labels() const;
  // A checksum of names and numbers, to recognise the same data again.
  std::string fingerprint() const { return known_fingerprint.empty() ? compute_fingerprint() : known_fingerprint; }
  std::string compute_fingerprint() const;
  std::string known_fingerprint = {};  // fingerprint of all rows, where other processes have some
  // The same from the sum of the checksums of all rows, in any order.
  std::string fingerprint_of(std::size_t all_rows, std::uint64_t sum) const;
  static std::uint64_t fingerprint_of_row(std::uint64_t place, bool is_held_out,
                                          std::span<const double> values);  // inputs, then outputs
};

// The rows to learn from in their order, then the held-out ones in theirs; how many are held out.
std::vector<Eigen::Index> split_rows(Eigen::Index rows, Eigen::Index held_out, std::uint64_t seed);
Eigen::Index count_held_out(double holdout, Eigen::Index rows);

}  // namespace dma
