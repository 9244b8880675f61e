// The certificate bands of the built-in kinds.
#include <doctest/doctest.h>

#include "engine/certify/certify.h"
#include "factors/standard_registry.h"
#include "tests/oracles/relative.h"

namespace dma {

namespace {

Certificate certified(std::string_view kind, std::string_view method) {
  return certify(standard_registry().kind(kind), method, quick_certification());
}

}  // namespace

TEST_CASE("certify: conjugate factors are exact") {
  for (const char* kind : {"gaussian_prior", "gaussian_noise", "sum", "copy"}) {
    const Certificate c = certified(kind, kExact);
    INFO(c.text());
    CHECK(c.band == Band::exact);
  }
}

TEST_CASE("certify: leaky_relu matches the exact moments and is bounded in both directions") {
  const Certificate c = certified("leaky_relu", "dma");
  INFO(c.text());
  CHECK(c.band == Band::bounded);
  for (const EdgeCertificate& edge : c.edges) {
    CHECK(edge.moments.mean_error < 1e-6);
    CHECK(edge.moments.variance_error < 1e-6);
    CHECK(edge.master.largest_ratio < 1);
    CHECK(edge.master.quadrature_error > 0);  // the largest over all scenarios
    CHECK(edge.master.quadrature_error < 1e-6);
    CHECK(edge.independence.holds);
  }
}

TEST_CASE("certify: the exponential is not sent what no exponential is") {
  const Certificate c = certified("exponential", kLinearisedMethod);
  INFO(c.text());
  for (const EdgeCertificate& edge : c.edges) CHECK(edge.properness.ordinary_faults == 0);
  CHECK(c.edges.at(0).properness.faults == 0);
}

TEST_CASE("certify: product is bounded forward and concentrated backward, with rate -2") {
  const Certificate c = certified("product", "dma");
  INFO(c.text());
  CHECK(c.band == Band::concentrated);
  for (const EdgeCertificate& edge : c.edges) {
    CHECK(edge.proper == (edge.port == "z"));
    CHECK(edge.band == (edge.port == "z" ? Band::bounded : Band::concentrated));
    if (edge.port != "z") CHECK(edge.concentration.exact.exponent == oracle::relative(-2, 0.05));
    CHECK(edge.consistency.distance.exponent == oracle::relative(1, 0.07));
  }
}

TEST_CASE("certify: the certificate prints itself") {
  const Certificate c = certified("gaussian_noise", "dma");
  CHECK(c.line().starts_with("gaussian_noise (dma): exact; x exact, y exact"));
  CHECK(c.text().find("properness    0 faults") != std::string::npos);
}

}  // namespace dma
