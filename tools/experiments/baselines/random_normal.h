// Standard normal numbers from a 64-bit seed, the same with every standard library.
#pragma once

#include <Eigen/Dense>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/uniform_01.hpp>
#include <cstdint>

namespace dma::baselines {

class RandomNormal {
 public:
  explicit RandomNormal(std::uint64_t seed) : random_(seed) {}
  double operator()() { return normal_(random_); }
  double uniform() { return uniform_(random_); }
  Eigen::VectorXd vector(Eigen::Index size) {
    Eigen::VectorXd values(size);
    for (double& value : values) value = normal_(random_);
    return values;
  }

 private:
  boost::random::mt19937_64 random_;
  boost::random::normal_distribution<double> normal_;
  boost::random::uniform_01<double> uniform_;
};

}  // namespace dma::baselines
