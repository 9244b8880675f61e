// Matrices and vectors of standard normal numbers, from a seed.
#pragma once

#include <Eigen/Dense>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <cstdint>

namespace dma::oracle {

inline Eigen::MatrixXd random_matrix(Eigen::Index rows, Eigen::Index columns, std::uint64_t seed) {
  boost::random::mt19937_64 random(seed);
  boost::random::normal_distribution<double> normal;
  Eigen::MatrixXd m(rows, columns);
  for (double& value : m.reshaped()) value = normal(random);
  return m;
}

}  // namespace dma::oracle
