// The eight checks of a certificate, each a function of a kind, a method and one edge. None knows a particular factor.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "engine/certify/certificate.h"
#include "engine/certify/scenario.h"

namespace dma {

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

// The message from a kind to one term of one of its ports.
struct Edge {
  const Kind* kind;
  std::string method;
  std::size_t port = 0, term = 0;

  std::optional<Gaussian> message(const Scenario& scenario) const;
  // Tells options.progress, if anybody listens: "product (dma) to x: moments, 3 of 24".
  void tell(const CertifyOptions& options, std::string_view check, int done = 0, int of = 0) const;
  Natural& own(Scenario& scenario) const { return scenario.arrivals[port][term]; }
};

Consistency check_consistency(const Edge& edge, Scenarios scenarios, const CertifyOptions& options);
Widening check_widening(const Edge& edge, Scenarios scenarios, const CertifyOptions& options);
Properness check_properness(const Edge& edge, Scenarios scenarios, const CertifyOptions& options);
Independence check_independence(const Edge& edge, Scenarios scenarios, const CertifyOptions& options);
// Moments and the master bound share the traced exact messages; sets edge.proper as well.
void check_against_exact(const Edge& edge, Scenarios scenarios, const CertifyOptions& options, EdgeCertificate& result);
// Whether an edge promises the moments of its marginal: then this check takes the place of those against the exact
// message.
bool matches_moments(const Edge& edge);
TiltedMoments check_tilted(const Edge& edge, Scenarios scenarios, const CertifyOptions& options);
Concentration check_concentration(const Edge& edge, Scenarios scenarios, const CertifyOptions& options);

}  // namespace dma
