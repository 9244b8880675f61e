// The order in which the unknowns of a Gaussian are eliminated, and the resulting structure of the factor of its
// information matrix
//
//  L = sum_r weight_r a_r a_r^T,
//
// computed from the columns at which each row a_r has numbers. Unknowns that are eliminated together form a front: a
// small dense matrix over its own columns and the later columns that these meet. Every row lies within the front of its
// first column, and the update matrix of a front lies within its parent's front; so all arithmetic (fronts.h) is dense.
// A dense matrix is a single front.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/support/sizes.h"

namespace dma::joint_system {

// Row r has numbers at columns[first[r]] .. columns[first[r + 1] - 1].
struct RowPattern {
  std::uint32_t unknowns = 0;
  std::vector<std::uint32_t> first{0}, columns;

  std::size_t rows() const { return first.size() - 1; }
  std::span<const std::uint32_t> row(std::size_t r) const {
    return {columns.data() + first[r], columns.data() + first[r + 1]};
  }
  void end_row() { first.push_back(static_cast<std::uint32_t>(columns.size())); }
};

struct Elimination {
  struct Front {
    std::uint32_t first = 0;    // position of its first own column
    std::uint32_t columns = 0;  // own columns
    std::uint32_t size = 0;     // own and later columns
    std::uint32_t parent = kNowhere;
    std::uint64_t indices = 0;  // start of its later positions in `later` and `in_parent`
    std::uint64_t panel = 0;    // start of its part of the factor: size x columns
    std::uint64_t square = 0;   // start of its part of the inverse: size x size
    std::uint32_t rows = 0;     // start of its rows in `rows`; they end at the start of the next front's

    std::uint32_t below() const { return size - columns; }
  };

  std::uint32_t unknowns = 0;
  std::vector<std::uint32_t> position;   // unknown -> position in the order
  std::vector<std::uint32_t> unknown;    // position -> unknown
  std::vector<Front> fronts;             // children before parents; one sentinel at the end
  std::vector<std::uint32_t> front_of;   // position -> front
  std::vector<std::uint32_t> later;      // positions, ascending
  std::vector<std::uint32_t> in_parent;  // places of `later` within the parent's front
  std::vector<std::uint32_t> rows;       // grouped by front
  std::vector<std::uint32_t> local;      // parallel to RowPattern::columns: the place within the row's front, ascending
  std::vector<std::uint32_t> front_of_row;           // kNowhere for a row without columns
  std::uint64_t panels = 0, squares = 0, stack = 0;  // total sizes
  std::uint32_t largest = 0;                         // size of the largest front

  bool is_dense() const { return fronts.size() == 2 && unknowns > 0; }
  std::uint64_t bytes() const { return 8 * (panels + squares + stack + std::uint64_t{largest} * largest); }
  // "sparse Cholesky: 20,000 unknowns in 9,998 fronts of at most 4, 0.02 % of a dense factor"
  std::string text() const;
};

struct EliminationLimits {
  std::uint64_t bytes = std::uint64_t{8} << 30;
};

// Sorts the columns of each row by position. Throws an Error if memory exceeds the limit.
Elimination eliminate(RowPattern& rows, const EliminationLimits& limits);

}  // namespace dma::joint_system
