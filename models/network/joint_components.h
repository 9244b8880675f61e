// What networks and the linear model say of rows, as parts of one mixture, and how much of it each gets.
#pragma once

#include <algorithm>
#include <cmath>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "engine/support/text.h"
#include "models/network/joint_regression.h"

namespace dma {

// What a fit has of its rows, for the files that implement it.
struct JointRegression::Fitting {
  RowData data;
  SolverForm form;
  std::function<bool(const Progress&)> on_epoch;
  std::vector<RowBeliefs> plain = {}, weighted = {};  // left out, of every member
  RowBeliefs baseline = {};
  // Of the judged rows, from networks that have not learned them; nothing where there are none.
  std::vector<RowBeliefs> held_plain = {}, held_weighted = {};
  RowBeliefs held_baseline = {};
  double baseline_score = 0;     // log density of the judged rows
  double baseline_evidence = 0;  // with constant noise
  std::size_t jobs = 1;          // of every member
  std::mutex mutex = {};         // of memory_, on_epoch and stopped, while members are learned
  bool stopped = false;

  bool is_stopped() {
    const std::lock_guard lock(mutex);
    return stopped;
  }
};

inline constexpr Index kMostTrialRows = 10000;  // that a network learns from to be tried

// Of one hidden layer 20, of two 20-20.
inline std::string units_text(const BnnShape& shape) {
  return joined(std::span(shape.layers).subspan(1, shape.layers.size() - 2), "-");
}

// Nats that the linear model is given: ten to one. Ten rows cannot tell, and then the simpler is the safer.
inline constexpr double kBenefitOfDoubt = 2.3;
inline constexpr double kLeastNetworkFraction = 1e-6;  // less is none

// Of a network that is so many nats ahead, the benefit of the doubt taken off: the probability of it against the linear
// model.
inline double fraction_of_network(double nats_ahead) {
  const double fraction = 1 / (1 + std::exp(-nats_ahead));
  if (!(fraction >= kLeastNetworkFraction)) return 0;  // or it is not a number
  return fraction > 1 - kLeastNetworkFraction ? 1 : fraction;
}

// Gives a component its own weight and takes that from the others.
inline void add_component(PredictionComponent own, std::vector<PredictionComponent>& all) {
  for (PredictionComponent& other : all) other.weight.array() *= 1 - own.weight.array();
  all.push_back(std::move(own));
}

// The weight of the fit with weighted rows: s0^2 / (s0^2 + s^2) at noise s where constant noise is s0; 1 for
// NoiseModel::inputs.
inline Matrix weighted_fraction(NoiseModel model, const SharedState& plain, const Matrix& noise) {
  if (model == NoiseModel::inputs) return Matrix::Ones(noise.rows(), noise.cols());
  Matrix fraction(noise.rows(), noise.cols());
  for (Index k = 0; k < noise.cols(); ++k) {
    const double constant = std::exp(plain.noise[static_cast<std::size_t>(k)].beta(0));
    fraction.col(k) = 1 / (1 + (noise.col(k).array() / constant).square());
  }
  return fraction;
}

// The beliefs are taken over.
inline void add_network(NoiseModel model, RowBeliefs& plain, RowBeliefs* weighted,
                        const JointRegression::Member& member, double fraction, std::vector<PredictionComponent>& all) {
  const Matrix own = weighted != nullptr ? weighted_fraction(model, member.plain, weighted->noise)
                                         : Matrix::Zero(plain.mean.rows(), plain.mean.cols());
  all.push_back(component(std::move(plain), *member.plain_posterior, fraction * (1 - own.array())));
  if (weighted != nullptr) all.push_back(component(std::move(*weighted), *member.weighted_posterior, fraction * own));
}

}  // namespace dma
