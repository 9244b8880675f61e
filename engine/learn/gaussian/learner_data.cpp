// The examples that a GaussianLearner is given.
#include "engine/learn/gaussian/learner_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/support/text.h"

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
      fail("{}: values of variable '{}' are missing; the Gaussian learner needs all of them, Learner does not", what,
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

Matrix coded_targets(const Matrix& values, const OutputLikelihoods& likelihoods, Index outputs, std::string_view what) {
  if (likelihoods.empty()) return values;
  Matrix all = Matrix::Zero(values.rows(), outputs);
  for (Index column = 0, k = 0; k < outputs; ++column) {
    const auto& likelihood = likelihoods[static_cast<std::size_t>(k)];
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

}  // namespace dma
