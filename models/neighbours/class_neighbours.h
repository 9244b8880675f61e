// Classes of a table by its nearest rows. At x class c has a probability proportional to
//
//   sum_k w_k exp(-|x - x_k|^2 / (2 width)) [row k is of class c]  +  doubt * frequency of c
//
// with k over the nearest rows and w_k the weight of row k, 1 where rows have none: far from all of them the
// frequencies are left. Width, doubt, and whether columns are compared in standard deviations or in their own units,
// are those under which rows are most probable, each by the others.
#pragma once

#include <optional>
#include <vector>

#include "models/neighbours/nearest_rows.h"

namespace dma {

class ClassNeighbours {
 public:
  static constexpr Index kNeighbours = 32;
  // Nats that left-out rows have gained by choosing two numbers and the units: on labels that have nothing to do with
  // the rows, 1 to 2 in the middle and 5 to 6 in one table of twenty.
  static constexpr double kFlattery = 4;

  struct Memory {
    Vector scales;  // factor of every standardised column
    Matrix rows;    // scaled
    std::vector<Index> classes;
    Vector frequencies;
    double width = 1, doubt = 1;
    double fraction = 0;  // weight in a mixture with other models
    Vector weights = {};  // one per row; empty: 1 for all
  };

  explicit ClassNeighbours(Memory memory);

  // True if a table has neither too few rows nor too many for the search.
  static bool suits(Index rows, Index columns);

  struct Fit;
  // `rows` are standardised, and `units` are those that standardising has taken off every column. `without_each` (rows
  // x classes) has the frequencies of the classes without each row: a row that counts itself would flatter.
  static Fit fit(const Matrix& rows, const Vector& units, std::vector<Index> classes, Vector frequencies,
                 const Matrix& without_each, std::size_t jobs = 1, const Vector& weights = {});

  Matrix predict(const Matrix& rows, std::size_t jobs = 1) const;  // rows x classes
  void set_fraction(double fraction) { memory_.fraction = fraction; }
  const Memory& memory() const { return memory_; }

 private:
  Memory memory_;
  NearestRows search_;
};

struct ClassNeighbours::Fit {
  ClassNeighbours model;
  Matrix left_out;  // probabilities of the learned rows, each given the others
};

}  // namespace dma
