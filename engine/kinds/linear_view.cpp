#include "engine/kinds/linear_view.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/support/lent.h"

namespace dma {

namespace {

// Nodes and weights of the 9-point rule for the weight phi(t); the other half follows by symmetry.
struct Node {
  double t, weight;
};
constexpr std::array<Node, 9> kHermite = {{{0.0, 0.40634920634920634921},
                                           {1.0232556637891325, 0.24409750289493909},
                                           {-1.0232556637891325, 0.24409750289493909},
                                           {2.0768479786778302, 0.049916406765217877},
                                           {-2.0768479786778302, 0.049916406765217877},
                                           {3.2054290028564703, 0.0027891413212317675},
                                           {-3.2054290028564703, 0.0027891413212317675},
                                           {4.5127458633997826, 0.000022345844007746589},
                                           {-4.5127458633997826, 0.000022345844007746589}}};

// Rounding error is eps/h of g, truncation error h^4 of it: balanced at eps^(1/5).
constexpr double kDifference = 7.4e-4;

// g along one of its inputs, with the others fixed.
template <class G>
double difference(const G& g, double at) {
  const double step = kDifference * std::max(1.0, std::abs(at));
  const double far = (g(at + 2 * step) - g(at - 2 * step)) / (4 * step),
               near = (g(at + step) - g(at - step)) / (2 * step);
  const double fourth_order = (4 * near - far) / 3;
  if (std::isfinite(fourth_order)) return fourth_order;
  // At the end of its domain: a one-sided difference.
  const double small = 1e-4 * step, above = (g(at + small) - g(at)) / small, below = (g(at) - g(at - small)) / small;
  return std::isfinite(above) ? above : below;
}

struct Smoothed {
  double excess = 0, gain = 0, variance_gain = 0;  // E[g] - g(m), dE/dm, dE/dv
};

template <class G>
Smoothed smoothed(const G& g, double mean, double variance, double at_mean) {
  const double sd = std::sqrt(variance);
  Smoothed s;
  for (const auto& [t, weight] : kHermite) {
    const double rise = g(mean + sd * t) - at_mean;
    s.excess += weight * rise;
    s.gain += weight * t / sd * rise;
    s.variance_gain += weight * (t * t - 1) / (2 * variance) * rise;
  }
  return s;
}

}  // namespace

void LinearCall::read_slot(std::size_t slot, std::vector<double>& x, std::vector<double>& numbers) const {
  x.resize(inputs);
  for (std::size_t i = 0; i < inputs; ++i) x[i] = input(i)[slot];
  numbers.clear();
  const ParameterRow row = parameter_row(slot);
  for (std::size_t k = 0; k < parameter_count; ++k)
    for (const double number : row.terms(k)) numbers.push_back(number);
}

bool linear_in_all(std::span<const std::uint8_t>) { return true; }

LinearView numerical_linear_view(std::function<double(std::span<const double>, std::span<const double>)> function) {
  return [g = std::move(function)](const LinearCall& call) {
    Lent<double> inputs, numbers;
    std::vector<double>&x = *inputs, &p = *numbers;
    for (std::size_t s = 0; s < call.slots; ++s) {
      call.read_slot(s, x, p);
      const double at_mean = g(x, p);
      call.value[s] = at_mean;
      for (std::size_t i = 0; i < call.inputs; ++i) {
        const double mean = x[i];
        const auto along = [&](double value) {
          x[i] = value;
          const double result = g(x, p);
          x[i] = mean;
          return result;
        };
        const double variance = call.variances != nullptr ? call.variances[i * call.slots + s] : 0;
        Smoothed slope;
        if (variance > 0) slope = smoothed(along, mean, variance, at_mean);
        else if (call.gains != nullptr) slope.gain = difference(along, mean);
        call.value[s] += slope.excess;
        if (call.gains != nullptr) call.gain(i)[s] = slope.gain;
        if (call.variance_gains != nullptr) call.variance_gains[i * call.slots + s] = slope.variance_gain;
      }
    }
  };
}

// As for one output, with differences of all outputs at once.
LinearView numerical_linear_view(VectorFunction function) {
  return [g = std::move(function)](const LinearCall& call) {
    Lent<double> inputs, numbers, outputs(5 * call.outputs);
    std::vector<double>&x = *inputs, &p = *numbers;
    const std::span<double> at = std::span(*outputs).first(call.outputs);
    const auto off = [&](std::size_t k) { return std::span(*outputs).subspan((k + 1) * call.outputs, call.outputs); };
    for (std::size_t s = 0; s < call.slots; ++s) {
      call.read_slot(s, x, p);
      g(x, p, at);
      for (std::size_t o = 0; o < call.outputs; ++o) call.value[o * call.slots + s] = at[o];
      if (call.gains == nullptr) continue;
      for (std::size_t i = 0; i < call.inputs; ++i) {
        const double mean = x[i], step = kDifference * std::max(1.0, std::abs(mean));
        constexpr double kPlaces[] = {2, -2, 1, -1};
        for (std::size_t k = 0; k < 4; ++k) {
          x[i] = mean + kPlaces[k] * step;
          g(x, p, off(k));
        }
        x[i] = mean;
        for (std::size_t o = 0; o < call.outputs; ++o) {
          const double far = (off(0)[o] - off(1)[o]) / (4 * step), near = (off(2)[o] - off(3)[o]) / (2 * step);
          call.gain(i, o)[s] = (4 * near - far) / 3;
        }
      }
    }
  };
}

}  // namespace dma
