// Tables made number by number, least-squares lines, and scores of predictions: plain functions, compiled once, since
// new Eigen expressions compile slowly.
#pragma once

#include <Eigen/Core>
#include <functional>
#include <vector>

namespace dma::oracle {

// One column, or several, from a formula for each number.
Eigen::MatrixXd filled(Eigen::Index rows, const std::function<double(Eigen::Index)>& number);
Eigen::MatrixXd filled(Eigen::Index rows, Eigen::Index columns,
                       const std::function<double(Eigen::Index, Eigen::Index)>& number);
Eigen::MatrixXd chosen(const Eigen::MatrixXd& all, const std::vector<Eigen::Index>& rows);

// Weighted least squares: a slope per column, then the intercept. Equal columns share their slope.
Eigen::VectorXd line_through(const Eigen::MatrixXd& x, const Eigen::MatrixXd& y, const Eigen::VectorXd& weights = {});
Eigen::MatrixXd on_line(const Eigen::VectorXd& line, const Eigen::MatrixXd& x);

double mean_of(const Eigen::MatrixXd& m);
double rms(const Eigen::MatrixXd& m);  // the root of the mean square
double rmse(const Eigen::MatrixXd& found, const Eigen::MatrixXd& truth);
double farthest(const Eigen::MatrixXd& found, const Eigen::MatrixXd& truth);  // the largest difference, or NaN
double inside_95(const Eigen::MatrixXd& below);  // fraction of cumulative probabilities within the central 95 %

}  // namespace dma::oracle
