// Rows drawn from many, the same for the same seed.
#pragma once

#include <Eigen/Dense>
#include <boost/random/mersenne_twister.hpp>
#include <cstdint>
#include <vector>

namespace dma::report {

// `most` of the rows 0, ..., rows - 1 in their order, each subset as likely as any other; all of them if they are no
// more.
std::vector<Eigen::Index> sample_rows(Eigen::Index rows, Eigen::Index most, std::uint64_t seed);

// An order of the numbers 0, ..., count - 1, each as likely as any other.
std::vector<Eigen::Index> shuffled(Eigen::Index count, boost::random::mt19937_64& random);

}  // namespace dma::report
