// Random situations in which a factor is tried: what arrives at it, and its parameters.
#pragma once

#include <boost/random/mersenne_twister.hpp>
#include <boost/random/uniform_01.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/kinds/evaluate.h"

namespace dma {

struct Scenario {
  Arrivals arrivals;
  std::vector<double> parameters;
};

// "x: N(1, 2^2); slope 0.3"
std::string describe(const Scenario& scenario, const Kind& kind);

class Scenarios {
 public:
  Scenarios(const Kind& kind, std::size_t terms, std::uint64_t seed) : kind_(&kind), terms_(terms), engine_(seed) {}

  // Messages such as a model sends: sd log-uniform in [0.3, 3], |mean| / sd log-uniform in [0.5, 7] (of a logarithm: sd
  // in [0.1, 0.6], mean in [-2, 2]), parameters of ordinary size within their domains. The output's mean is drawn
  // beside what the function makes of the input means, so that the arriving messages do not contradict each other.
  Scenario ordinary();
  // Anything an edge may carry: uniform, point masses, zero means, natural parameters over nearly the whole range of a
  // double; parameters up to the ends of their domains. A point mass lies where the port may be observed.
  Scenario extreme();
  Natural any_message();
  Gaussian ordinary_message(const PortSpec& port);
  double uniform(double low = 0, double high = 1) { return low + (high - low) * unit_(engine_); }
  std::size_t terms() const { return terms_; }

 private:
  double log_uniform(double low, double high);
  double sign() { return uniform() < 0.5 ? -1 : 1; }
  double parameter(const Domain& domain, bool far);
  std::vector<double> parameters(bool far);
  template <class Draw>
  Arrivals draw(const Draw& draw_message, bool far);

  const Kind* kind_;
  std::size_t terms_;
  boost::random::mt19937_64 engine_;
  boost::random::uniform_01<double> unit_;
};

// z = g(inputs) at the means of what arrives, for a kind with a function.
double function_at_means(const Kind& kind, const Scenario& scenario);

// The smallest |mean| / sd among the arrivals a message to this edge is made from: the paper's r. Inf if all are point
// masses or none arrives.
double signal_to_noise(const Kind& kind, const Scenario& scenario, std::size_t port, std::size_t term);

}  // namespace dma
