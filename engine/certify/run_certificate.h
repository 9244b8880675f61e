// The errors of the messages of a run: for each edge into a variable, the distance of the message that the factor sends
// from the exact message for what arrived there, and the bound on the marginal that the master theorem makes of it.
//
// The bound is edge-local (Theorem 2.2): it takes what arrives at the factor for granted. It bounds the error of a
// whole marginal where a single message into it is approximate.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/graph/graph.h"
#include "engine/run/report.h"
#include "engine/support/text.h"

namespace dma {

class Plan;
class State;

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
