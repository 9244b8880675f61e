// Certificates detect defects: one deliberately wrong factor per defect.
#include <doctest/doctest.h>

#include <cmath>

#include "engine/certify/certify.h"
#include "engine/kinds/kind.h"
#include "engine/support/text.h"
#include "tests/oracles/relative.h"

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
  CHECK(edge.moments.variance_error == oracle::relative(1.0, 1e-6));
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

namespace {

// y = tanh(x), whose message to y has the exact moments unless x is unknown.
Kind tanh_that_says(const Gaussian& of_nothing) {
  const auto to_output = [of_nothing](const Gaussian& x) {
    if (x.is_uniform()) return of_nothing;
    if (x.is_point()) return Gaussian::point(std::tanh(x.mean()));
    double mass = 0, mean = 0, square = 0;
    for (double u = -8; u <= 8; u += 1e-3) {
      const double weight = std::exp(-0.5 * u * u), y = std::tanh(x.mean() + u * x.sd());
      mass += weight, mean += weight * y, square += weight * y * y;
    }
    mean /= mass;
    return Gaussian::from_moments(mean, std::max(square / mass - mean * mean, 1e-300));
  };
  return kind("bent", "y = tanh(x)")
      .input("x")
      .output("y")
      .function([](std::span<const double> v, std::span<const double>) { return std::tanh(v[0]); })
      .message("dma", "y", to_output)
      .message("dma", "x", [](const Gaussian&) { return Gaussian::uniform(); });
}

EdgeCertificate last_edge(const Kind& kind) {
  return certify(kind, "dma", {.scenarios = 4, .sweep = 20, .widths = 3, .samples = 0, .tolerance = 1e-5}).edges.back();
}

}  // namespace

TEST_CASE("certify: what is said of nothing may not be more than the exact message of wide arrivals says") {
  for (const double sd : {0.907, 0.3}) {
    const EdgeCertificate sure = last_edge(tanh_that_says(Gaussian::from_moments(0, sd * sd)));
    CAPTURE(sd);
    CHECK_FALSE(sure.widening.holds);
    CHECK(sure.widening.narrower > 1.05);
    CHECK(sure.band == Band::unbounded);
    CHECK(sure.failures.front().find("says something when nothing arrives") != std::string::npos);
  }
  CHECK(last_edge(tanh_that_says(Gaussian::uniform())).widening.holds);
  // x of y = 3 x: where nothing is known of y, nothing is of x.
  const EdgeCertificate prior = edge_to_x(
      with_message_to_x([](const Gaussian& y) { return y.is_uniform() ? Gaussian::from_moments(0, 1) : to_x(y); }));
  CHECK_FALSE(prior.widening.holds);
}

TEST_CASE("certify: a likelihood whose value is a point is judged by its moments, as no arrival narrows") {
  // y - x is Gumbel distributed: as a function of x, of mean y - 0.5772 and variance pi^2 / 6.
  const auto gumbel = [](double euler) {
    return kind("gumbel", "y = x + Gumbel noise")
        .input("x")
        .output("y")
        .log_density([](std::span<const double> v, std::span<const double>) {
          const double z = v[1] - v[0];
          return -z - std::exp(-z);
        })
        .message("dma", "x",
                 [euler](const Gaussian& y) { return Gaussian::from_moments(y.mean() - euler, 1.6449340668482264); });
  };
  const EdgeCertificate right = last_edge(gumbel(0.5772156649015329));
  CAPTURE(joined(right.failures));
  CHECK(right.band == Band::bounded);
  CHECK(right.consistency.holds);
  CHECK(last_edge(gumbel(0)).band == Band::unbounded);
  // An exact one.
  const Kind noise = kind("unit_noise", "N(y; x, 1)")
                         .input("x")
                         .output("y")
                         .log_density([](std::span<const double> v, std::span<const double>) {
                           return -0.5 * (v[1] - v[0]) * (v[1] - v[0]);
                         })
                         .message("dma", "x", [](const Gaussian& y) { return Gaussian::from_moments(y.mean(), 1); });
  CHECK(last_edge(noise).band == Band::exact);
}

TEST_CASE("certify: what a port may not observe is not sent to it") {
  const Kind positive = kind("positive", "y = 3 x, y positive")
                            .input("x")
                            .output("y")
                            .observes("y", above(0) & finite())
                            .function([](std::span<const double> v, std::span<const double>) { return kGain * v[0]; })
                            .message("dma", "y", &to_y)
                            .message("dma", "x", [](const Gaussian& y) {
                              const bool is_refused = y.is_point() && !(y.mean() > 0);
                              return is_refused ? Gaussian(std::nan(""), 1.0) : to_x(y);
                            });
  const EdgeCertificate edge = edge_to_x(positive);
  CHECK(edge.properness.faults == 0);
  CHECK(edge.band == Band::exact);
}

TEST_CASE("certify: an exception of a user's function is named") {
  const Kind kind = with_message_to_x([](const Gaussian&) -> Gaussian { throw std::runtime_error("boom"); });
  CHECK_THROWS_WITH_AS(static_cast<void>(certify(kind, "dma")), doctest::Contains("kind 'triple', method 'dma'"),
                       Error);
  CHECK_THROWS_WITH_AS(static_cast<void>(certify(kind, "dma")), doctest::Contains("message to 'x' threw"), Error);
  CHECK_THROWS_WITH_AS(static_cast<void>(certify(kind, "dma")), doctest::Contains("boom"), Error);
}

TEST_CASE("certify: an unknown method is an Error that names the known ones") {
  CHECK_THROWS_WITH_AS(static_cast<void>(certify(with_message_to_x(&to_x), "dmaa")), doctest::Contains("dma"),
                       std::runtime_error);
}

}  // namespace dma
