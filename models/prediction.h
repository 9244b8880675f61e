// What a regression model says about new rows: a mixture of Gaussians for every row and output.
#pragma once

#include <Eigen/Dense>
#include <tuple>
#include <vector>

#include "models/standardiser.h"

namespace dma {

struct Prediction {
  Eigen::MatrixXd mean, sd;            // of the mixture, rows x outputs; sd includes the noise
  Eigen::MatrixXd epistemic_sd;        // without the noise: what more data could remove
  Eigen::MatrixXd noise_sd;            // rows x outputs
  std::vector<Eigen::MatrixXd> means, sds;  // of each component

  // Mixes equally weighted components: means, variances without noise, noise variances.
  static Prediction mix(std::vector<Eigen::MatrixXd> means, const std::vector<Eigen::MatrixXd>& epistemic_variances,
                        const std::vector<Eigen::MatrixXd>& noise_variances);
  // The same of outputs that were standardised, in the units they had before. No variance is formed in those: its square may
  // be out of range where the standard deviation is not.
  Prediction in_units_before(const Standardiser& standardiser) const;

  // The value that the output stays below with this probability, 0 < probability < 1.
  Eigen::MatrixXd quantile(double probability) const;
  // log density of observed outputs.
  Eigen::MatrixXd log_density(const Eigen::MatrixXd& targets) const;
  // Probability mass below the observed outputs.
  Eigen::MatrixXd cumulative(const Eigen::MatrixXd& targets) const;

  // auto [mean, sd] = net.predict(X);
  template <std::size_t i>
  const Eigen::MatrixXd& get() const {
    static_assert(i < 2);
    return i == 0 ? mean : sd;
  }
};

}  // namespace dma

template <>
struct std::tuple_size<dma::Prediction> : std::integral_constant<std::size_t, 2> {};
template <std::size_t i>
struct std::tuple_element<i, dma::Prediction> {
  using type = const Eigen::MatrixXd;
};
