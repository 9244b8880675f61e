// Prediction of new rows by a regression model: for every row and output a mixture of Gaussians, whose noise may have
// the tails of Student's t, or such a mixture of the output's logarithm, or what a likelihood of another kind makes of
// them.
#pragma once

#include <Eigen/Core>
#include <memory>
#include <tuple>
#include <vector>

namespace dma {

// Noise with the tails of Student's t, as a mixture of Gaussians of different widths: t_nu with squared scale s is the
// mixture of N(0, s / omega) over omega ~ Gamma(nu/2, rate nu/2).
struct StudentTails {
  double degrees = 1e300;  // nu; 1e300 and all above kGaussian: the Gaussian itself
  double scale = 1;        // squared, relative to the noise it refines

  static constexpr double kGaussian = 1e6, kLeastDegrees = 2.1;
  bool gaussian() const { return degrees >= kGaussian; }  // true if the tails are not heavy

  struct Width {
    double probability, variance;  // variance: relative to the Gaussian noise it refines
  };
  // Narrow enough for eight digits of the density within what one row in 10^7 exceeds.
  std::vector<Width> widths() const;
  // Variance relative to the noise it refines; degrees > 2.
  double variance() const { return gaussian() ? scale : scale * degrees / (degrees - 2); }
};

// The tails that make the errors most likely: errors[n] is Gaussian error of the given variance plus noise that the
// tails refine. Each counts as many times as its weight says, if there are weights.
StudentTails most_likely_tails(const Eigen::VectorXd& errors, const Eigen::VectorXd& variances,
                               const Eigen::VectorXd& noise, const Eigen::VectorXd& weights = {});

class OutputLikelihood;  // program/output_likelihood.h; the list is described in program/row_model.h
using OutputLikelihoods = std::vector<std::shared_ptr<const OutputLikelihood>>;

// Noise that is the same in all rows; its logarithm linear in the inputs; or, with `choose`, a fit of each kind, shared
// row by row.
enum class NoiseModel { choose, constant, inputs };

// Prediction by one model; all rows x outputs.
struct PredictionComponent {
  Eigen::MatrixXd mean, epistemic_sd;
  Eigen::MatrixXd noise_sd;              // before the tails
  Eigen::MatrixXd weight = {};           // in the mixture; empty: the same for all components
  std::vector<StudentTails> tails = {};  // tails of the noise, per output; empty: Gaussian
  // For an output with a likelihood of another kind, mean and epistemic_sd are those of what it reads, and noise and
  // tails mean nothing; if it reads log odds, they are those of the outcome (1 or 0; of a class, each of its columns).
  OutputLikelihoods likelihoods = {};
  std::vector<bool> is_log = {};  // per output: all numbers are of its logarithm; empty: of none. Alike in a mixture
};

// Components for some rows alone.
std::vector<PredictionComponent> rows_of(const std::vector<PredictionComponent>& components, Eigen::Index begin,
                                         Eigen::Index rows);
std::vector<PredictionComponent> rows_of(std::vector<PredictionComponent> components,
                                         const std::vector<Eigen::Index>& which);

// Log density of all targets under a mixture, a block of rows after the other: of a million rows it is larger than the
// table. Here and below a row counts as many times as its weight says, if there are weights.
double score_of(const std::vector<PredictionComponent>& components, const Eigen::MatrixXd& targets,
                const Eigen::VectorXd& weights = {});

// Noise of another shape than the tails can take, as one row in ten that is shifted, may leave too many rows outside
// the likeliest tails. Returns the least factor on the noise of an output, from 1 on, with which 95 % intervals hold
// 94.5 % of the targets or more.
double covering_factor(const std::vector<PredictionComponent>& components, const Eigen::MatrixXd& targets,
                       Eigen::Index output, const Eigen::VectorXd& weights = {});

// The factor on the noise of an output, 0.01 to 10^4, that makes these targets most likely under the mixture.
// Components that differ have a spread of their own; noise learned by each of them alone counts it once more. Less than
// 1 it is doubted as if 100 more targets had said 1: few rows that happen to lie close must not narrow all others. No
// noise falls below the least variance by it.
double likeliest_factor(const std::vector<PredictionComponent>& components, const Eigen::MatrixXd& targets,
                        Eigen::Index output, const Eigen::VectorXd& weights = {}, double least_noise = 0);

struct Prediction {
  Eigen::MatrixXd mean, sd;      // moments of the mixture, rows x outputs; sd includes the noise
  Eigen::MatrixXd epistemic_sd;  // without the noise: what more data could remove
  Eigen::MatrixXd noise_sd;      // rows x outputs
  std::vector<PredictionComponent> components;

  static Prediction mix(std::vector<PredictionComponent> components);  // by the weights they have
  // Mixes equally weighted components: means, variances without noise, noise variances.
  static Prediction mix(std::vector<Eigen::MatrixXd> means, const std::vector<Eigen::MatrixXd>& epistemic_variances,
                        const std::vector<Eigen::MatrixXd>& noise_variances);
  // The same of outputs that were standardised, in the units they had before. No variance is formed in those: its
  // square may be out of range where the standard deviation is not. Units have undo() for values and undo_scale() for
  // deviations.
  template <class Units>
  Prediction in_units_before(const Units& units) const {
    Prediction p{
        units.undo(mean), units.undo_scale(sd), units.undo_scale(epistemic_sd), units.undo_scale(noise_sd), {}};
    for (const PredictionComponent& c : components)
      p.components.push_back(
          {units.undo(c.mean), units.undo_scale(c.epistemic_sd), units.undo_scale(c.noise_sd), c.weight, c.tails});
    return p;
  }
  // The outputs, from components that tell of their logarithms.
  static Prediction of_logarithms(Prediction logarithms, const std::vector<bool>& is_log);

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
