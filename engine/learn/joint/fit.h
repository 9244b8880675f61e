// The outer loop of joint learning: linearise, one proximal step of all shared scalars, noise and prior scale by evidence.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "engine/learn/joint/curvature.h"
#include "engine/learn/joint/log_linear_noise.h"

namespace dma {

struct JointPrior {
  Vector mean, precision;  // per shared scalar; the precisions are multiplied by a learned scale
};

// All that changes while learning: a saved state goes on with the same bytes.
struct JointState {
  Vector mean;                        // of the shared scalars
  double scale = 1;                   // on all prior precisions
  double damping = 1;                 // mu of the next proximal step
  std::vector<LogLinearNoise> noise;  // per output
  int epoch = 0;
};

struct JointEpoch {
  int epoch = 0;
  double log_evidence = 0;  // where the epoch began
  double objective = 0;     // after its step: sum r^2 / (2 s) + sum lambda (m - m0)^2 / 2
  double effective_scalars = 0, scale = 0, damping = 0;
  bool moved = false;
};

struct JointOptions {
  int epochs = 100;
  bool learn_noise = true, learn_scale = true;
  bool noise_depends_on_inputs = false;
  int constant_noise_epochs = 30;  // before noise may depend on inputs
  double weight_exponent = 1;
  // Stop when the evidence rose by less than this many nats an epoch over the last ten.
  double least_gain = 0.02;
  std::function<bool(const JointEpoch&)> on_epoch = {};  // false stops
};

// Runs epochs on `state`; the curvature is then assembled at the final state. Returns the log evidence there.
double fit_jointly(const RowModel& model, const RowData& data, const JointPrior& prior, const JointOptions& options, JointState& state,
                   Curvature& curvature);

Vector row_noise(const JointState& state, const Matrix& rows);
// -J + sum log lambda / 2 - log |L| / 2 - sum log s / 2 and constants, at the curvature's linearisation.
double log_evidence(const JointPrior& prior, const JointState& state, const RowData& data, Curvature& curvature);

}  // namespace dma
