// Certificates detect defects: one deliberately wrong factor per defect.
#include <doctest/doctest.h>

#include "engine/certify/certify.h"

namespace dma {

namespace {

// y = 3 x, with correct messages unless a test replaces one.
constexpr double kGain = 3;
Gaussian to_y(const Gaussian& x) { return scaled(x, kGain); }
Gaussian to_x(const Gaussian& y) { return scaled(y, 1 / kGain); }

Kind triple() {
  return kind("triple", "y = 3 x")
      .input("x")
      .output("y")
      .function([](std::span<const double> v, std::span<const double>) { return kGain * v[0]; });
}

Kind with_message_to_x(Gaussian (*message)(const Gaussian&)) {
  return triple().message("dma", "y", &to_y).message("dma", "x", message);
}

CertifyOptions options() { return {.scenarios = 6, .sweep = 2000, .widths = 4, .samples = 0, .tolerance = 1e-7}; }

EdgeCertificate edge_to_x(const Kind& kind) { return certify(kind, "dma", options()).edges.at(0); }

}  // namespace

TEST_CASE("certify: a correct linear factor is exact") {
  const Certificate c = certify(with_message_to_x(&to_x), "dma", options());
  INFO(c.text());
  CHECK(c.band == Band::exact);
  for (const EdgeCertificate& edge : c.edges) CHECK(edge.failures.empty());
}

TEST_CASE("certify: a wrong variance is caught by moments and by consistency") {
  const EdgeCertificate edge = edge_to_x(with_message_to_x(
      [](const Gaussian& y) { return Gaussian::from_moments(to_x(y).mean(), 2 * to_x(y).variance()); }));
  CHECK(edge.moments.variance_error == doctest::Approx(1.0).epsilon(1e-6));
  CHECK(edge.moments.mean_error < 1e-6);
  CHECK_FALSE(edge.consistency.holds);
  CHECK(edge.band == Band::unbounded);
}

TEST_CASE("certify: a wrong mean is caught by moments and by consistency") {
  const EdgeCertificate edge = edge_to_x(with_message_to_x(
      [](const Gaussian& y) { return Gaussian::from_moments(1.1 * to_x(y).mean(), to_x(y).variance()); }));
  CHECK(edge.moments.mean_error > 0.01);
  CHECK_FALSE(edge.consistency.holds);
  CHECK(edge.band == Band::unbounded);
}

TEST_CASE("certify: dependence on its own edge is measured") {
  const auto shrunk = [](const Gaussian& x, const Gaussian& y) {
    return Gaussian::from_moments(to_x(y).mean(), to_x(y).variance() * (1 + 0.1 / (1 + x.rho)));
  };
  const Kind kind = triple().message("dma", "y", &to_y).message("dma", "x", shrunk, from("x", "y"));
  const EdgeCertificate edge = edge_to_x(kind);
  CHECK_FALSE(edge.independence.holds);
  CHECK(edge.independence.change > 1e-3);
  CHECK(certify(kind, "dma", options()).edges.at(1).independence.holds);
}

TEST_CASE("certify: a negative precision is counted, with the arrivals that made it") {
  const EdgeCertificate edge = edge_to_x(with_message_to_x([](const Gaussian& y) {
    const Gaussian x = to_x(y);
    return y.mean() < -2 ? Gaussian(-x.tau, -x.rho) : x;
  }));
  CHECK(edge.properness.ordinary_faults > 0);
  CHECK(edge.properness.first_fault.find("y: ") != std::string::npos);
  CHECK(edge.band == Band::unbounded);
}

TEST_CASE("certify: a NaN at an extreme is counted") {
  const EdgeCertificate edge = edge_to_x(with_message_to_x([](const Gaussian& y) {
    const Gaussian x = to_x(y);
    return Gaussian(x.tau * x.tau * x.tau / (x.tau * x.tau), x.rho);  // overflow and underflow give inf/inf and 0/0
  }));
  CHECK(edge.properness.ordinary_faults == 0);
  CHECK(edge.properness.faults > 0);
  CHECK(edge.band == Band::unbounded);
}

TEST_CASE("certify: a factor that sends point masses has no bound") {
  const EdgeCertificate edge =
      edge_to_x(with_message_to_x([](const Gaussian& y) { return Gaussian::point(to_x(y).mean()); }));
  CHECK(edge.master.largest_delta == kInfinity);
  CHECK(edge.band == Band::unbounded);
}

TEST_CASE("certify: an error that does not fall like 1/r^2 is caught where the exact message is improper") {
  const auto wide = [](const Gaussian& y, const Gaussian& z) {
    if (!y.is_proper() || !z.is_proper()) return Gaussian::uniform();
    const double mean = z.mean() / y.mean();
    return Gaussian::from_moments(
        mean, 3 * mean * mean * (1 / (y.mean() * y.mean() * y.rho) + 1 / (z.mean() * z.mean() * z.rho)));
  };
  const Kind times = kind("times", "z = x y")
                         .input("x")
                         .input("y")
                         .output("z")
                         .function([](std::span<const double> v, std::span<const double>) { return v[0] * v[1]; })
                         .message("dma", "x", wide, from("y", "z"));
  const EdgeCertificate edge = edge_to_x(times);
  CHECK_FALSE(edge.proper);
  CHECK_FALSE(edge.concentration.holds);
  CHECK(edge.concentration.exact.exponent > -1);
  CHECK(edge.band == Band::unbounded);
}

TEST_CASE("certify: an unknown method is an Error that names the known ones") {
  CHECK_THROWS_WITH_AS(static_cast<void>(certify(with_message_to_x(&to_x), "dmaa")), doctest::Contains("dma"),
                       std::runtime_error);
}

}  // namespace dma
