// The eight checks of a certificate, each a function of a kind, a method and one edge. None knows a particular factor.
#pragma once

#include <string>

#include "engine/certify/certify.h"
#include "engine/certify/scenario.h"

namespace dma {

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
// True if an edge promises the moments of its marginal; check_tilted() then takes the place of the checks against the
// exact message.
bool matches_moments(const Edge& edge);
TiltedMoments check_tilted(const Edge& edge, Scenarios scenarios, const CertifyOptions& options);
Concentration check_concentration(const Edge& edge, Scenarios scenarios, const CertifyOptions& options);

}  // namespace dma
