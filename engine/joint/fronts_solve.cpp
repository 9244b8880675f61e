// The part of Fronts that solves with a factor.
#include <algorithm>
#include <cmath>

#include "engine/joint/front_block.h"
#include "engine/joint/fronts.h"
#include "engine/joint/small_fronts.h"

namespace dma::joint_system {

namespace {

using Index = Eigen::Index;

// The numbers of one front in the vector that is solved for.
struct Solving {
  const Elimination::Front& shape;
  std::size_t size = shape.size, own = shape.columns;
  const double* panel;
  const std::uint32_t* later;  // positions after its own
  double* mine;

  Solving(const Elimination& e, std::size_t f, const std::vector<double>& panels, double* y)
      : shape(e.fronts[f]),
        panel(panels.data() + shape.panel),
        later(e.later.data() + shape.indices),
        mine(y + shape.first) {}
  ConstFrontBlock columns() const { return {panel, shape.size, shape.columns, Eigen::OuterStride<>(shape.size)}; }
  Eigen::Map<Eigen::VectorXd> head() const { return {mine, shape.columns}; }
};

}  // namespace

void Fronts::forward(double* y) const {
  for (std::uint32_t f = 0; f + 1 < e_->fronts.size(); ++f) forward(f, y);
}

void Fronts::forward(std::uint32_t f, double* y) const {
  const Solving at(*e_, f, panels_, y);
  const auto& [shape, size, own, panel, later, mine] = at;
  // For a sparse right-hand side only the fronts above its numbers have work.
  if (std::all_of(mine, mine + own, [](double value) { return value == 0; })) return;
  if (is_small_front(shape.size, shape.columns)) {
    small_front(shape.size, shape.columns).forward(panel, mine, y, later);
  } else if (own >= kBlocked) {
    const ConstFrontBlock u = at.columns();
    Eigen::Map<Eigen::VectorXd> head = at.head();
    u.topRows(shape.columns).triangularView<Eigen::UnitLower>().solveInPlace(head);
    if (shape.below() == 0) return;
    const Eigen::VectorXd rest = u.bottomRows(shape.below()) * head;
    for (std::size_t i = own; i < size; ++i) y[later[i - own]] -= rest[static_cast<Index>(i - own)];
  } else {
    for (std::size_t j = 0; j < own; ++j) {
      const double* const column = panel + j * size;
      const double value = mine[j];
      for (std::size_t i = j + 1; i < own; ++i) mine[i] -= column[i] * value;
      for (std::size_t i = own; i < size; ++i) y[later[i - own]] -= column[i] * value;
    }
  }
}

void Fronts::backward(double* y) const {
  for (std::size_t f = e_->fronts.size() - 1; f-- > 0;) {
    const Solving at(*e_, f, panels_, y);
    const auto& [shape, size, own, panel, later, mine] = at;
    if (is_small_front(shape.size, shape.columns)) {
      small_front(shape.size, shape.columns).backward(panel, mine, y, later);
    } else if (own >= kBlocked) {
      const ConstFrontBlock u = at.columns();
      Eigen::Map<Eigen::VectorXd> head = at.head();
      if (shape.below() > 0) {
        Eigen::VectorXd rest(shape.below());
        for (std::size_t i = own; i < size; ++i) rest[static_cast<Index>(i - own)] = y[later[i - own]];
        head -= u.bottomRows(shape.below()).transpose() * rest;
      }
      u.topRows(shape.columns).triangularView<Eigen::UnitLower>().transpose().solveInPlace(head);
    } else {
      for (std::size_t j = own; j-- > 0;) {
        const double* const column = panel + j * size;
        double value = mine[j];
        for (std::size_t i = j + 1; i < own; ++i) value -= column[i] * mine[i];
        for (std::size_t i = own; i < size; ++i) value -= column[i] * y[later[i - own]];
        mine[j] = value;
      }
    }
  }
}

void Fronts::solve_lower(std::span<double> x, std::span<double> room) const {
  double* const y = room.data();
  for (std::uint32_t p = 0; p < e_->unknowns; ++p) y[p] = x[e_->unknown[p]];
  forward(y);
  for (std::uint32_t p = 0; p < e_->unknowns; ++p) x[p] = y[p] * std::sqrt(inverse_pivots_[p]);
}

void Fronts::solve_upper(std::span<double> x, std::span<double> room) const {
  double* const y = room.data();
  for (std::uint32_t p = 0; p < e_->unknowns; ++p) y[p] = x[p] * std::sqrt(inverse_pivots_[p]);
  backward(y);
  for (std::uint32_t p = 0; p < e_->unknowns; ++p) x[e_->unknown[p]] = y[p];
}

void Fronts::solve(std::span<double> x, std::span<double> room) const {
  double* const y = room.data();
  for (std::uint32_t p = 0; p < e_->unknowns; ++p) y[p] = x[e_->unknown[p]];
  forward(y);
  for (std::uint32_t p = 0; p < e_->unknowns; ++p) y[p] *= inverse_pivots_[p];
  backward(y);
  for (std::uint32_t p = 0; p < e_->unknowns; ++p) x[e_->unknown[p]] = y[p];
}

double Fronts::log_determinant() const {
  double sum = 0;
  for (const double inverse : inverse_pivots_) sum -= std::log(inverse);
  return sum;
}

}  // namespace dma::joint_system
