#include "tests/oracles/scores.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "tests/oracles/plain_matrix.h"

namespace dma::oracle {

namespace {

using Eigen::Index, Eigen::MatrixXd, Eigen::VectorXd;

double with_one(const MatrixXd& x, Index n, Index j) { return j < x.cols() ? x(n, j) : 1; }

MatrixXd differences(const MatrixXd& a, const MatrixXd& b) {
  if (a.rows() != b.rows() || a.cols() != b.cols()) throw std::logic_error("tables of sizes that do not fit");
  return a - b;
}

}  // namespace

MatrixXd filled(Index rows, const std::function<double(Index)>& number) {
  return filled(rows, 1, [&](Index n, Index) { return number(n); });
}

MatrixXd filled(Index rows, Index columns, const std::function<double(Index, Index)>& number) {
  MatrixXd all(rows, columns);
  for (Index j = 0; j < columns; ++j)
    for (Index n = 0; n < rows; ++n) all(n, j) = number(n, j);
  return all;
}

MatrixXd chosen(const MatrixXd& all, const std::vector<Index>& rows) {
  return filled(std::ssize(rows), all.cols(),
                [&](Index n, Index j) { return all(rows[static_cast<std::size_t>(n)], j); });
}

VectorXd line_through(const MatrixXd& x, const MatrixXd& y, const VectorXd& weights) {
  const auto size = static_cast<std::size_t>(x.cols() + 1);
  PlainMatrix squares(size, size), products(size, 1);
  for (Index n = 0; n < x.rows(); ++n) {
    const double weight = weights.size() > 0 ? weights(n) : 1;
    for (Index i = 0; i <= x.cols(); ++i) {
      const double weighted = weight * with_one(x, n, i);
      products[static_cast<std::size_t>(i)] += weighted * y(n, 0);
      for (Index j = 0; j <= x.cols(); ++j)
        squares(static_cast<std::size_t>(i), static_cast<std::size_t>(j)) += weighted * with_one(x, n, j);
    }
  }
  const double tiny = 1e-14 * squares.trace();  // regularises equal columns and zero columns
  for (std::size_t i = 0; i < size; ++i) squares(i, i) += tiny;
  const PlainMatrix line = squares.solve(products);
  VectorXd found(x.cols() + 1);
  std::ranges::copy(line.values(), found.data());
  return found;
}

MatrixXd on_line(const VectorXd& line, const MatrixXd& x) {
  return filled(x.rows(), [&](Index n) {
    double sum = 0;
    for (Index j = 0; j <= x.cols(); ++j) sum += line(j) * with_one(x, n, j);
    return sum;
  });
}

double mean_of(const MatrixXd& m) { return m.mean(); }

double rms(const MatrixXd& m) { return std::sqrt(m.squaredNorm() / static_cast<double>(m.size())); }

double rmse(const MatrixXd& found, const MatrixXd& truth) { return rms(differences(found, truth)); }

double farthest(const MatrixXd& found, const MatrixXd& truth) { return largest_difference(found, truth); }

double inside_95(const MatrixXd& below) {
  return static_cast<double>(std::ranges::count_if(below.reshaped(), [](double p) { return p > 0.025 && p < 0.975; })) /
         static_cast<double>(below.size());
}

}  // namespace dma::oracle
