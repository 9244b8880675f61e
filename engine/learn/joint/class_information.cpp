#include "engine/learn/joint/class_information.h"

#include <algorithm>

#include "engine/support/dense.h"

namespace dma {

namespace {

constexpr Index kLabelledRowsPerBlock = 512;

// Of n labelled rows from `begin` on.
std::span<const Index> classes_in(const ClassData& data, Index begin, Index n) {
  return std::span(data.classes).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(n));
}
Vector weights_in(const ClassData& data, Index begin, Index n) {
  return data.weights.size() == 0 ? Vector() : Vector(data.weights.segment(begin, n));
}

void append_order(const std::vector<UnitGains>& units, std::vector<Index>& order) {
  for (const UnitGains& unit : units) order.insert(order.end(), unit.scalars.begin(), unit.scalars.end());
}

}  // namespace

std::vector<Index> unit_order(const RowModel& model, Index inputs) {
  Matrix ignored;
  std::vector<Index> order;
  append_order(model.units(Vector::Zero(model.scalars()), Matrix::Zero(1, inputs), ignored), order);
  return order;
}

Vector ClassFactor::variances() const {
  ThreadPool alone(1);
  Vector all(lower.rows());
  all(order) = squared_columns(triangular_inverse(lower, alone));
  return all;
}

ClassInformation::ClassInformation(const RowModel& model, const ClassData& data, const Vector& m, ThreadPool& pool)
    : pool_(&pool), information_(Matrix::Zero(m.size(), m.size())), gradient_(Vector::Zero(m.size())) {
  Matrix logits;
  for (Index begin = 0; begin < data.rows.rows(); begin += kLabelledRowsPerBlock) {
    const Index n = std::min(kLabelledRowsPerBlock, data.rows.rows() - begin);
    const auto units = model.units(m, data.rows.middleRows(begin, n), logits);
    if (order_.empty()) append_order(units, order_);
    add(units, logits, classes_in(data, begin, n), weights_in(data, begin, n));
  }
}

void ClassInformation::add(const std::vector<UnitGains>& units, const Matrix& logits, std::span<const Index> classes,
                           const Vector& weights) {
  const Matrix p = class_probabilities(logits);
  Matrix residuals = class_gradient(p, classes, logits.cols());
  const bool has_weights = weights.size() > 0;
  if (has_weights) residuals = scaled_rows(weights, residuals);
  const Vector roots = weights.cwiseSqrt();
  log_likelihood_ += dma::class_log_likelihood(logits, classes, weights);
  std::vector<Matrix> ups;
  for (const UnitGains& unit : units) {
    ups.push_back(in_class_metric(unit.up, p));
    if (has_weights) ups.back() = scaled_rows(roots, ups.back());
    gradient_(unit.scalars) += transposed_times(unit.inputs, row_products(unit.up, residuals));
  }
  const Index n = logits.rows(), size = information_.rows();
  std::vector<Index> firsts;
  for (std::size_t i = 0, first = 0; i < units.size(); first += units[i++].scalars.size())
    firsts.push_back(static_cast<Index>(first));
  pool_->run(units.size(), [&](std::size_t i) {
    const Index begin = firsts[i];
    Matrix below(n, size - begin);
    Index at = 0;
    for (std::size_t j = i; j < units.size(); ++j) {
      const Index width = units[j].inputs.cols();
      below.middleCols(at, width) = scaled_rows(row_products(ups[i], ups[j]), units[j].inputs);
      at += width;
    }
    add_transposed_product(information_.block(begin, begin, size - begin, units[i].inputs.cols()), below,
                           units[i].inputs);
  });
}

Matrix ClassInformation::with(const Vector& lambda) const {
  Matrix precision = information_;
  precision.diagonal() += lambda(order_);
  return precision;
}

Vector ClassInformation::step(const Vector& lambda, const Vector& g) const {
  Matrix precision = with(lambda);
  factorise(precision, *pool_);
  Vector solved = g(order_);
  solve_by_factor(precision, solved);
  Vector by_scalar(g.size());
  by_scalar(order_) = solved;
  return by_scalar;
}

ClassFactor ClassInformation::factor(const Vector& lambda) const {
  ClassFactor factor{with(lambda), order_};
  factorise(factor.lower, *pool_);
  factor.lower.triangularView<Eigen::StrictlyUpper>().setZero();
  return factor;
}

double class_log_likelihood(const RowModel& model, const ClassData& data, const Vector& m) {
  constexpr Index kRows = 8192;
  double sum = 0;
  Matrix logits;
  for (Index begin = 0; begin < data.rows.rows(); begin += kRows) {
    const Index n = std::min(kRows, data.rows.rows() - begin);
    model.evaluate(m, data.rows.middleRows(begin, n), logits);
    sum += class_log_likelihood(logits, classes_in(data, begin, n), weights_in(data, begin, n));
  }
  return sum;
}

}  // namespace dma
