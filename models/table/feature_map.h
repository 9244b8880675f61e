// Fixed feature maps in front of a network. They are known by name so that a saved model can be read again.
#pragma once

#include <Eigen/Dense>
#include <string>
#include <vector>

namespace dma {

class FeatureMap {
 public:
  // "none": the inputs themselves. "bumps5" and "bumps3": the paper's maps of one input (App. E.1 and G): x, Gaussian
  // bumps exp(-(x - c)^2) at 5 centres -2..2 or 3 centres -1..1, sin x, each standardised over [-5, 5], and a constant
  // 1.
  explicit FeatureMap(std::string name = "none");

  const std::string& name() const { return name_; }
  static std::vector<std::string> names();

  // Number of features that so many inputs make; an Error if the map does not take so many.
  std::size_t outputs(std::size_t inputs) const;
  Eigen::MatrixXd apply(Eigen::MatrixXd inputs) const;

 private:
  std::string name_;
  std::vector<double> centres_;
  Eigen::RowVectorXd shift_, scale_;
};

}  // namespace dma
