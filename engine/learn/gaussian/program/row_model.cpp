#include "engine/learn/gaussian/program/row_model.h"

#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>

#include "engine/support/dense.h"

namespace dma {

Vector SharedPrior::scaled(const Vector& factors) const {
  Vector all = precision;
  for (Index i = 0; i < all.size(); ++i)
    if (const Index g = group_of(i); g >= 0) all(i) *= factors(g);
  return all;
}

Vector SharedPrior::by_group(const Vector& of_scalars) const {
  Vector sums = Vector::Zero(group_count());
  for (Index i = 0; i < of_scalars.size(); ++i)
    if (const Index g = group_of(i); g >= 0) sums(g) += of_scalars(i);
  return sums;
}

SharedPrior SharedPrior::some(const std::vector<Index>& which) const {
  SharedPrior own{mean(which), precision(which), {}, groups};
  for (const Index i : which)
    if (!group.empty()) own.group.push_back(group[static_cast<std::size_t>(i)]);
  return own;
}

Vector draw(const SharedPrior& prior, std::uint64_t seed) {
  boost::random::mt19937_64 random(seed);
  boost::random::normal_distribution<double> normal;
  Vector m = prior.precision.cwiseSqrt().cwiseInverse();
  for (double& value : m) value *= normal(random);
  return m + prior.mean;
}

Matrix DenseGains::kernel(const Vector& variance) const {
  const Matrix scaled = scaled_columns(gains_, variance.cwiseSqrt());
  Matrix k = Matrix::Zero(gains_.rows(), gains_.rows());
  add_square(k, scaled);
  mirror_lower(k);
  return k;
}

Matrix DenseGains::kernel_with(const Gains& other, const Vector& variance) const {
  return product_by_transposed(scaled_columns(gains_, variance), dynamic_cast<const DenseGains&>(other).gains_);
}

Vector DenseGains::kernel_diagonal(const Vector& variance) const {
  return gains_.cwiseAbs2() * variance;
}

std::unique_ptr<Gains> RowModel::gains(const Vector& m, const Matrix& rows, const Vector&, Matrix& f) const {
  Matrix dense;
  linearise(m, rows, f, dense);
  return std::make_unique<DenseGains>(std::move(dense));
}

std::vector<UnitGains> RowModel::units(const Vector& m, const Matrix& rows, Matrix& f) const {
  Matrix dense;
  linearise(m, rows, f, dense);
  std::vector<UnitGains> all;
  for (Index i = 0; i < scalars(); ++i)
    all.push_back({{i}, Matrix::Ones(rows.rows(), 1), dense.col(i).reshaped(rows.rows(), outputs())});
  return all;
}

Matrix RowsOfColumns::read(const Matrix& rows) const {
  if (constants_.empty()) return rows(Eigen::all, columns_);
  Matrix all(rows.rows(), std::ssize(columns_));
  auto constant = constants_.begin();
  for (Index j = 0; j < all.cols(); ++j) {
    const Index from = columns_[static_cast<std::size_t>(j)];
    if (from >= 0)
      all.col(j) = rows.col(from);
    else
      all.col(j).setConstant(*constant++);
  }
  return all;
}

Vector PartialRows::whole(const Vector& m) const {
  Vector all = all_;
  all(free_) = m;
  return all;
}

void PartialRows::linearise(const Vector& m, const Matrix& rows, Matrix& f, Matrix& gains) const {
  Matrix of_all;
  model_.linearise(whole(m), rows, f, of_all);
  gains = of_all(Eigen::all, free_);
}

}  // namespace dma
