// The prediction of a fitted model along one input, with all others as they are in the data.
#pragma once

#include <Eigen/Dense>
#include <functional>
#include <vector>

namespace dma::report {

// Rows x outputs: what is predicted, and a standard deviation of what is not known about it (none: no columns). Many
// threads may ask at once.
struct Response {
  Eigen::MatrixXd mean, sd;
};
using Model = std::function<Response(const Eigen::MatrixXd& inputs)>;

struct Dependence {
  Eigen::VectorXd x;         // values of the input
  Eigen::MatrixXd mean, sd;  // x's x outputs
};

// Partial dependence (Friedman 2001): at every value of `x`, the mean over the rows of what the model predicts when
// their column has that value. `sd` is the mean of the rows' standard deviations: that of the mean is this where rows
// err together, and never more (the standard deviation of a sum is at most the sum of standard deviations).
Dependence partial_dependence(const Eigen::MatrixXd& rows, Eigen::Index column, const Eigen::VectorXd& x,
                              const Model& model);

// The places of a curve: the distinct values of a column if they are no more than `most`, otherwise evenly spaced from
// its 1 % to its 99 % quantile, so that one stray value does not flatten the picture.
Eigen::VectorXd dependence_grid(const Eigen::VectorXd& values, Eigen::Index most);

// The value below which a fraction p of the values lies, between neighbours linearly; of at least one value.
double quantile_of(std::vector<double> values, double p);

}  // namespace dma::report
