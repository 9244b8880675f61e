// The examples a JointLearner is given, and what it says after learning them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/learn/joint/joint_learner_impl.h"
#include "engine/support/error.h"

namespace dma {

Matrix gather_rows(const Graph& graph, const std::vector<VariableId>& variables,
                   const std::vector<RowProgram::Table>& tables, const Data& data, std::string_view what) {
  std::vector<Matrix> parts;
  const auto add = [&](const std::string& name, auto values, Index size) {
    const auto count = static_cast<Index>(values.size());
    if (count % size != 0 || (!parts.empty() && count / size != parts[0].rows()))
      fail("{}: {} has {} values; {} for each example are expected, of as many examples as others have", what, name,
           count, size);
    Matrix& part = parts.emplace_back(count / size, size);
    for (Index i = 0; i < count; ++i)
      part(i / size, i % size) = static_cast<double>(values[static_cast<std::size_t>(i)]);
  };
  for (const VariableId v : variables) {
    const auto found = std::ranges::find(data, v, &Observations::variable);
    if (found == data.end()) fail("{}: no values of variable '{}' are given", what, graph[v].name);
    if (std::ranges::any_of(found->is_missing, [](std::uint8_t mark) { return mark != 0; }))
      fail("{}: values of variable '{}' are missing; the joint learner needs all of them, Learner does not", what,
           graph[v].name);
    add(fmt::format("variable '{}'", graph[v].name), found->values, static_cast<Index>(graph[v].size));
    if (!parts.back().allFinite())
      fail("{}: variable '{}' has a value that is not a finite number", what, graph[v].name);
  }
  for (const RowProgram::Table& table : tables) {
    const std::string name =
        fmt::format("the table of port '{}' of factor '{}'", table.port, graph[table.factor].name());
    const auto found = std::ranges::find_if(
        data.tables, [&](const Tables& t) { return t.factor == table.factor && t.port == table.port; });
    if (found == data.tables.end()) fail("{}: {} is not given", what, name);
    add(name, found->elements, static_cast<Index>(table.entries));
    if (const double highest = parts.back().maxCoeff(); highest >= table.choices)
      fail("{}: {} has an entry {}; 0 to {} are possible", what, name, highest, table.choices - 1);
  }
  Index columns = 0;
  for (const Matrix& part : parts) columns += part.cols();
  Matrix all(parts.empty() ? 0 : parts[0].rows(), columns);
  Index at = 0;
  for (const Matrix& part : parts) all.middleCols(at, part.cols()) = part, at += part.cols();
  if (data.order.empty()) return all;
  std::vector<Index> order;
  for (const std::uint32_t example : data.order) {
    if (static_cast<Index>(example) >= all.rows())
      fail("{}: the order names example {}, but there are {}", what, example, all.rows());
    order.push_back(static_cast<Index>(example));
  }
  return all(order, Eigen::all);
}

Matrix JointLearner::Impl::targets_of(const Data& examples, std::string_view what) const {
  const Matrix values = gather_rows(graph, targets, {}, examples, what);
  Matrix all = Matrix::Zero(values.rows(), program.outputs());
  for (Index column = 0, k = 0; k < all.cols(); ++column) {
    const auto& likelihood = program.likelihoods()[static_cast<std::size_t>(k)];
    for (Index i = 0; i < values.rows(); ++i) {
      const double y = values(i, column);
      if (likelihood && likelihood->observes() && !likelihood->observes()->contains(y))
        fail("{}: target '{}' is {} in row {}; {} expects {}{}", what, likelihood->target(), y, i + 1,
             likelihood->kind(), describe(*likelihood->observes()), likelihood->observes()->advice);
      if (likelihood && likelihood->is_class())
        all(i, k + static_cast<Index>(y)) = 1;
      else
        all(i, k) = y;
    }
    k += likelihood ? likelihood->reads() : 1;
  }
  return all;
}

double JointLearner::noise_variance(std::size_t output) const {
  if (output >= impl_->program.noise().size())
    fail("noise_variance: output {} is asked for, but there are {}", output, impl_->program.noise().size());
  if (const auto& likelihood = impl_->program.likelihoods()[output])
    fail("noise_variance: target '{}' has no Gaussian noise, but a likelihood of kind '{}'", likelihood->target(),
         likelihood->kind());
  if (impl_->starts.empty()) return impl_->program.noise()[output];
  double mean = 0;
  for (const Impl::Start& start : impl_->starts) mean += start.weight * std::exp(start.state.noise[output].beta(0));
  return mean;
}

std::vector<Gaussian> JointLearner::belief(VariableId shared) const {
  const Impl& l = *impl_;
  if (!l.graph[shared].shared) fail("variable '{}' is not shared: it belongs to one example", l.graph[shared].name);
  const Index first = l.program.first_scalar(shared), size = l.graph[shared].size;
  Vector mean = l.program.prior().mean.segment(first, size);
  Vector variance = l.program.prior().precision.segment(first, size).cwiseInverse();
  if (!l.starts.empty() && l.starts[0].is_fitted()) {
    mean.setZero(), variance.setZero();
    for (const Impl::Start& start : l.starts) mean += start.weight * start.mean.segment(first, size);
    for (const Impl::Start& start : l.starts) {
      Vector own = Vector::Zero(l.program.scalars());
      own(l.free()) = start.posterior.marginal_variances(*l.model_of(start), l.prior(start));
      variance += start.weight * (own.segment(first, size) + (start.mean.segment(first, size) - mean).cwiseAbs2());
    }
  }
  std::vector<Gaussian> all;
  for (Index i = 0; i < size; ++i)
    all.push_back(variance(i) > 0 ? Gaussian::from_moments(mean(i), variance(i)) : Gaussian::point(mean(i)));
  return all;
}

PredictionComponent JointLearner::Impl::part(const Start& start, RowBeliefs beliefs) const {
  const Matrix weight = Matrix::Constant(beliefs.mean.rows(), beliefs.mean.cols(), start.weight);
  return component(std::move(beliefs), start.posterior, weight, data.likelihoods);
}

Prediction JointLearner::predict(const Data& inputs) const {
  const Impl& l = *impl_;
  l.check_fitted("predict");
  const Matrix rows = gather_rows(l.graph, l.program.inputs(), l.program.tables(), inputs, "predict");
  std::vector<PredictionComponent> all;
  for (const Impl::Start& start : l.starts)
    if (start.weight > 0)
      all.push_back(
          l.part(start, start.posterior.predict(*l.model_of(start), l.prior(start), rows, l.data.has_classes())));
  return Prediction::mix(std::move(all));
}

Prediction JointLearner::left_out() const {
  const Impl& l = *impl_;
  l.check_fitted("left_out");
  if (l.starts[0].left_out.mean.size() == 0)
    fail("left_out: the examples learned so far are not kept; it is there after fit()");
  std::vector<PredictionComponent> all;
  for (const Impl::Start& start : l.starts)
    if (start.weight > 0) all.push_back(l.part(start, start.left_out));
  return Prediction::mix(std::move(all));
}

}  // namespace dma
