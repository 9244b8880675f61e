#include "engine/joint/fronts.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "engine/joint/front_block.h"
#include "engine/joint/small_fronts.h"
#include "engine/support/dense.h"

namespace dma::joint_system {

namespace {

using Matrix = Eigen::MatrixXd;
using Index = Eigen::Index;

// Block sizes: rows added to a large front, columns of it updated.
constexpr std::uint32_t kRowsAtOnce = 256;
constexpr Index kColumnsAtOnce = 128;

// front += weight a a^T, lower triangle, for a row with numbers at the places `local`.
inline void add_row(std::size_t count, double weight, const double* values, const std::uint32_t* local,
                    std::size_t size, double* front) {
  for (std::size_t a = 0; a < count; ++a) {
    const double scaled = weight * values[a];
    double* const column = front + local[a] * size;
    for (std::size_t b = a; b < count; ++b) column[local[b]] += scaled * values[b];
  }
}
template <std::size_t Count>
inline void add_row(double weight, const double* values, const std::uint32_t* local, std::size_t size, double* front) {
  double sums[Count][Count];
  for (std::size_t a = 0; a < Count; ++a)
    for (std::size_t b = a; b < Count; ++b)
      sums[a][b] = front[local[a] * size + local[b]] + weight * values[a] * values[b];
  for (std::size_t a = 0; a < Count; ++a)
    for (std::size_t b = a; b < Count; ++b) front[local[a] * size + local[b]] = sums[a][b];
}

}  // namespace

void Fronts::take_memory() {
  panels_.resize(e_->panels);
  squares_.resize(e_->squares);
  stack_.resize(e_->stack);
  work_.resize(std::size_t{e_->largest} * e_->largest);
  if (e_->largest >= kBlocked) block_.resize(std::size_t{e_->largest} * kRowsAtOnce);
  diagonal_.resize(e_->unknowns);
  inverse_pivots_.resize(e_->unknowns);
  variance_.resize(e_->unknowns);
  waiting_.resize(e_->fronts.size());
}

// Adding rows by blocks multiplies their zeros too, but each multiplication is this many times faster.
bool Fronts::fills_front(const Rows& rows, std::uint32_t f) const {
  constexpr double kGain = 8;
  constexpr std::uint32_t kFewRows = 8;
  const std::uint32_t first = e_->fronts[f].rows, last = e_->fronts[f + 1].rows;
  if (last - first < kFewRows) return false;
  double entries = 0;
  for (std::uint32_t q = first; q < last; ++q) {
    const std::uint32_t r = e_->rows[q];
    const double own = rows.pattern->first[r + 1] - rows.pattern->first[r];
    entries += own * own;
  }
  const double size = e_->fronts[f].size;
  return kGain * entries >= (last - first) * size * size;
}

void Fronts::assemble(const Rows& rows, std::uint32_t f, double* front) {
  if (waiting_.empty()) take_memory();
  const std::size_t size = e_->fronts[f].size;
  std::fill_n(front, size * size, 0.0);
  if (size >= kBlocked && fills_front(rows, f))
    assemble_in_blocks(rows, f, front);
  else
    assemble_row_by_row(rows, f, front);
}

void Fronts::assemble_row_by_row(const Rows& rows, std::uint32_t f, double* front) const {
  const std::size_t size = e_->fronts[f].size;
  for (std::uint32_t q = e_->fronts[f].rows; q < e_->fronts[f + 1].rows; ++q) {
    const std::uint32_t r = e_->rows[q];
    const double weight = rows.weights[r];
    if (weight == 0) continue;
    const std::uint32_t begin = rows.pattern->first[r], count = rows.pattern->first[r + 1] - begin;
    const double* const values = rows.values.data() + begin;
    const std::uint32_t* const local = e_->local.data() + begin;
    switch (count) {  // most rows of a sparse system are short
      case 1:
        add_row<1>(weight, values, local, size, front);
        break;
      case 2:
        add_row<2>(weight, values, local, size, front);
        break;
      case 3:
        add_row<3>(weight, values, local, size, front);
        break;
      default:
        add_row(count, weight, values, local, size, front);
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
      add_product_by_transposed(block(front, size, j, j, size - j, width), a.block(j, 0, size - j, used),
                                a.block(j, 0, width, used));
    }
  }
}

// Update matrices of children lie on the stack in their order; this front pops them.
void Fronts::take_children(std::uint32_t f, double* front, double*& top, std::size_t& waiting) const {
  const std::size_t size = e_->fronts[f].size;
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
}

// Every number of a row is squared once, in the front of the row.
void Fronts::note_diagonal(const Elimination::Front& shape, const double* front) {
  const std::size_t size = shape.size, own = shape.columns;
  const std::uint32_t* const later = e_->later.data() + shape.indices;
  for (std::size_t j = 0; j < own; ++j) diagonal_[shape.first + j] += front[j * (size + 1)];
  for (std::size_t j = own; j < size; ++j) diagonal_[later[j - own]] += front[j * (size + 1)];
}

bool Fronts::eliminate_in_blocks(const Elimination::Front& shape, double* front) {
  const Index size = shape.size, own = shape.columns, below = shape.below();
  FrontBlock top = block(front, size, 0, 0, own, own);
  const Matrix kept = top;
  bool good = factorise_lower(top);
  for (Index j = 0; good && j < own; ++j)
    good = top(j, j) * top(j, j) > kLostPivot * diagonal_[shape.first + static_cast<std::size_t>(j)];
  if (!good) {
    top = kept;
    return false;
  }
  if (below > 0) {
    FrontBlock rest = block(front, size, own, 0, below, own);
    solve_lower_from_right(top, rest);
    add_square(block(front, size, own, own, below, below), rest, -1);
  }
  for (Index j = 0; j < own; ++j) {
    const double inverse = 1 / top(j, j);
    inverse_pivots_[shape.first + static_cast<std::size_t>(j)] = inverse * inverse;
    block(front, size, j + 1, j, size - j - 1, 1) *= inverse;
  }
  return true;
}

// Own columns become columns of the factor, the rest the update matrix for the parent.
void Fronts::eliminate_front(const Elimination::Front& shape, double* front) {
  const std::size_t size = shape.size, own = shape.columns;
  if (own >= kBlocked && eliminate_in_blocks(shape, front)) return;
  for (std::size_t j = 0; j < own; ++j) {
    double* const column = front + j * size;
    const double pivot = column[j];
    if (!(pivot > kLostPivot * diagonal_[shape.first + j])) {
      lost_.push_back(shape.first + static_cast<std::uint32_t>(j));
      std::fill(column + j + 1, column + size, 0.0);
      inverse_pivots_[shape.first + j] = 1;
      continue;
    }
    const double inverse = 1 / pivot;
    inverse_pivots_[shape.first + j] = inverse;
    for (std::size_t c = j + 1; c < size; ++c) {
      const double factor = column[c] * inverse;
      double* const target = front + c * size;
      for (std::size_t i = c; i < size; ++i) target[i] -= factor * column[i];
    }
    for (std::size_t i = j + 1; i < size; ++i) column[i] *= inverse;
  }
}

bool Fronts::factorise(const Rows& rows, double damping) {
  if (waiting_.empty()) take_memory();
  is_by_qr_ = false;
  lost_.clear();
  std::ranges::fill(diagonal_, 0.0);
  double* top = stack_.data();
  double* const front = work_.data();
  std::size_t waiting = 0;
  for (std::uint32_t f = 0; f + 1 < e_->fronts.size(); ++f) {
    const Elimination::Front& shape = e_->fronts[f];
    const std::size_t size = shape.size, own = shape.columns, below = shape.below();
    double* const panel = panels_.data() + shape.panel;
    assemble(rows, f, front);
    note_diagonal(shape, front);
    take_children(f, front, top, waiting);
    if (damping > 0)
      for (std::size_t j = 0; j < own; ++j) front[j + j * size] += damping * diagonal_[shape.first + j];
    if (!is_small_front(shape.size, shape.columns) ||
        !small_front(shape.size, shape.columns)
             .eliminate(front, diagonal_.data() + shape.first, panel, inverse_pivots_.data() + shape.first, top)) {
      eliminate_front(shape, front);
      std::copy_n(front, size * own, panel);
      for (std::size_t j = 0; j < own; ++j) panel[j * (size + 1)] = 0;
      for (std::size_t j = 0; j < below; ++j)
        std::copy(front + (own + j) * size + own + j, front + (own + j + 1) * size, top + j * below + j);
    }
    if (below == 0) continue;
    top += below * below;
    waiting_[waiting++] = f;
  }
  return lost_.empty();
}

}  // namespace dma::joint_system
