// Small models that several tests of joint solve.
#pragma once

#include <cmath>
#include <vector>

#include "engine/joint/joint.h"
#include "factors/standard_registry.h"

namespace dma::joint_test {

inline std::vector<std::uint32_t> steps(std::uint32_t from, std::uint32_t to) {
  std::vector<std::uint32_t> out;
  for (std::uint32_t t = from; t < to; ++t) out.push_back(t);
  return out;
}

inline double series(std::size_t t) {
  return std::sin(0.3 * static_cast<double>(t)) + 0.4 * std::cos(2.1 * static_cast<double>(t));
}

// Positions and velocities along one axis, a plate of `length` steps: p' = p + v + noise, v' = v + noise, y = p +
// noise.
struct Axis {
  static constexpr double kPrior = 4, kPosition = 0.02, kVelocity = 0.05, kNoise = 0.3;
  VariableId p, v, moved, y;

  Axis(Graph& g, std::uint32_t length, const std::string& name) {
    p = g.variable("p" + name, length);
    v = g.variable("v" + name, length);
    moved = g.variable("moved" + name, length - 1);
    y = g.observed("y" + name, length);
    const auto before = steps(0, length - 1), after = steps(1, length);
    g.factor("gaussian_prior", {gather(p, {0})}, {{"mean", 0.5}, {"variance", kPrior}});
    g.factor("gaussian_prior", {gather(v, {0})}, {{"mean", 0.0}, {"variance", kPrior}});
    g.factor("add", {gather(p, before), gather(v, before), moved});
    g.factor("gaussian_noise", {moved, gather(p, after)}, {{"variance", kPosition}});
    g.factor("gaussian_noise", {gather(v, before), gather(v, after)}, {{"variance", kVelocity}});
    g.factor("gaussian_noise", {p, y}, {{"variance", kNoise}});
  }
};

}  // namespace dma::joint_test
