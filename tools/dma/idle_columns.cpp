#include "tools/dma/idle_columns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/support/text.h"

namespace dma {

namespace {

// Another column up to shift and scale, but for rounding.
bool is_copy(const Eigen::VectorXd& a, const Eigen::VectorXd& b) {
  const auto standardised = [](const Eigen::VectorXd& v) -> Eigen::VectorXd {
    const Eigen::VectorXd centred = v.array() - v.mean();
    return centred / centred.stableNorm();
  };
  constexpr double kRounding = 1e-9;
  const Eigen::VectorXd x = standardised(a), y = standardised(b);
  return (x - y).stableNorm() < kRounding || (x + y).stableNorm() < kRounding;
}

}  // namespace

IdleColumns idle_columns(const Eigen::MatrixXd& features, const std::vector<std::string>& names) {
  const auto name = [&](Eigen::Index column) { return printable(names[static_cast<std::size_t>(column)]); };
  IdleColumns found;
  std::vector<std::string> reasons;
  for (Eigen::Index i = 0; i < features.cols(); ++i) {
    std::string reason;
    if (!(features.col(i).minCoeff() < features.col(i).maxCoeff())) reason = fmt::format("'{}' (constant)", name(i));
    for (std::size_t k = 0; reason.empty() && k < found.kept.size(); ++k)
      if (is_copy(features.col(i), features.col(found.kept[k])))
        reason = fmt::format("'{}' (as '{}')", name(i), name(found.kept[k]));
    if (reason.empty())
      found.kept.push_back(i);
    else
      reasons.push_back(std::move(reason));
  }
  if (!reasons.empty())
    found.text = fmt::format("columns ignored, because they say nothing new: {}", fmt::join(reasons, ", "));
  return found;
}

}  // namespace dma
