// A Certificate is what certify() found out about a kind of factor under one method: every number of every check, and
// the quality band they earn. A value: it prints itself in one line and in full.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/messages/gaussian.h"
#include "engine/support/text.h"

namespace dma {

// From the strongest promise to none. A kind is as good as the worst of its edges.
enum class Band {
  exact,    // delta = 0 to the accuracy of the quadrature in every scenario
  bounded,  // the exact message is proper: the master theorem bounds the marginal error
  matched,  // the marginal has the exact one's mean and variance, whatever arrives: expectation propagation's promise
  concentrated,  // the exact message is improper: marginal KL falls like 1/r^2 as inputs concentrate
  unbounded,     // a check failed, or nothing could be computed to check against
};
std::string_view name(Band band);  // the band in one word

// value ~ constant * x^exponent, fitted to logarithms by least squares.
struct Rate {
  double exponent = 0, uncertainty = 0;  // one standard error; inf for two points
  double constant = 0;
};
// Pairs with a value that is not positive are left out; fewer than two leave exponent 0.
Rate fit_rate(const std::vector<double>& x, const std::vector<double>& values);

// Definition 2.1 and Cor. 2.1: as the arriving messages narrow around fixed means, the message tends to the exact one.
struct Consistency {
  struct Point {
    double width = 0;     // width of the arriving messages, relative to the first point
    double distance = 0;  // to the exact limit, in the 2-Wasserstein sense, relative to the first point
    double delta = 0;     // KL to the exact message of the same width; NaN where that is not computable
  };
  std::vector<Point> points = {};
  Rate distance = {}, delta = {};  // against width
  bool holds = false;
};

// As the arriving messages widen, and once there are none, the message claims no more than the exact one.
struct Widening {
  bool is_checked = false;  // something arrives that can be widened
  double narrower = 0;      // largest standard deviation of the exact message over that of the message; 0: none is sent
  double mean_error = 0;    // largest, in standard deviations of the wider of the two
  bool holds = true;
};

// Valid messages come out, whatever arrives.
struct Properness {
  std::uint64_t count = 0, faults = 0;
  std::uint64_t ordinary_faults = 0;  // faults for arrivals such as a model sends
  std::string first_fault = {};
};

// The message does not read the message that arrives on its own edge.
struct Independence {
  double change = 0;  // largest relative change of the message as its own edge's message varies
  bool holds = false;
};

// Mean and variance against those of the exact message by adaptive quadrature.
struct Moments {
  int count = 0;
  double mean_error = 0;      // largest, in standard deviations
  double variance_error = 0;  // largest, relative
};

// KL(marginal || approximate marginal) <= sup(incoming) / Z * delta (Theorem 2.2).
struct MasterBound {
  struct Point {
    double r = 0, delta = 0, marginal = 0, bound = 0;
  };
  std::vector<Point> points = {};
  double largest_delta = 0, largest_ratio = 0;
  double quadrature_error = 0;
  bool holds = true;
};

// For a density, by a method that reads its own edge: mean and variance of the marginal against those of the density
// times what arrives, all other ports being known.
struct TiltedMoments {
  int count = 0;
  int widened = 0;            // cases whose marginal is wider than what arrives: no proper message can match
  int missing = 0;            // no message where there is a proper one
  double mean_error = 0;      // largest, in standard deviations
  double variance_error = 0;  // largest, relative
  bool holds = false;
};

// Marginal KL as the arriving messages reach signal-to-noise ratio r.
struct Concentration {
  struct Point {
    double r = 0;
    double sampled = 0, floor = 0;  // against weighted samples, and the bias of that estimate for its sample size
    double exact = 0;               // by quadrature; NaN where that is not computable
  };
  std::vector<Point> points = {};
  Rate sampled = {}, exact = {};  // against r; of `sampled` only points well above their floor
  bool holds = false;
};

struct EdgeCertificate {
  std::string port;
  bool proper = true;  // the exact message, in every scenario
  Consistency consistency = {};
  Widening widening = {};
  Properness properness = {};
  Independence independence = {};
  Moments moments = {};
  MasterBound master = {};
  Concentration concentration = {};
  TiltedMoments tilted = {};
  Band band = Band::unbounded;
  std::vector<std::string> failures = {};  // in words, empty if no check failed
};

struct Certificate {
  std::string kind = {}, method = {};
  std::vector<EdgeCertificate> edges = {};
  Band band = Band::unbounded;

  std::string line() const;  // "product (dma): concentrated; z bounded, x concentrated, ..."
  std::string text() const;  // a paragraph for each edge
};

}  // namespace dma

template <>
struct fmt::formatter<dma::Certificate> : dma::TextFormatter {
  auto format(const dma::Certificate& certificate, format_context& context) const {
    return write(certificate.line(), context);
  }
};
