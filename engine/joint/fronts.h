// The numbers of an elimination: the factor U diag(pivots) U^T of the information matrix (U unit lower), solutions, and
// the part of the inverse that lies on the fronts. Memory is allocated at the first use; after that only large fronts
// allocate, inside Eigen's kernels.
#pragma once

#include <span>
#include <vector>

#include "engine/joint/elimination.h"

namespace dma::joint_system {

// Rows with numbers: value k belongs to RowPattern::columns[k].
struct Rows {
  const RowPattern* pattern;
  std::span<const double> values;   // parallel to the pattern's columns
  std::span<const double> weights;  // per row, >= 0
};

class Fronts {
 public:
  explicit Fronts(const Elimination& elimination) : e_(&elimination) {}

  // Factorises sum_r w_r a_r a_r^T + damping times its own diagonal. A pivot lost to rounding is replaced by one that
  // fixes its unknown; returns false if any was lost.
  bool factorise(const Rows& rows, double damping = 0);
  // The same, after a factorise() of the same rows, by orthogonal transformations of the rows: for matrices of widely
  // different scales, whose sum of squares has lost digits. Slower.
  bool factorise_by_qr(const Rows& rows);
  bool is_by_qr() const { return is_by_qr_; }
  // front = the sum over the rows of front f, lower triangle.
  void assemble(const Rows& rows, std::uint32_t f, double* front);
  // x <- L^-1 x, in the order of unknowns. `room` is working memory as long as x.
  void solve(std::span<double> x, std::span<double> room) const;
  // With C = U diag(pivots)^(1/2), so that L = C C^T in the order of positions: x <- C^-1 P x and x <- P^T C^-T x.
  void solve_lower(std::span<double> x, std::span<double> room) const;  // result in the order of positions
  void solve_upper(std::span<double> x,
                   std::span<double> room) const;  // x in the order of positions, result in the order of unknowns
  // Computes the inverse on all fronts (Takahashi), from the last column to the first.
  void invert();

  double log_determinant() const;
  std::span<const double> diagonal() const { return diagonal_; }  // diagonal of L without damping, by position

  // After invert():
  double variance(std::uint32_t unknown) const { return variance_[unknown]; }
  // a^T L^-1 a for numbers at unknowns of one front (those of a row, at its local places); NaN if the sum cancels, as
  // for a difference known much better than its terms.
  double quadratic(std::uint32_t front, std::span<const std::uint32_t> local, std::span<const double> values) const;
  // L^-1 a at the places of the front, in which a has its numbers.
  void multiply(std::uint32_t front, std::span<const std::uint32_t> local, std::span<const double> values,
                std::vector<double>& out) const;
  // The same as |C^-1 a|^2, which cannot cancel, for numbers at any unknowns; visits the fronts between them and the
  // last. `room` has one number per unknown, 0 before and after.
  double quadratic(std::span<const std::uint32_t> unknowns, std::span<const double> values,
                   std::vector<double>& room) const;
  // Entry of the inverse; null if the two unknowns share no front.
  const double* entry(std::uint32_t unknown_a, std::uint32_t unknown_b) const;
  // Local places of unknowns in the front of the first of them in the order; kNowhere if they do not all lie in it.
  std::uint32_t common_front(std::span<const std::uint32_t> unknowns, std::vector<std::uint32_t>& local) const;

  // After a factorise() that returned false: null directions, by unknown, each scaled to a largest number of 1. One per
  // lost pivot, at most kMostDirections.
  static constexpr std::size_t kMostDirections = 64;
  std::vector<std::vector<double>> null_directions() const;
  std::size_t lost_pivots() const { return lost_.size(); }
  std::vector<std::uint32_t> lost_unknowns() const;

 private:
  // From this many columns on, blocked kernels are faster than plain loops.
  static constexpr std::uint32_t kBlocked = 48;

  void take_memory();  // at the first use only
  void assemble_row_by_row(const Rows& rows, std::uint32_t f, double* front) const;
  bool fills_front(const Rows& rows, std::uint32_t f) const;
  void assemble_in_blocks(const Rows& rows, std::uint32_t f, double* front);
  void note_diagonal(const Elimination::Front& shape, const double* front);
  void take_children(std::uint32_t f, double* front, double*& top, std::size_t& waiting) const;
  void eliminate_front(const Elimination::Front& shape, double* front);
  void invert_by_qr();
  bool eliminate_in_blocks(const Elimination::Front& shape, double* front);
  // y <- U^-1 y and y <- U^-T y, by position.
  void forward(double* y) const;
  void forward(std::uint32_t f, double* y) const;  // the step of one front
  void backward(double* y) const;
  void invert_in_blocks(const Elimination::Front& shape, const double* panel, double* z);

  const Elimination* e_;
  std::vector<double> panels_, squares_, stack_, work_, block_;
  std::vector<double> diagonal_, inverse_pivots_;  // by position
  std::vector<double> variance_;                   // by unknown
  std::vector<std::uint32_t> waiting_;             // fronts whose update matrix still waits for the parent
  std::vector<std::uint32_t> lost_;                // positions of lost pivots
  bool is_by_qr_ = false;
};

}  // namespace dma::joint_system
