// Models of the noise of a table, and the variance that explains observations best.
#pragma once

#include <Eigen/Dense>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/learn/gaussian/prediction.h"
#include "models/table/standardiser.h"

namespace dma {

const std::vector<std::string>& noise_models();  // the names, in the order of the values
const std::string& name_of(NoiseModel model);
NoiseModel noise_model_named(std::string_view name);  // an Error lists the names

// The least variances of noise that standardised targets can show, by output: those of rounding. Values that are
// rounded to steps have step^2 / 12, up to a hundredth of the variance: of targets with few values, which may be codes,
// steps tell no noise. Others have the rounding of a double, and 1e-10 at least. For a target that is learned by its
// logarithm, the steps at its median count.
Eigen::VectorXd least_noise_of(const Eigen::MatrixXd& targets, const Standardiser& units);
// The step of rounded values: the power of ten that nine of ten are multiples of, or, where nine of ten values occur
// more than once, the least distance of such values if that is larger. 0: no step is seen.
double step_of(const Eigen::VectorXd& values);

// Predictions of one network for all examples, without noise.
struct ComponentPredictions {
  std::vector<double> means, variances;
};

// The b in [smallest, largest] that maximises
//
//   sum_n log (mean over components k of N(y_n; m_kn, v_kn + b))
//
// With predictions of different variances this may have several maxima, even for one component. A grid in log b, fine
// enough to tell apart what more than a factor of 2 separates, finds the highest; Brent's method the place between its
// neighbours. At least one component and one target are expected, and 0 < smallest <= largest < inf. `sum` adds over
// the examples of all workers, of which those here are some; none: there are no others.
double most_likely_noise(std::span<const ComponentPredictions> components, std::span<const double> targets,
                         double smallest, double largest, const TeamSum* sum = nullptr);

}  // namespace dma
