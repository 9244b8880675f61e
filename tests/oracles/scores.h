// Tables made number by number, lines through them, and how well a prediction fits them: plain functions, compiled
// once, where every new expression of Eigen's takes the compiler a while.
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

// Least squares, every row so many times: a slope for each column, then the value at 0. Equal columns share theirs.
Eigen::VectorXd line_through(const Eigen::MatrixXd& x, const Eigen::MatrixXd& y, const Eigen::VectorXd& weights = {});
Eigen::MatrixXd on_line(const Eigen::VectorXd& line, const Eigen::MatrixXd& x);

double mean_of(const Eigen::MatrixXd& m);
double rms(const Eigen::MatrixXd& m);  // the root of the mean square
double rmse(const Eigen::MatrixXd& found, const Eigen::MatrixXd& truth);
double farthest(const Eigen::MatrixXd& found, const Eigen::MatrixXd& truth);  // the largest difference, or NaN
double inside_95(const Eigen::MatrixXd& below);  // of cumulative probabilities, the part within 95 % in the middle

}  // namespace dma::oracle
