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

#include "engine/certify/certificate.h"
#include "engine/certify/checks.h"
#include "engine/kinds/registry.h"
#include "engine/support/parallel.h"

namespace dma {

// Throws Error if the kind has no message of this method, or one of its functions throws: the error names it.
Certificate certify(const Kind& kind, std::string_view method, const CertifyOptions& options = {});

// One certificate for each method that a kind has messages of its own for; a kind whose messages are all exact has one.
std::vector<Certificate> certify_all_methods(const Kind& kind, const CertifyOptions& options = {});

// The same for every kind of a registry, in its order; on so many threads.
std::vector<Certificate> certify_all_methods(const Registry& registry, const CertifyOptions& options = {},
                                             std::size_t jobs = all_processors());

// The registry's table, and a line for each kind and method with the band it has just earned.
std::string describe_with_bands(const Registry& registry, const CertifyOptions& options = quick_certification(),
                                std::size_t jobs = all_processors());

}  // namespace dma
