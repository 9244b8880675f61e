// Matrices of a few rows by plain loops: an oracle that shares no linear algebra with the engine, and that compiles
// quickly, unlike new Eigen expressions.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <vector>

namespace dma::oracle {

class PlainMatrix {
 public:
  PlainMatrix() = default;
  PlainMatrix(std::size_t rows, std::size_t columns, double value = 0)
      : rows_(rows), columns_(columns), values_(rows * columns, value) {}
  PlainMatrix(std::initializer_list<std::initializer_list<double>> rows);
  PlainMatrix(const Eigen::MatrixXd& m);  // implicit, like the next: engine results are compared
  PlainMatrix(const Eigen::VectorXd& v);
  static PlainMatrix identity(std::size_t size);
  static PlainMatrix column(std::span<const double> values);
  static PlainMatrix column(std::initializer_list<double> values) { return column(std::span(values)); }

  std::size_t rows() const { return rows_; }
  std::size_t columns() const { return columns_; }
  const std::vector<double>& values() const { return values_; }  // row by row
  double& operator()(std::size_t i, std::size_t j) { return values_[i * columns_ + j]; }
  double operator()(std::size_t i, std::size_t j) const { return values_[i * columns_ + j]; }
  double& operator[](std::size_t i) { return values_[i]; }
  double operator[](std::size_t i) const { return values_[i]; }

  PlainMatrix& operator+=(const PlainMatrix& other) { return add(1, other); }
  PlainMatrix& operator-=(const PlainMatrix& other) { return add(-1, other); }
  PlainMatrix transpose() const;
  PlainMatrix block(std::size_t row, std::size_t column, std::size_t rows, std::size_t columns) const;
  PlainMatrix segment(std::size_t first, std::size_t size) const { return block(first, 0, size, 1); }
  void set_segment(std::size_t first, const PlainMatrix& part);

  PlainMatrix solve(PlainMatrix right) const;  // this^-1 right, by elimination with pivots
  PlainMatrix inverse() const { return solve(identity(rows_)); }
  double determinant() const;
  PlainMatrix lower_root() const;  // L, with L L^T = this; NaN where it is not positive definite
  double norm() const;
  double trace() const;
  PlainMatrix row(std::size_t i) const { return block(i, 0, 1, columns_); }
  PlainMatrix diagonal() const;    // as a column
  double log_determinant() const;  // for a positive definite matrix
  Eigen::MatrixXd matrix() const;
  Eigen::VectorXd vector() const;  // for a single column

 private:
  PlainMatrix& add(double times, const PlainMatrix& other);

  std::size_t rows_ = 0, columns_ = 0;
  std::vector<double> values_;
};

PlainMatrix operator*(const PlainMatrix& a, const PlainMatrix& b);
PlainMatrix operator*(double times, PlainMatrix a);
inline PlainMatrix operator+(PlainMatrix a, const PlainMatrix& b) { return a += b; }
inline PlainMatrix operator-(PlainMatrix a, const PlainMatrix& b) { return a -= b; }
double dot(const PlainMatrix& a, const PlainMatrix& b);
double largest_size(const PlainMatrix& a);  // largest absolute value; NaN if one is NaN
double largest_difference(const PlainMatrix& a, const PlainMatrix& b);
PlainMatrix diagonal_matrix(const PlainMatrix& column);
PlainMatrix weighted_square(const PlainMatrix& a, const PlainMatrix& weights);  // a^T diagonal_matrix(weights) a

}  // namespace dma::oracle
