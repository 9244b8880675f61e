#include "tests/oracles/plain_matrix.h"

#include <cmath>
#include <stdexcept>
#include <utility>

namespace dma::oracle {

namespace {

void expect(bool fits) {
  if (!fits) throw std::logic_error("matrices of sizes that do not fit");
}

// Reduces the rows of `a` to a triangle and applies the same to `b`; returns the determinant of `a`.
double eliminate(PlainMatrix& a, PlainMatrix& b) {
  double determinant = 1;
  for (std::size_t k = 0; k < a.rows(); ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < a.rows(); ++i)
      if (std::abs(a(i, k)) > std::abs(a(pivot, k))) pivot = i;
    if (pivot != k) {
      for (std::size_t j = 0; j < a.columns(); ++j) std::swap(a(k, j), a(pivot, j));
      for (std::size_t j = 0; j < b.columns(); ++j) std::swap(b(k, j), b(pivot, j));
      determinant = -determinant;
    }
    determinant *= a(k, k);
    for (std::size_t i = k + 1; i < a.rows(); ++i) {
      const double factor = a(i, k) / a(k, k);
      for (std::size_t j = k; j < a.columns(); ++j) a(i, j) -= factor * a(k, j);
      for (std::size_t j = 0; j < b.columns(); ++j) b(i, j) -= factor * b(k, j);
    }
  }
  return determinant;
}

}  // namespace

PlainMatrix::PlainMatrix(std::initializer_list<std::initializer_list<double>> rows)
    : rows_(rows.size()), columns_(rows.size() == 0 ? 0 : rows.begin()->size()) {
  for (const auto& row : rows) {
    expect(row.size() == columns_);
    values_.insert(values_.end(), row.begin(), row.end());
  }
}

PlainMatrix::PlainMatrix(const Eigen::MatrixXd& m)
    : PlainMatrix(static_cast<std::size_t>(m.rows()), static_cast<std::size_t>(m.cols())) {
  for (std::size_t i = 0; i < rows_; ++i)
    for (std::size_t j = 0; j < columns_; ++j)
      (*this)(i, j) = m(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j));
}

PlainMatrix::PlainMatrix(const Eigen::VectorXd& v)
    : rows_(static_cast<std::size_t>(v.size())), columns_(1), values_(v.data(), v.data() + v.size()) {}

PlainMatrix PlainMatrix::identity(std::size_t size) {
  PlainMatrix one(size, size);
  for (std::size_t i = 0; i < size; ++i) one(i, i) = 1;
  return one;
}

PlainMatrix PlainMatrix::column(std::span<const double> values) {
  PlainMatrix column(values.size(), 1);
  column.values_.assign(values.begin(), values.end());
  return column;
}

PlainMatrix PlainMatrix::transpose() const {
  PlainMatrix t(columns_, rows_);
  for (std::size_t i = 0; i < rows_; ++i)
    for (std::size_t j = 0; j < columns_; ++j) t(j, i) = (*this)(i, j);
  return t;
}

PlainMatrix PlainMatrix::block(std::size_t row, std::size_t column, std::size_t rows, std::size_t columns) const {
  expect(row + rows <= rows_ && column + columns <= columns_);
  PlainMatrix part(rows, columns);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) part(i, j) = (*this)(row + i, column + j);
  return part;
}

void PlainMatrix::set_segment(std::size_t first, const PlainMatrix& part) {
  expect(columns_ == 1 && part.columns_ == 1 && first + part.rows_ <= rows_);
  for (std::size_t i = 0; i < part.rows_; ++i) values_[first + i] = part[i];
}

PlainMatrix PlainMatrix::solve(PlainMatrix right) const {
  expect(rows_ == columns_ && right.rows_ == rows_);
  PlainMatrix a = *this;
  eliminate(a, right);
  for (std::size_t k = rows_; k-- > 0;)
    for (std::size_t j = 0; j < right.columns_; ++j) {
      for (std::size_t i = k + 1; i < rows_; ++i) right(k, j) -= a(k, i) * right(i, j);
      right(k, j) /= a(k, k);
    }
  return right;
}

double PlainMatrix::determinant() const {
  expect(rows_ == columns_);
  PlainMatrix a = *this, nothing(rows_, 0);
  return eliminate(a, nothing);
}

PlainMatrix PlainMatrix::lower_root() const {
  expect(rows_ == columns_);
  PlainMatrix root(rows_, rows_);
  for (std::size_t i = 0; i < rows_; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      double left = (*this)(i, j);
      for (std::size_t k = 0; k < j; ++k) left -= root(i, k) * root(j, k);
      root(i, j) = i == j ? std::sqrt(left) : left / root(j, j);
    }
  return root;
}

double PlainMatrix::norm() const { return std::sqrt(dot(*this, *this)); }

double PlainMatrix::trace() const {
  double sum = 0;
  for (std::size_t i = 0; i < rows_; ++i) sum += (*this)(i, i);
  return sum;
}

PlainMatrix& PlainMatrix::add(double times, const PlainMatrix& other) {
  expect(rows_ == other.rows_ && columns_ == other.columns_);
  for (std::size_t i = 0; i < values_.size(); ++i) values_[i] += times * other.values_[i];
  return *this;
}

PlainMatrix operator*(const PlainMatrix& a, const PlainMatrix& b) {
  expect(a.columns() == b.rows());
  PlainMatrix c(a.rows(), b.columns());
  for (std::size_t i = 0; i < a.rows(); ++i)
    for (std::size_t k = 0; k < a.columns(); ++k)
      for (std::size_t j = 0; j < b.columns(); ++j) c(i, j) += a(i, k) * b(k, j);
  return c;
}

PlainMatrix operator*(double times, PlainMatrix a) {
  for (std::size_t i = 0; i < a.values().size(); ++i) a[i] *= times;
  return a;
}

double dot(const PlainMatrix& a, const PlainMatrix& b) {
  expect(a.values().size() == b.values().size());
  double sum = 0;
  for (std::size_t i = 0; i < a.values().size(); ++i) sum += a[i] * b[i];
  return sum;
}

PlainMatrix PlainMatrix::diagonal() const {
  expect(rows_ == columns_);
  PlainMatrix d(rows_, 1);
  for (std::size_t i = 0; i < rows_; ++i) d[i] = (*this)(i, i);
  return d;
}

double PlainMatrix::log_determinant() const {
  const PlainMatrix root = lower_root();
  double sum = 0;
  for (std::size_t i = 0; i < rows_; ++i) sum += 2 * std::log(root(i, i));
  return sum;
}

Eigen::MatrixXd PlainMatrix::matrix() const {
  Eigen::MatrixXd m(rows_, columns_);
  for (std::size_t i = 0; i < rows_; ++i)
    for (std::size_t j = 0; j < columns_; ++j)
      m(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) = (*this)(i, j);
  return m;
}

Eigen::VectorXd PlainMatrix::vector() const {
  expect(columns_ == 1);
  Eigen::VectorXd v(rows_);
  for (std::size_t i = 0; i < rows_; ++i) v[static_cast<Eigen::Index>(i)] = values_[i];
  return v;
}

double largest_size(const PlainMatrix& a) {
  double largest = 0;
  for (const double value : a.values())
    if (!(std::abs(value) <= largest) && !std::isnan(largest)) largest = std::abs(value);
  return largest;
}

double largest_difference(const PlainMatrix& a, const PlainMatrix& b) { return largest_size(a - b); }

PlainMatrix diagonal_matrix(const PlainMatrix& column) {
  expect(column.columns() == 1);
  PlainMatrix m(column.rows(), column.rows());
  for (std::size_t i = 0; i < column.rows(); ++i) m(i, i) = column[i];
  return m;
}

PlainMatrix weighted_square(const PlainMatrix& a, const PlainMatrix& weights) {
  expect(weights.rows() == a.rows() && weights.columns() == 1);
  PlainMatrix square(a.columns(), a.columns());
  for (std::size_t n = 0; n < a.rows(); ++n)
    for (std::size_t i = 0; i < a.columns(); ++i)
      for (std::size_t j = 0; j < a.columns(); ++j) square(i, j) += weights[n] * a(n, i) * a(n, j);
  return square;
}

}  // namespace dma::oracle
