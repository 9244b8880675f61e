// Vectors and matrices in JSON: packed numbers (packed_numbers.h).
#pragma once

#include <Eigen/Dense>

#include "models/files/readable_json.h"
#include "models/table/standardiser.h"

namespace dma {

Json packed_vector(const Eigen::VectorXd& v);
Eigen::VectorXd packed_vector_from(const Json& json);

Json packed_matrix(const Eigen::MatrixXd& m);
Eigen::MatrixXd packed_matrix_from(const Json& json);

// The lower triangle, column by column; an Error for numbers that make no triangle.
Json packed_triangle(const Eigen::MatrixXd& lower);
Eigen::MatrixXd packed_triangle_from(const Json& json);

// Numbers that people read.
Json to_json(const Standardiser& s);
Standardiser standardiser_from(const Json& json);

}  // namespace dma
