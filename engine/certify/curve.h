// A density on the line, traced once by adaptive quadrature: nodes and weights that every later integral reuses.
#pragma once

#include <functional>
#include <vector>

#include "engine/messages/gaussian.h"

namespace dma {

// A place to look at: a point and a length. Tracing starts from panels of a few lengths around each.
struct Hint {
  double centre = 0, scale = 1;
};

struct TraceOptions {
  // Each panel is halved until its estimated error is below this fraction of the whole mass.
  double tolerance = 1e-9;
  int depth = 16;
  // The mass of f * weight is resolved as well as that of f, for each of these.
  std::vector<Gaussian> weights = {};
};

class Curve {
 public:
  struct Node {
    double x, weight, value;  // integral of h f = sum of weight * value * h(x)
  };
  std::vector<Node> nodes = {};
  // True if the integral of f is finite. Measured: beyond the nodes the mass of each decade of distance is added up,
  // and f is improper if decade after decade holds about as much as the one before.
  bool proper = true;
  double mass = 0;
  double tail = 0;   // mass of the outermost decade looked at, relative to `mass`: what an improper f hides
  double error = 0;  // estimated, of the mass, relative

  template <class H>
  double integral(const H& h) const {
    double sum = 0;
    for (const Node& node : nodes) sum += node.weight * node.value * h(node.x);
    return sum;
  }
  double mean() const;
  double variance() const;
  // The curve f(x) g(x), on the same nodes.
  Curve times(const Gaussian& g) const;
  // KL(f / mass || q) in nats, q proper.
  double kl(const Gaussian& q) const;
};

// Precondition: f >= 0, finite, and at least one hint near its mass.
Curve trace(const std::function<double(double)>& f, const std::vector<Hint>& hints, const TraceOptions& options = {});

}  // namespace dma
