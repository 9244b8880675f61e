#include "engine/joint/fronts.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>

namespace dma::joint_system {

namespace {

using Matrix = Eigen::MatrixXd;
using Map = Eigen::Map<Matrix, 0, Eigen::OuterStride<>>;
using ConstMap = Eigen::Map<const Matrix, 0, Eigen::OuterStride<>>;
using Vector = Eigen::Map<Eigen::VectorXd>;
using Index = Eigen::Index;

// A pivot below this share of its diagonal is rounding.
constexpr double kLost = 1e-13;
// Rows that are added to a large front at once, columns of it that are updated at once.
constexpr std::uint32_t kRowsAtOnce = 256;
constexpr Index kColumnsAtOnce = 128;

Map block(double* front, Index stride, Index row, Index column, Index rows, Index columns) {
  return {front + row + column * stride, rows, columns, Eigen::OuterStride<>(stride)};
}

}  // namespace

void Fronts::take_memory() {
  panels_.resize(e_->panels);
  squares_.resize(e_->squares);
  stack_.resize(e_->stack);
  work_.resize(std::size_t{e_->largest} * e_->largest);
  if (e_->largest >= kBlocked) block_.resize(std::size_t{e_->largest} * kRowsAtOnce);
  diagonal_.resize(e_->unknowns);
  variance_.resize(e_->unknowns);
  waiting_.resize(e_->fronts.size());
}

void Fronts::assemble(const Rows& rows, std::uint32_t f, double* front) {
  if (waiting_.empty()) take_memory();
  const std::size_t size = e_->fronts[f].size;
  std::fill_n(front, size * size, 0.0);
  constexpr std::uint32_t kFewRows = 8;
  if (size >= kBlocked && e_->fronts[f + 1].rows - e_->fronts[f].rows >= kFewRows) assemble_in_blocks(rows, f, front);
  else assemble_row_by_row(rows, f, front);
}

void Fronts::assemble_row_by_row(const Rows& rows, std::uint32_t f, double* front) const {
  const std::size_t size = e_->fronts[f].size;
  for (std::uint32_t q = e_->fronts[f].rows; q < e_->fronts[f + 1].rows; ++q) {
    const std::uint32_t r = e_->rows[q];
    const double weight = rows.weights[r];
    if (weight == 0) continue;
    const std::uint32_t begin = rows.pattern->first[r], end = rows.pattern->first[r + 1];
    for (std::uint32_t a = begin; a < end; ++a) {
      const double scaled = weight * rows.values[a];
      double* const column = front + e_->local[a] * size;
      for (std::uint32_t b = a; b < end; ++b) column[e_->local[b]] += scaled * rows.values[b];
    }
  }
}

void Fronts::assemble_in_blocks(const Rows& rows, std::uint32_t f, double* front) {
  const Index size = e_->fronts[f].size;
  for (std::uint32_t q = e_->fronts[f].rows; q < e_->fronts[f + 1].rows;) {
    Eigen::Map<Matrix> a(block_.data(), size, kRowsAtOnce);
    Index used = 0;
    for (; used < kRowsAtOnce && q < e_->fronts[f + 1].rows; ++q) {
      const std::uint32_t r = e_->rows[q];
      const double root = std::sqrt(rows.weights[r]);
      if (root == 0) continue;
      double* const column = block_.data() + used * size;
      const std::uint32_t begin = rows.pattern->first[r], end = rows.pattern->first[r + 1];
      if (static_cast<Index>(end - begin) < size) std::fill_n(column, size, 0.0);
      for (std::uint32_t k = begin; k < end; ++k) column[e_->local[k]] = root * rows.values[k];
      ++used;
    }
    for (Index j = 0; j < size; j += kColumnsAtOnce) {
      const Index width = std::min(kColumnsAtOnce, size - j);
      block(front, size, j, j, size - j, width).noalias() +=
          a.block(j, 0, size - j, used) * a.block(j, 0, width, used).transpose();
    }
  }
}

// Own columns become those of the factor, the rest what is left for the parent.
bool Fronts::eliminate_front(const Elimination::Front& shape, double* front) {
  const std::size_t size = shape.size, own = shape.columns;
  double product = 1;
  bool whole = true;
  const auto note = [&](double pivot) {
    product *= pivot;
    if (product > 1e150 || product < 1e-150) log_determinant_ += std::log(product), product = 1;
  };
  const auto lose = [&](std::size_t j) {
    lost_.push_back(shape.first + static_cast<std::uint32_t>(j));
    whole = false;
  };
  if (own >= kBlocked) {
    Map top = block(front, shape.size, 0, 0, shape.columns, shape.columns);
    const Matrix kept = top;
    Eigen::LLT<Eigen::Ref<Matrix>> llt(top);
    bool good = llt.info() == Eigen::Success;
    for (std::size_t j = 0; good && j < own; ++j) {
      const double pivot = front[j + j * size] * front[j + j * size];
      good = pivot > kLost * diagonal_[shape.first + j];
    }
    if (good) {
      for (std::size_t j = 0; j < own; ++j) note(front[j + j * size] * front[j + j * size]);
      if (const Index below = shape.below(); below > 0) {
        Map rest = block(front, shape.size, shape.columns, 0, below, shape.columns);
        top.triangularView<Eigen::Lower>().transpose().solveInPlace<Eigen::OnTheRight>(rest);
        Map update = block(front, shape.size, shape.columns, shape.columns, below, below);
        update.selfadjointView<Eigen::Lower>().rankUpdate(rest, -1.0);
      }
      log_determinant_ += std::log(product);
      return true;
    }
    top = kept;  // column by column, to find which pivots are lost
  }
  for (std::size_t j = 0; j < own; ++j) {
    double* const column = front + j * size;
    double pivot = column[j];
    if (!(pivot > kLost * diagonal_[shape.first + j])) {
      lose(j);
      std::fill(column + j, column + size, 0.0);
      column[j] = 1;
      continue;
    }
    note(pivot);
    const double root = std::sqrt(pivot), inverse = 1 / root;
    column[j] = root;
    for (std::size_t i = j + 1; i < size; ++i) column[i] *= inverse;
    for (std::size_t c = j + 1; c < size; ++c) {
      const double factor = column[c];
      double* const target = front + c * size;
      for (std::size_t i = c; i < size; ++i) target[i] -= factor * column[i];
    }
  }
  log_determinant_ += std::log(product);
  return whole;
}

bool Fronts::factorise(const Rows& rows, double damping) {
  if (waiting_.empty()) take_memory();
  log_determinant_ = 0;
  lost_.clear();
  std::ranges::fill(diagonal_, 0.0);
  for (std::size_t r = 0; r < rows.pattern->rows(); ++r)
    for (std::uint32_t k = rows.pattern->first[r]; k < rows.pattern->first[r + 1]; ++k)
      diagonal_[e_->position[rows.pattern->columns[k]]] += rows.weights[r] * rows.values[k] * rows.values[k];
  double* top = stack_.data();
  std::size_t waiting = 0;  // fronts on the stack, the last of which is `last`
  for (std::uint32_t f = 0; f + 1 < e_->fronts.size(); ++f) {
    const Elimination::Front& shape = e_->fronts[f];
    const std::size_t size = shape.size, own = shape.columns, below = shape.below();
    double* const front = work_.data();
    assemble(rows, f, front);
    // Children stand on the stack in their order; this front takes them from the top.
    while (waiting > 0 && e_->fronts[waiting_[waiting - 1]].parent == f) {
      const Elimination::Front& child = e_->fronts[waiting_[--waiting]];
      const std::size_t count = child.below();
      const std::uint32_t* const place = e_->in_parent.data() + child.indices;
      top -= count * count;
      for (std::size_t j = 0; j < count; ++j) {
        double* const column = front + place[j] * size;
        const double* const from = top + j * count;
        for (std::size_t i = j; i < count; ++i) column[place[i]] += from[i];
      }
    }
    if (damping > 0)
      for (std::size_t j = 0; j < own; ++j) front[j + j * size] += damping * diagonal_[shape.first + j];
    eliminate_front(shape, front);
    std::copy_n(front, size * own, panels_.data() + shape.panel);
    if (below > 0) {
      for (std::size_t j = 0; j < below; ++j)
        std::copy(front + (own + j) * size + own + j, front + (own + j + 1) * size, top + j * below + j);
      top += below * below;
      waiting_[waiting++] = f;
    }
  }
  return lost_.empty();
}

void Fronts::solve_lower(std::span<double> x, std::span<double> room) const {
  double* const y = room.data();
  for (std::uint32_t p = 0; p < e_->unknowns; ++p) y[p] = x[e_->unknown[p]];
  for (std::uint32_t f = 0; f + 1 < e_->fronts.size(); ++f) {
    const Elimination::Front& shape = e_->fronts[f];
    const std::size_t size = shape.size, own = shape.columns;
    const double* const panel = panels_.data() + shape.panel;
    const std::uint32_t* const later = e_->later.data() + shape.indices;
    double* const mine = y + shape.first;
    if (own >= kBlocked) {
      const ConstMap l(panel, shape.size, shape.columns, Eigen::OuterStride<>(shape.size));
      Vector head(mine, shape.columns);
      l.topRows(shape.columns).triangularView<Eigen::Lower>().solveInPlace(head);
      if (shape.below() > 0) {
        const Eigen::VectorXd rest = l.bottomRows(shape.below()) * head;
        for (std::size_t i = own; i < size; ++i) y[later[i - own]] -= rest[static_cast<Index>(i - own)];
      }
      continue;
    }
    for (std::size_t j = 0; j < own; ++j) {
      const double* const column = panel + j * size;
      const double value = mine[j] /= column[j];
      for (std::size_t i = j + 1; i < own; ++i) mine[i] -= column[i] * value;
      for (std::size_t i = own; i < size; ++i) y[later[i - own]] -= column[i] * value;
    }
  }
  std::copy_n(y, e_->unknowns, x.begin());
}

void Fronts::solve_upper(std::span<double> x, std::span<double> room) const {
  double* const y = room.data();
  std::copy_n(x.begin(), e_->unknowns, y);
  for (std::size_t f = e_->fronts.size() - 1; f-- > 0;) {
    const Elimination::Front& shape = e_->fronts[f];
    const std::size_t size = shape.size, own = shape.columns;
    const double* const panel = panels_.data() + shape.panel;
    const std::uint32_t* const later = e_->later.data() + shape.indices;
    double* const mine = y + shape.first;
    if (own >= kBlocked) {
      const ConstMap l(panel, shape.size, shape.columns, Eigen::OuterStride<>(shape.size));
      Vector head(mine, shape.columns);
      if (shape.below() > 0) {
        Eigen::VectorXd rest(shape.below());
        for (std::size_t i = own; i < size; ++i) rest[static_cast<Index>(i - own)] = y[later[i - own]];
        head -= l.bottomRows(shape.below()).transpose() * rest;
      }
      l.topRows(shape.columns).triangularView<Eigen::Lower>().transpose().solveInPlace(head);
      continue;
    }
    for (std::size_t j = own; j-- > 0;) {
      const double* const column = panel + j * size;
      double value = mine[j];
      for (std::size_t i = j + 1; i < own; ++i) value -= column[i] * mine[i];
      for (std::size_t i = own; i < size; ++i) value -= column[i] * y[later[i - own]];
      mine[j] = value / column[j];
    }
  }
  for (std::uint32_t p = 0; p < e_->unknowns; ++p) x[e_->unknown[p]] = y[p];
}

void Fronts::solve(std::span<double> x, std::span<double> room) const {
  solve_lower(x, room);
  solve_upper(x, room);
}

}  // namespace dma::joint_system
