// Densities under a moment-matching method are judged by the moments of the marginal.
#include "engine/certify/certify.h"
#include "engine/certify/curve.h"
#include "factors/authoring/from_function.h"
#include "factors/likelihoods/greater_than.h"
#include "tests/oracles/solved.h"

namespace dma {

namespace {

// greater_than with a custom message.
template <class F>
Certificate certified(const F& message) {
  return certify(kind("above", "x > 0")
                     .input("x")
                     .log_density([](std::span<const double> v, std::span<const double>) {
                       return GreaterThan::log_density(v[0], {0});
                     })
                     .message("ep", "x", message, from("x")),
                 "ep", quick_certification());
}

Gaussian right(const Gaussian& x) { return GreaterThan::to_x(x, {0}); }

}  // namespace

TEST_CASE("certify: a comparison whose marginal has the tilted moments is matched") {
  const Certificate c = certified(&right);
  INFO(c.text());
  CHECK(c.band == Band::matched);
  CHECK(c.edges[0].tilted.count > 0);
  CHECK(c.edges[0].tilted.mean_error < 1e-4);
  CHECK(c.text().find("marginal      matched") != std::string::npos);
}

TEST_CASE("certify: a comparison with a doubled mean shift, or a wrong variance, is not") {
  const Certificate shifted = certified([](const Gaussian& x) {
    if (!x.is_proper()) return Gaussian::uniform();
    const Gaussian belief = x * right(x);
    if (!(belief.rho > x.rho)) return Gaussian::uniform();
    const double mean = 2 * belief.mean() - x.mean();
    return Gaussian(mean * belief.rho - x.tau, belief.rho - x.rho);
  });
  INFO(shifted.text());
  CHECK(shifted.band == Band::unbounded);
  CHECK(shifted.edges[0].tilted.mean_error > 0.1);
  CHECK(shifted.edges[0].tilted.variance_error < 1e-4);
  CHECK(shifted.line().find("the marginal's mean is off by") != std::string::npos);
  const Certificate wide = certified([](const Gaussian& x) { return Gaussian(power(right(x), 0.5)); });
  CHECK(wide.band == Band::unbounded);
  CHECK(wide.edges[0].tilted.variance_error > 0.01);
}

TEST_CASE("certify: the built-in likelihoods are matched for any observation") {
  const Registry registry = standard_registry();
  for (const char* name :
       {"probit", "greater_than", "within", "logistic", "poisson", "student_t_noise", "multinomial", "ordered"}) {
    const Certificate c = certify(registry.kind(name), "ep", quick_certification());
    INFO(c.text());
    CHECK(c.band == Band::matched);
    for (const EdgeCertificate& edge : c.edges) CHECK(edge.tilted.count > 0);
  }
}

TEST_CASE("certify: a curve with its own noise is halved to a limit, and its error includes that") {
  // Like a derivative by differences near a pole.
  std::int64_t calls = 0;
  const auto noisy = [&calls](double x) {
    ++calls;
    return std::exp(-0.5 * x * x) * (1 + 0.3 * std::sin(1e9 * x));
  };
  const Curve curve = trace(noisy, {{0, 1}}, {.tolerance = 1e-9});
  CHECK(calls < 150'000);  // 19 million without the limit
  CHECK(curve.mass == oracle::relative(std::sqrt(2 * std::numbers::pi), 1e-4));
  CHECK(curve.error > 1e-9);
}

TEST_CASE("certify: a curve without a place to look at, and one that is nowhere a number, have no mass") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto bell = [](double x) { return std::exp(-0.5 * x * x); };
  for (const Hint hint : {Hint{nan, 1}, Hint{0, nan}, Hint{HUGE_VAL, 1}}) {
    const Curve nothing = trace(bell, {hint});
    CHECK((!nothing.proper && nothing.mass == 0));
    CHECK(trace(bell, {hint, {}}).mass == doctest::Approx(std::sqrt(2 * std::numbers::pi)));
  }
  CHECK(!trace([nan](double) { return nan; }, {{}}).proper);
}

TEST_CASE("certify: a listener receives the progress") {
  int told = 0;
  const Kind tanh = factor_from_function("tanh", [](double x) { return std::tanh(x); });
  CertifyOptions options{.scenarios = 1, .sweep = 10, .widths = 2, .ratios = 2, .samples = 0};
  options.progress = [&](const std::string& text) {
    ++told;
    CHECK(text.starts_with("tanh (linearised) to "));
  };
  const Certificate c = certify(tanh, "linearised", options);
  CHECK(c.edges.size() == 2);
  CHECK(told > 5);
}

}  // namespace dma
