#include "models/table/feature_map.h"

#include <algorithm>
#include <cmath>

#include "engine/support/text.h"
#include "models/table/standardiser.h"

namespace dma {

namespace {

Eigen::RowVectorXd raw_features(double x, const std::vector<double>& centres) {
  Eigen::RowVectorXd features(static_cast<Eigen::Index>(centres.size()) + 2);
  Eigen::Index k = 0;
  features(k++) = x;
  for (const double c : centres) features(k++) = std::exp(-(x - c) * (x - c));
  features(k) = std::sin(x);
  return features;
}

// Mean and standard deviation of the features over [-5, 5], on a grid fine enough for all digits a model could see.
Standardiser over_interval(const std::vector<double>& centres) {
  constexpr int kPoints = 1001;
  Eigen::MatrixXd grid(kPoints, static_cast<Eigen::Index>(centres.size()) + 2);
  for (int i = 0; i < kPoints; ++i) grid.row(i) = raw_features(-5.0 + 10.0 * i / (kPoints - 1), centres);
  return Standardiser::of(grid);
}

}  // namespace

std::vector<std::string> FeatureMap::names() { return {"none", "bumps5", "bumps3"}; }

FeatureMap::FeatureMap(std::string name) : name_(std::move(name)) {
  const auto known = names();
  if (std::ranges::find(known, name_) == known.end()) fail("no feature map '{}'{}", name_, suggestion(name_, known));
  if (name_ == "none") return;
  centres_ = name_ == "bumps5" ? std::vector<double>{-2, -1, 0, 1, 2} : std::vector<double>{-1, 0, 1};
  const Standardiser standardiser = over_interval(centres_);
  shift_ = standardiser.shift;
  scale_ = standardiser.scale;
}

std::size_t FeatureMap::outputs(std::size_t inputs) const {
  if (name_ == "none") return inputs;
  if (inputs != 1) fail("feature map '{}' takes one input, not {}", name_, inputs);
  return centres_.size() + 3;
}

Eigen::MatrixXd FeatureMap::apply(Eigen::MatrixXd inputs) const {
  if (name_ == "none") return inputs;
  Eigen::MatrixXd features(inputs.rows(), static_cast<Eigen::Index>(outputs(static_cast<std::size_t>(inputs.cols()))));
  for (Eigen::Index i = 0; i < inputs.rows(); ++i) {
    features.row(i).head(shift_.size()) =
        ((raw_features(inputs(i, 0), centres_) - shift_).array() / scale_.array()).matrix();
    features(i, shift_.size()) = 1;
  }
  return features;
}

}  // namespace dma
