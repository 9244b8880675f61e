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
#include <string>
#include <string_view>
#include <vector>

#include "engine/certify/certificate.h"

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

}  // namespace dma
