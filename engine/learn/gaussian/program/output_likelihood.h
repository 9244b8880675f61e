// The likelihood of a target that is not Gaussian noise: the log density of any kind with one input x and one output y,
// as Gaussian learning needs it. Everything is derived from that density, so that a kind needs to say no more:
//
//   learning      its slope and curvature in x, by differences in steps of its own width
//   prediction    what x ~ N(mean, sd^2) makes of y: moments, density, probabilities; the density must be normalised
//                 over y, and for every x fall off on both sides of one peak
//
// Outcomes whose log odds are the inputs have all this in closed form (outcomes.h): y of 0 or 1 by one input
// (logistic), or one of K classes by K inputs (softmax). Whether a density is such a one is seen by its values.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

#include "engine/kinds/kind.h"

namespace dma {

class OutputLikelihood {
 public:
  // `kind` is copied; `target` is the name of y, for errors. An Error for classes whose log odds are not its inputs.
  OutputLikelihood(const Kind& kind, std::vector<double> parameters, std::string target, Eigen::Index reads = 1);

  const std::string& kind() const { return name_; }
  const std::string& target() const { return target_; }
  const std::optional<Domain>& observes() const { return domain_; }  // domain of y; none: all numbers
  // Number of outputs it reads: more than one are those of as many classes, which are numbered from 0.
  Eigen::Index reads() const { return reads_; }
  bool is_class() const { return reads_ > 1; }
  // True if it reads the log odds of y = 1 against 0, or those of each class.
  bool has_log_odds() const { return has_log_odds_; }
  bool is_discrete() const { return domain_ && (domain_->whole || !domain_->only.empty()); }

  // log f(x, y) and its derivatives by x, where it reads but one.
  struct Bend {
    double log_density, slope, curvature;
  };
  double log_density(double x, double y) const;
  Bend bend(double x, double y) const;

  struct Outlook {
    double mean = 0, epistemic_variance = 0, noise_variance = 0;  // Var E[y | x] and E Var[y | x]
  };
  Outlook outlook(double mean, double sd) const;
  double log_predictive(double mean, double sd, double y) const;
  double cumulative(double mean, double sd, double y) const;  // P(Y <= y)

 private:
  class Line;
  struct Weighted {
    double y, weight;
  };
  // Points that carry the distribution of y given x; their weights sum to 1. Of several neighbours one may stand for
  // all: it stands in their middle.
  std::vector<Weighted> points(double x) const;
  std::vector<Weighted> whole_points(double x) const;
  std::vector<Weighted> real_points(double x) const;
  double below(double x, double y) const;  // P(Y <= y | x)

  bool are_log_odds() const;

  std::string name_, target_;
  Eigen::Index reads_;
  bool has_log_odds_ = false;
  Kind::LogDensity log_density_;
  Kind::LogIntegral log_integral_;
  std::optional<Domain> domain_;
  std::vector<double> parameters_;
};

}  // namespace dma
