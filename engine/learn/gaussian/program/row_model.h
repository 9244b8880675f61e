// A row model is what Gaussian learning needs to know of a graph: every row's outputs as a function of the P shared
// scalars, and how they change with them. A row is all observed values of one example but its targets.
#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace dma {

using Index = Eigen::Index;
using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;

// Rows count as many times as their weights say, once where there are none.
inline double total_weight(Index rows, const Vector& weights) {
  return weights.size() == 0 ? static_cast<double>(rows) : weights.sum();
}
inline double weighted_sum(const Eigen::ArrayXd& values, const Vector& weights) {
  return weights.size() == 0 ? values.sum() : (values * weights.array()).sum();
}
inline double weight_of(const Vector& weights, Index row) { return weights.size() == 0 ? 1 : weights(row); }
inline Vector weights_of(const Vector& weights, const std::vector<Index>& which) {
  return weights.size() == 0 ? Vector() : Vector(weights(which));
}
// Weights of so many rows, then of so many more; empty: no row has one.
inline Vector joined_weights(const Vector& weights, Index rows, const Vector& of_more, Index more) {
  if (weights.size() == 0 && of_more.size() == 0) return {};
  Vector all = Vector::Ones(rows + more);
  all.head(weights.size()) = weights, all.tail(of_more.size()) = of_more;
  return all;
}

// Likelihoods of targets that are not Gaussian (output_likelihood.h), by output; null: Gaussian noise. Empty: all are.
class OutputLikelihood;
using OutputLikelihoods = std::vector<std::shared_ptr<const OutputLikelihood>>;

// The gains J = df/dm of some rows at one m, (rows * outputs) x scalars, all rows of one output after the other; a
// structured model answers without forming J. `variance` is a diagonal over the scalars.
class Gains {
 public:
  virtual ~Gains() = default;
  virtual Matrix kernel(const Vector& variance) const = 0;  // J V J^T, both triangles
  virtual Matrix kernel_with(const Gains& other,
                             const Vector& variance) const = 0;  // J V J'^T, of the same model at the same m
  virtual Vector kernel_diagonal(const Vector& variance) const = 0;
  virtual Vector forward(const Vector& scalars) const = 0;   // J u
  virtual Vector backward(const Vector& outputs) const = 0;  // J^T e
};

// J as it is.
class DenseGains final : public Gains {
 public:
  explicit DenseGains(Matrix gains) : gains_(std::move(gains)) {}
  Matrix kernel(const Vector& variance) const override;
  Matrix kernel_with(const Gains& other, const Vector& variance) const override;
  Vector kernel_diagonal(const Vector& variance) const override;
  Vector forward(const Vector& scalars) const override { return gains_ * scalars; }
  Vector backward(const Vector& outputs) const override { return gains_.transpose() * outputs; }

 private:
  Matrix gains_;
};

// Gains that belong together: that of output k in the i-th of `scalars` is up(n, k) * inputs(n, i). So it is for the
// weights of a unit of a network, which all outputs see through the unit's one value.
struct UnitGains {
  std::vector<Index> scalars;
  Matrix inputs;  // rows x scalars
  Matrix up;      // rows x outputs
};

// Scalars whose prior precisions share a factor that learning chooses by evidence: an element of a precision variable.
struct ScaleGroup {
  std::string name = {};
  Index family = -1;  // logarithms of factors of one family are drawn from N(their mean, 1); -1: of none
  std::function<double(double)> log_density = {};  // prior density of the factor; empty: flat in its logarithm
};

// Prior of every shared scalar.
struct SharedPrior {
  Vector mean, precision;
  std::vector<Index> group = {};  // by scalar; -1: its precision stays; empty: all are in one group
  std::vector<ScaleGroup> groups = {ScaleGroup{}};

  Index group_count() const { return static_cast<Index>(groups.size()); }
  Index group_of(Index scalar) const { return group.empty() ? 0 : group[static_cast<std::size_t>(scalar)]; }
  Vector scaled(const Vector& factors) const;               // the precisions times the factors of their groups
  Vector by_group(const Vector& of_scalars) const;          // sums
  SharedPrior some(const std::vector<Index>& which) const;  // prior of some scalars; groups stay
};
// One draw from it.
Vector draw(const SharedPrior& prior, std::uint64_t seed);

class RowModel {
 public:
  virtual ~RowModel() = default;
  virtual Index scalars() const = 0;
  virtual Index outputs() const = 0;
  // f, rows x outputs, at the scalars m.
  virtual void evaluate(const Vector& m, const Matrix& rows, Matrix& f) const = 0;
  // ... and J, dense.
  virtual void linearise(const Vector& m, const Matrix& rows, Matrix& f, Matrix& gains) const = 0;
  // ... and J in whatever form serves a kernel matrix best. `variance`: the diagonal it will be asked about.
  virtual std::unique_ptr<Gains> gains(const Vector& m, const Matrix& rows, const Vector& variance, Matrix& f) const;
  // Place of a value or a gain that is not a finite number, in words; empty: none, or the model cannot tell.
  virtual std::string first_fault(const Vector& /*m*/, const Matrix& /*rows*/) const { return {}; }
  // ... and J unit by unit, every scalar in one of them; by default each is a unit of its own.
  virtual std::vector<UnitGains> units(const Vector& m, const Matrix& rows, Matrix& f) const;
};

// A row model that reads some columns of the rows, and constants.
class RowsOfColumns final : public RowModel {
 public:
  // A column below 0 is the next one of the constants.
  RowsOfColumns(std::shared_ptr<const RowModel> model, std::vector<Index> columns, std::vector<double> constants = {})
      : model_(std::move(model)), columns_(std::move(columns)), constants_(std::move(constants)) {}
  Index scalars() const override { return model_->scalars(); }
  Index outputs() const override { return model_->outputs(); }
  void evaluate(const Vector& m, const Matrix& rows, Matrix& f) const override { model_->evaluate(m, read(rows), f); }
  void linearise(const Vector& m, const Matrix& rows, Matrix& f, Matrix& gains) const override {
    model_->linearise(m, read(rows), f, gains);
  }
  std::unique_ptr<Gains> gains(const Vector& m, const Matrix& rows, const Vector& variance, Matrix& f) const override {
    return model_->gains(m, read(rows), variance, f);
  }
  std::vector<UnitGains> units(const Vector& m, const Matrix& rows, Matrix& f) const override {
    return model_->units(m, read(rows), f);
  }

  std::string first_fault(const Vector& m, const Matrix& rows) const override {
    return model_->first_fault(m, read(rows));
  }

 private:
  Matrix read(const Matrix& rows) const;
  std::shared_ptr<const RowModel> model_;
  std::vector<Index> columns_;
  std::vector<double> constants_;
};

// A row model with some of its scalars held at their values.
class PartialRows final : public RowModel {
 public:
  // `all`: values of every scalar; those that are not among the free ones keep them.
  PartialRows(const RowModel& model, Vector all, std::vector<Index> free)
      : model_(model), all_(std::move(all)), free_(std::move(free)) {}
  Index scalars() const override { return static_cast<Index>(free_.size()); }
  Index outputs() const override { return model_.outputs(); }
  void evaluate(const Vector& m, const Matrix& rows, Matrix& f) const override { model_.evaluate(whole(m), rows, f); }
  void linearise(const Vector& m, const Matrix& rows, Matrix& f, Matrix& gains) const override;

 private:
  Vector whole(const Vector& m) const;
  const RowModel& model_;
  Vector all_;
  std::vector<Index> free_;
};

}  // namespace dma
