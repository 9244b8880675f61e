// The factor by orthogonal transformations of the rows. Summing their squares, as fronts.cpp does, keeps only half of
// the digits: beside a difference known to 1e-6, a mean known to 1e6 is lost in rounding. QR keeps both. It is slower,
// and used only for matrices on which the other way loses digits.
#include <Eigen/Householder>
#include <algorithm>
#include <cmath>

#include "engine/joint/fronts.h"
#include "engine/support/dense.h"

namespace dma::joint_system {

namespace {

using Matrix = Eigen::MatrixXd;
using Index = Eigen::Index;

// A pivot below this fraction of its diagonal is rounding; it is the square of the rows' own precision.
constexpr double kLost = 1e-26;
constexpr Index kQrRows = 256;

// Rows of one front, gathered and reduced to at most as many as it has columns: R^T R is preserved.
class Triangle {
 public:
  explicit Triangle(Index size) : rows_(0, size) {}

  // Adds rows; add those with the largest numbers first, so that small ones are not rounded away.
  void add(const Matrix& more) {
    Matrix all(rows_.rows() + more.rows(), rows_.cols());
    all << rows_, more;
    rows_ = reduced(std::move(all));
  }
  // Makes row k the only one from k on with a number in column j. Returns false, and changes nothing, if the column is
  // rounding.
  bool take_pivot(Index k, Index j, double diagonal) {
    const Index rest = rows_.rows() - k;
    if (rest <= 0) return false;
    auto column = rows_.col(j).tail(rest);
    const double norm = column.norm();
    if (!(norm * norm > kLost * diagonal)) {
      column.setZero();
      return false;
    }
    return reflect(rows_, k, j);
  }
  const Matrix& rows() const { return rows_; }
  static Matrix reduced(Matrix m) {
    const Index kept = std::min(m.rows(), m.cols());
    if (m.rows() <= 1) return m;
    Index k = 0;
    for (Index j = 0; j < m.cols() && k < m.rows(); ++j)
      if (reflect(m, k, j)) ++k;
    return m.topRows(kept);
  }

 private:
  // Reflects the rows from k on so that only row k has a number in column j. The row with the largest number there
  // becomes row k, so that no row is mixed into much smaller ones. Returns false if the column is zero.
  static bool reflect(Matrix& m, Index k, Index j) {
    const Index rest = m.rows() - k, right = m.cols() - j;
    Index largest;
    if (m.col(j).tail(rest).cwiseAbs().maxCoeff(&largest) == 0) return false;
    if (largest != 0) m.row(k).tail(right).swap(m.row(k + largest).tail(right));
    if (rest == 1) return true;
    Eigen::VectorXd essential(rest - 1), room(right);
    double tau, beta;
    m.col(j).tail(rest).makeHouseholder(essential, tau, beta);
    m.bottomRightCorner(rest, right).applyHouseholderOnTheLeft(essential, tau, room.data());
    m.col(j).tail(rest - 1).setZero();
    return true;
  }

  Matrix rows_;
};

}  // namespace

bool Fronts::factorise_by_qr(const Rows& rows) {
  is_by_qr_ = true;
  lost_.clear();
  double* top = stack_.data();
  std::size_t waiting = 0;
  std::vector<std::pair<double, std::uint32_t>> order;
  for (std::uint32_t f = 0; f + 1 < e_->fronts.size(); ++f) {
    const Elimination::Front& shape = e_->fronts[f];
    const Index size = shape.size, own = shape.columns, below = shape.below();
    // Own rows and those of children, the largest first.
    Index count = 0;
    const double* child_top = top;
    for (std::size_t w = waiting; w > 0 && e_->fronts[waiting_[w - 1]].parent == f; --w)
      count += e_->fronts[waiting_[w - 1]].below();
    Matrix all = Matrix::Zero(count, size);
    count = 0;
    while (waiting > 0 && e_->fronts[waiting_[waiting - 1]].parent == f) {
      const Elimination::Front& child = e_->fronts[waiting_[--waiting]];
      const std::uint32_t* const place = e_->in_parent.data() + child.indices;
      child_top -= std::size_t{child.below()} * child.below();
      for (std::uint32_t i = 0; i < child.below(); ++i, ++count)
        for (std::uint32_t k = i; k < child.below(); ++k)
          all(count, place[k]) = child_top[std::size_t{i} * child.below() + k];
    }
    top = stack_.data() + (child_top - stack_.data());
    order.clear();
    for (Index i = 0; i < count; ++i)
      order.emplace_back(all.row(i).cwiseAbs().maxCoeff(), static_cast<std::uint32_t>(i));
    const std::uint32_t own_rows = static_cast<std::uint32_t>(count);
    for (std::uint32_t q = shape.rows; q < e_->fronts[f + 1].rows; ++q) {
      const std::uint32_t r = e_->rows[q];
      double largest = 0;
      for (std::uint32_t k = rows.pattern->first[r]; k < rows.pattern->first[r + 1]; ++k)
        largest = std::max(largest, std::abs(rows.values[k]));
      if (rows.weights[r] > 0 && largest > 0)
        order.emplace_back(largest * std::sqrt(rows.weights[r]), own_rows + q - shape.rows);
    }
    std::ranges::sort(order, std::greater<>());
    Triangle triangle(size);
    for (std::size_t first = 0; first < order.size();) {
      const Index some = std::min<Index>(std::max(kQrRows, size), static_cast<Index>(order.size() - first));
      Matrix chunk = Matrix::Zero(some, size);
      for (Index i = 0; i < some; ++i, ++first) {
        const std::uint32_t which = order[first].second;
        if (which < own_rows) {
          chunk.row(i) = all.row(which);
          continue;
        }
        const std::uint32_t r = e_->rows[shape.rows + which - own_rows];
        const double root = std::sqrt(rows.weights[r]);
        for (std::uint32_t k = rows.pattern->first[r]; k < rows.pattern->first[r + 1]; ++k)
          chunk(i, e_->local[k]) = root * rows.values[k];
      }
      triangle.add(chunk);
    }
    double* const panel = panels_.data() + shape.panel;
    Index k = 0;
    for (Index j = 0; j < own; ++j) {
      const std::uint32_t position = shape.first + static_cast<std::uint32_t>(j);
      double* const column = panel + j * size;
      std::fill_n(column, size, 0.0);
      if (!triangle.take_pivot(k, j, diagonal_[position])) {
        lost_.push_back(position);
        inverse_pivots_[position] = 1;
        continue;
      }
      const auto row = triangle.rows().row(k++);
      inverse_pivots_[position] = 1 / (row[j] * row[j]);
      for (Index i = j + 1; i < size; ++i) column[i] = row[i] / row[j];
    }
    if (below == 0) continue;
    const Matrix left =
        Triangle::reduced(triangle.rows().bottomRightCorner(std::max<Index>(0, triangle.rows().rows() - k), below));
    std::fill_n(top, below * below, 0.0);
    for (Index i = 0; i < left.rows(); ++i)
      for (Index c = i; c < below; ++c) top[i * below + c] = left(i, c);
    top += below * below;
    waiting_[waiting++] = f;
  }
  return lost_.empty();
}

// With Z = S^T S on every front, S square: the part below is a selection of columns of the parent's S, made triangular
// again; variances are sums of squares.
void Fronts::invert_by_qr() {
  std::vector<double> roots(e_->squares);
  for (std::size_t f = e_->fronts.size() - 1; f-- > 0;) {
    const Elimination::Front& shape = e_->fronts[f];
    const Index size = shape.size, own = shape.columns, below = shape.below();
    const Eigen::Map<const Matrix> u(panels_.data() + shape.panel, size, own);
    const Eigen::Map<const Eigen::VectorXd> inverse_pivots(inverse_pivots_.data() + shape.first, own);
    Eigen::Map<Matrix> s(roots.data() + shape.square, size, size), z(squares_.data() + shape.square, size, size);
    const Matrix inverse = unit_lower_inverse(u.topRows(own));
    s.topLeftCorner(own, own) = scaled_rows(inverse_pivots.cwiseSqrt(), inverse);
    if (below > 0) {
      const Elimination::Front& parent = e_->fronts[shape.parent];
      const Eigen::Map<const Matrix> all(roots.data() + parent.square, parent.size, parent.size);
      Matrix chosen(parent.size, below);
      for (Index i = 0; i < below; ++i)
        chosen.col(i) = all.col(e_->in_parent[shape.indices + static_cast<std::size_t>(i)]);
      s.bottomRightCorner(below, below) = Triangle::reduced(std::move(chosen));
      s.bottomLeftCorner(below, own) =
          -product_of(s.bottomRightCorner(below, below), product_of(u.bottomRows(below), inverse));
    }
    z = transposed_product(s, s);
    for (Index j = 0; j < own; ++j) variance_[e_->unknown[shape.first + static_cast<std::uint32_t>(j)]] = z(j, j);
  }
}

}  // namespace dma::joint_system
