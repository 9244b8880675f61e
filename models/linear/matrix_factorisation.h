// A table of numbers as a product of two narrow matrices, rows times columns, plus noise: it fills in missing entries,
// with intervals. All factors are solved jointly; their size and the noise are learned.
//
//  const Factorisation found = factorise(values, {.rank = 2});   // NaN: missing
//  found.mean(3, 5), found.sd(3, 5);                             // of the entry, without the noise
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "engine/run/report.h"

namespace dma {

struct FactorisationOptions {
  std::size_t rank = 2;
  // None: learned. Both factors have the prior N(0, factor_variance): subtract the mean from values far from 0.
  std::optional<double> noise_variance = {}, factor_variance = {};
  // Number of starts at draws from the prior; the most probable result is kept.
  int starts = 3;
  std::uint64_t seed = 1;
};

struct Factorisation {
  Eigen::MatrixXd rows, columns;  // means of the factors, up to a rotation of both
  Eigen::MatrixXd mean, sd;       // by entry, without the noise of a new observation
  double noise_variance = 0, factor_variance = 0;
  Report report;         // the last solution's
  bool settled = false;  // the variances converged
};

// An Error if there are no values, or one is infinite.
Factorisation factorise(const Eigen::MatrixXd& values, const FactorisationOptions& options = {});

}  // namespace dma
