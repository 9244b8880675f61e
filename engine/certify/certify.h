// certify/: how good the messages of a kind, or of a run, are. May include run/ and what lies below it.
//
// Certifies the messages of a kind of factor against what the kind says it is, before or after it is registered:
//
//   fmt::print("{}\n", certify(my_kind, "dma"));
//
// Checks on every edge (checks.h): consistency, widening, properness, independence, moments, the master bound,
// concentration; or, for a density by a method that reads its own edge (expectation propagation), properness and the
// moments of the marginal. The band is earned: any failed check leaves the edge unbounded. A method that reads its own
// edge is outside Definition 2.1, so consistency is measured for it but not required.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/graph/graph.h"
#include "engine/messages/gaussian.h"
#include "engine/run/run.h"
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

// The findings of certify() about a kind of factor under one method: every number of every check, and the quality band
// they earn. A value: it prints itself in one line and in full.
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

namespace dma {

class Kind;
class Registry;

struct CertifyOptions {
  std::uint64_t seed = 1;
  // Ordinary scenarios whose exact messages are integrated; each costs up to a few hundred milliseconds.
  int scenarios = 24;
  // Messages computed from extreme arrivals.
  int sweep = 100'000;
  // Points of the narrowing of Definition 2.1, between width 1 and 1/1000.
  int widths = 7;
  // Points of the signal-to-noise sweep, between r = 2 and 64, and samples of each; 0: by quadrature alone.
  int ratios = 6;
  int samples = 500'000;
  // Relative accuracy of the exact messages' masses.
  double tolerance = 1e-9;
  // Told what is about to be checked, several times a second to every few seconds: "leaky_relu (dma) to x: moments, 3
  // of 24". Certificates of several kinds call it from several threads.
  std::function<void(const std::string&)> progress = {};
};

// For a table of bands: a fraction of the work, the same checks.
inline CertifyOptions quick_certification() {
  return {.scenarios = 3, .sweep = 200, .widths = 3, .ratios = 3, .samples = 0, .tolerance = 1e-5};
}

// Throws Error if the kind has no message of this method, or one of its functions throws: the error names it.
Certificate certify(const Kind& kind, std::string_view method, const CertifyOptions& options = {});

// One certificate for each method that a kind has messages of its own for; a kind whose messages are all exact has one.
std::vector<Certificate> certify_all_methods(const Kind& kind, const CertifyOptions& options = {});

// The same for every kind of a registry, in its order; on so many threads, 0: one for each processor.
std::vector<Certificate> certify_all_methods(const Registry& registry, const CertifyOptions& options = {},
                                             std::size_t jobs = 0);

// The registry's table, and a line for each kind and method with the band it has just earned.
std::string describe_with_bands(const Registry& registry, const CertifyOptions& options = quick_certification(),
                                std::size_t jobs = 0);

class Plan;
class State;

// The errors of the messages of a run: for each edge into a variable, the distance of the message that the factor sends
// from the exact message for what arrived there, and the bound on the marginal that the master theorem makes of it.
//
// The bound is edge-local (Theorem 2.2): it takes what arrives at the factor for granted. It bounds the error of a
// whole marginal where a single message into it is approximate.
struct RunCertificateOptions {
  // Integrals over more variables than this are not attempted; such edges only have their r.
  std::size_t dimensions = 1;
  // Relative accuracy of the integrals.
  double tolerance = 1e-7;
  // Edges of one variable are certified up to this number, evenly spread; 0: all.
  std::size_t limit = 0;
};

// The message from one slot of a factor to one element of a variable.
struct EdgeError {
  Place place;
  std::string kind;
  double r = 0;                         // smallest |mean| / sd that arrived; inf: all point masses
  std::optional<double> delta = {};     // KL(exact message || message), nats; none: not proper, or not computed
  std::optional<double> bound = {};     // on the marginal KL: sup(incoming) / Z * delta
  std::optional<double> marginal = {};  // the local marginal KL itself; exists for improper exact messages too
};

struct RunCertificate {
  std::vector<EdgeError> edges = {};

  const EdgeError* worst() const;  // the largest bound; null if none could be computed
  // "largest bound 0.03 nats, at leaky_relu hidden1[3].x; 312 of 1932 product edges have no bound and r < 2"
  std::string line() const;
  std::string text() const;  // the line, and a row for each edge
};

// For the messages the factors send for what arrives at them now (after a converged run: those they sent).
// Precondition: run() has been called on the state.
RunCertificate certificate(const Plan& plan, const State& state, VariableId variable,
                           const RunCertificateOptions& options = {});
// For all edges of the graph.
RunCertificate certificate(const Plan& plan, const State& state, const RunCertificateOptions& options = {});

}  // namespace dma

template <>
struct fmt::formatter<dma::RunCertificate> : dma::TextFormatter {
  auto format(const dma::RunCertificate& certificate, format_context& context) const {
    return write(certificate.line(), context);
  }
};
