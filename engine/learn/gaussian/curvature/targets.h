// Targets seen from the outputs that they read, whatever their likelihoods: slope and curvature of the log density. A
// Gaussian or another density of one output has a curvature of its own; classes have one among all outputs they read.
#pragma once

#include "engine/learn/gaussian/program/output_likelihood.h"
#include "engine/learn/gaussian/program/row_model.h"

namespace dma {

// Rows with targets; everything per row and output is stacked, all rows of the first output first. A class is given as
// 0 or 1 for each of the outputs that it reads.
struct RowData {
  Matrix rows;          // N x inputs
  Matrix targets;       // N x outputs
  Vector weights = {};  // N; an example of weight 2 counts as two; empty: 1 for all
  OutputLikelihoods likelihoods = {};
  // Least variance of noise that the targets of an output can show, such as that of their rounding; empty: that of
  // exact data.
  Vector least_noise = {};
  Index choices = 0;  // so many columns, the last ones, choose elements of shared variables and are no quantities

  Index numbers() const { return rows.cols() - choices; }
  Index count() const { return targets.size(); }
  Vector stacked_weights() const { return weights.replicate(targets.cols(), 1); }
  // Variances of the noise of as many equal examples as each weight says, taken for one.
  Vector weighted(const Vector& noise) const {
    return weights.size() == 0 ? noise : Vector(noise.array() / stacked_weights().array());
  }
  RowData some(const std::vector<Index>& which) const {
    return {rows(which, Eigen::all),
            targets(which, Eigen::all),
            weights_of(weights, which),
            likelihoods,
            least_noise,
            choices};
  }
  bool is_gaussian(Index output) const { return likelihoods.empty() || !likelihoods[static_cast<std::size_t>(output)]; }
  // True if there are such targets.
  bool has_classes() const;
  bool has_outcomes() const;  // classes, and outcomes of 0 and 1
  bool has_gaussians() const;
};

// Calls use(first output, likelihood) for every target that is not Gaussian.
template <class Use>
void for_likelihoods(const OutputLikelihoods& all, const Use& use) {
  for (std::size_t k = 0; k < all.size(); k += all[k] ? static_cast<std::size_t>(all[k]->reads()) : 1)
    if (all[k]) use(static_cast<Index>(k), *all[k]);
}

// The sum of their log densities at outputs f, by the weights of the rows.
double other_log_density(const RowData& data, const Matrix& f);

class TargetView {
 public:
  // View of the rows from `begin` on, with outputs f; `noise`: RowData::weighted() of all rows of the data.
  TargetView(const RowData& data, const Matrix& f, const Vector& noise, Index begin = 0);

  const Matrix& slopes() const { return slopes_; }     // rows x outputs
  double log_density() const { return log_density_; }  // sum over targets that are not Gaussian
  // S^T x of every row, S S^T its curvature; the rows of x are those of one output after the other.
  Matrix in_metric(Matrix x) const;
  Matrix curvature(Index row) const;  // outputs x outputs

 private:
  const OutputLikelihoods& likelihoods_;
  Vector counts_;  // weights of the rows
  Matrix slopes_;
  Matrix bends_;  // curvatures; probabilities of classes
  double log_density_ = 0;
};

// Targets with other likelihoods, none of them a class, seen from outputs f: with w = -d^2 log f(x, y) / dx^2 they are
// Gaussian rows of residual (d log f / dx) / w and noise 1 / w. Where a density bends upwards w is nearly 0: a row far
// out in a heavy tail says almost nothing. Those of other outputs are left alone. Returns the sum of log f.
double see_as_gaussian(const RowData& data, const Matrix& f, Vector& residuals, Vector& noise);

}  // namespace dma
