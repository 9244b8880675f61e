// A table of numbers as a product of two narrow ones, rows times columns, and noise: what is missing of it is filled
// in, with intervals. All factors are solved jointly; how large they are and how much noise there is, is learned.
//
//   const Factorisation found = factorise(values, {.rank = 2});   // NaN: missing
//   found.mean(3, 5), found.sd(3, 5);                             // of the entry, without the noise
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "engine/run/report.h"

namespace dma {

struct FactorisationOptions {
  std::size_t rank = 2;
  // None: learned. Both factors have the prior N(0, factor_variance): numbers that lie far from 0 are better given
  // without their mean.
  std::optional<double> noise_variance = {}, factor_variance = {};
  // Solved from that many draws of the prior, of which the most probable end is kept.
  int starts = 3;
  std::uint64_t seed = 1;
};

struct Factorisation {
  Eigen::MatrixXd rows, columns;  // means of the factors; any rotation of both is as good
  Eigen::MatrixXd mean, sd;       // of all entries; an entry observed anew has the noise besides
  double noise_variance = 0, factor_variance = 0;
  Report report;         // of the last solution
  bool settled = false;  // the variances no longer changed
};

// An Error if nothing is seen, or a value is infinite.
Factorisation factorise(const Eigen::MatrixXd& values, const FactorisationOptions& options = {});

}  // namespace dma
