// Whether what fit() made is a model: asked before it is called a success.
#pragma once

#include <Eigen/Dense>
#include <string>
#include <string_view>

#include "models/network/bnn.h"

namespace dma {

// What to do where numbers are beyond what the priors can reach, as the end of a sentence.
std::string_view repair_of_numbers(bool standardised);

// Throws Error unless there is a weight of 0 or more for every row, and one above 0.
void check_weights(const Eigen::VectorXd& weights, Eigen::Index rows);
// The rows of a weight above 0.
std::vector<Eigen::Index> rows_that_count(const Eigen::VectorXd& weights);

// Throws Error if a belief of a weight is not proper, the noise not a positive number, or a prediction of the given
// rows not finite: such a network would be refused later, or answer nonsense.
void check_usable(const Bnn& net, const Eigen::MatrixXd& inputs);

// One line about predictions of these rows that their own uncertainty does not explain by far, as when the numbers are
// beyond what the priors can reach; empty if there is nothing to say.
std::string doubts_about(const Bnn& net, const Eigen::MatrixXd& inputs, const Eigen::MatrixXd& targets);
// The same of what was predicted already.
std::string doubts_about(const Eigen::MatrixXd& means, const Eigen::MatrixXd& sds, const Eigen::MatrixXd& targets,
                         bool standardised);

}  // namespace dma
