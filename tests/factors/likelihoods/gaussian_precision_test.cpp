#include "factors/likelihoods/gaussian_precision.h"

#include <random>

#include "tests/oracles/high_precision.h"
#include "tests/oracles/solved.h"

namespace {

using oracle::digamma, oracle::Real;

// log x - digamma(x) = gap: by the secant method on the reciprocal, which is nearly linear in x.
Real shape_of_gap(const Real& gap) {
  const auto off = [&](const Real& x) -> Real { return 1 / (log(x) - digamma(x)) - 1 / gap; };
  Real last = 0.5 / gap, x = 1.1 * last, last_off = off(last), x_off = off(x);
  for (int i = 0; i < 30 && x_off != last_off && abs(x - last) > 1e-57 * x; ++i) {
    const Real next = x - x_off * (x - last) / (x_off - last_off);
    last = x, last_off = x_off, x = next, x_off = off(x);
  }
  CHECK(abs(x_off) * gap < 1e-45);
  return x;
}

// EP's messages by definition, by the trapezoidal rule in log w and sixty digits: on the range, found in doubles, where
// the integrand is within exp(-100) of its maximum, with steps of a fraction of its least width.
struct ExactTilt {
  Real shape, rate, log_mass;  // the precision's message; log of the integral
  Real end_tau, end_rho;       // the message to `mean`
  ExactTilt(const Gaussian& mean, const Gamma& precision, const Gaussian& value) {
    const Real a = Real(precision.tau) + 1, b = precision.rho, m = oracle::exact(mean).mean, v = 1 / Real(mean.rho);
    const Real o = value.is_point() ? Real(value.tau) : oracle::exact(value).mean;
    const Real ov = value.is_point() ? Real(0) : 1 / Real(value.rho), square = (m - o) * (m - o);
    const auto log_weight = [&](const Real& u, const Real& w) -> Real {
      const Real spread = v + ov + 1 / w;
      return a * u - b * w - (log(spread) + square / spread) / 2;
    };
    const auto rough_shape = static_cast<double>(a), rough_rate = static_cast<double>(b),
               rough_square = static_cast<double>(square), rough_variance = static_cast<double>(v + ov);
    const auto roughly = [&](double u) {
      const double spread = rough_variance + std::exp(-u);
      return rough_shape * u - rough_rate * std::exp(u) - (std::log(spread) + rough_square / spread) / 2;
    };
    // Peaks lie between a / (b + d^2 / 2) and (a + 1/2) / b, and the weight's width is at least 1 / sqrt(a + 1/2).
    double low = std::log(rough_shape / (rough_rate + rough_square / 2)), at = low;
    double high = std::log((rough_shape + 0.5) / rough_rate), highest = -kInfinity;
    for (int i = 0; i <= 400; ++i)
      if (const double u = low + (high - low) * i / 400, l = roughly(u); l > highest) highest = l, at = u;
    const double width = 1 / std::sqrt(rough_shape + 1);
    for (const double start : {low, at, high})
      for (const int side : {-1, 1}) {
        double d = 0.5 * width, u = start;
        while (roughly(u) > highest - 100) u += side * d, d *= 1.2;
        low = std::min(low, u), high = std::max(high, u);
      }
    const double step = std::min(0.3 * width, 0.25);
    const Real best = log_weight(at, exp(Real(at)));
    Real mass = 0, first = 0, logs = 0, end = 0, end_square = 0;
    for (int i = 0; low + i * step <= high; ++i) {
      if (roughly(low + i * step) < highest - 111) continue;
      const Real u = low + i * Real(step), w = exp(u), p = exp(log_weight(u, w) - best) * step;
      const Real k = 1 / (v + ov + 1 / w), given = m + v * k * (o - m);
      mass += p, first += p * w, logs += p * u;
      end += p * given, end_square += p * (given * given + v * (1 - v * k));
    }
    const Real own = shape_of_gap(log(first / mass) - logs / mass);
    shape = own - a, rate = own / (first / mass) - b;
    log_mass = log(mass) + best - oracle::log_gamma(a) + a * log(b) - log(2 * oracle::pi()) / 2;
    const Real variance = end_square / mass - (end / mass) * (end / mass);
    end_rho = 1 / variance - Real(mean.rho), end_tau = end / mass / variance - Real(mean.tau);
  }
};

}  // namespace

TEST_CASE("gaussian_precision: the messages of EP and the log integral are those of sixty digits, at every shape") {
  double worst = 0, worst_end = 0, worst_mass = 0;
  const auto check = [&](const Gaussian& mean, const Gamma& precision, const Gaussian& value) {
    INFO("mean.mean() ", mean.mean(), ", mean.variance() ", mean.variance(), ", precision.shape() ", precision.shape(),
         ", precision.rate() ", precision.rate(), ", value.mean() ", value.mean(), ", value.variance() ",
         value.variance());
    const ExactTilt exact(mean, precision, value);
    const auto own = GaussianPrecision::Ep::to_precision(mean, precision, value);
    CHECK_FALSE(own.replaced);
    // The scale of one observation's message: a shape of 1/2, a rate of that times the scale of 1 / w.
    const double shape = std::abs(static_cast<double>(Real(own.tau) - exact.shape)) / std::max(0.5, std::abs(own.tau));
    const double rate = std::abs(static_cast<double>(Real(own.rho) - exact.rate)) /
                        std::max(0.5 * precision.rate() / precision.shape(), std::abs(own.rho));
    CHECK(shape < 1e-9);
    CHECK(rate < 1e-9);
    const double found = GaussianPrecision::log_integral(std::vector<Natural>{mean, precision, value});
    const double mass = static_cast<double>(abs(Real(found) - exact.log_mass));
    CHECK(mass < 1e-11 * (1 + std::abs(static_cast<double>(exact.log_mass))));
    const auto to_mean = GaussianPrecision::Ep::to_mean(mean, precision, value);
    double end = 0;
    if (exact.end_rho > 0) {
      CHECK_FALSE(to_mean.replaced);
      const Real off = abs(Real(to_mean.tau) - exact.end_tau) / (abs(exact.end_tau) + sqrt(exact.end_rho));
      end = std::max(oracle::relative_error(to_mean.rho, exact.end_rho), static_cast<double>(off));
      CHECK(end < 1e-9);
    } else {
      CHECK(to_mean.replaced);
    }
    worst = std::max({worst, shape, rate});
    worst_end = std::max(worst_end, end), worst_mass = std::max(worst_mass, mass);
  };
  for (const double shape : {0.01, 0.7, 30.0, 1e4, 1e6, 1e8})
    for (const double residual : {0.3, 2.5, 40.0}) {
      const Gamma precision = Gamma::from_shape_and_rate(shape, 2 * shape);  // w about 1/2
      check(Gaussian::from_moments(0, 1 / (shape + 1)), precision, Gaussian::point(residual));
      check(Gaussian::from_moments(0, 3), precision, Gaussian::from_moments(residual, 0.2));
    }
  // Two peaks, far apart and close; a shelf between 1 / s and the peak.
  check(Gaussian::from_moments(0, 1e-4), Gamma::from_shape_and_rate(12, 1e-5), Gaussian::point(0.15));
  check(Gaussian::from_moments(0, 1), Gamma::from_shape_and_rate(100, 12.5), Gaussian::point(std::sqrt(54 * 12.5)));
  check(Gaussian::from_moments(0, 1e8), Gamma::from_shape_and_rate(0.02, 1e-3), Gaussian::point(1));
}

TEST_CASE("gaussian_precision: a known precision is gaussian_noise, and an unknown one gives uniform messages") {
  const Gaussian x = Gaussian::from_moments(1, 2), y = Gaussian::from_moments(3, 0.5);
  const Gamma known(4.0, kInfinity);
  const Gaussian ep = GaussianPrecision::Ep::to_value(x, known, y);
  CHECK(ep.mean() == doctest::Approx(1));
  CHECK(ep.variance() == doctest::Approx(2.25));
  CHECK(GaussianPrecision::Ep::to_value(Gaussian::uniform(), known, y).is_uniform());
  CHECK(GaussianPrecision::Vmp::to_value(Gaussian::uniform(), known, y).is_uniform());
  CHECK(GaussianPrecision::Vmp::to_value(x, Gamma(), Gaussian::uniform()).is_uniform());
  CHECK(GaussianPrecision::Ep::to_precision(x, Gamma(2, 3), Gaussian::uniform()).is_uniform());
}

TEST_CASE("gaussian_precision: many observations settle at the default tolerance, on the exact answer") {
  // The strong prior equals 20,000 observations: messages are differences of large shapes from the first on.
  for (const bool strong : {false, true}) {
    const std::size_t n = strong ? 800 : 100;
    const double shape = strong ? 1e4 : 1, rate = strong ? 4e4 : 1;
    CAPTURE(n);
    std::mt19937 random(5);
    std::normal_distribution<double> normal;
    std::vector<double> data;
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i < n; ++i) {
      data.push_back(1 + 2 * normal(random));
      sum += data[i], squares += data[i] * data[i];
    }
    Graph g;
    const auto m = g.variable("m"), w = g.variable("w", 1, "gamma"), y = g.observed("y", n);
    g.factor("gaussian_prior", {m}, {{"mean", 0.0}, {"variance", 100.0}});
    g.factor("gamma_prior", {w}, {{"shape", shape}, {"rate", rate}});
    g.factor("gaussian_precision", {all_to_one(m), all_to_one(w), y}, {}, {.method = "ep"});
    const Plan plan = compile(g, sequential(), standard_registry());
    State state(plan);
    state.observe(y, data);
    const Report report = run(plan, state);
    CHECK(report.converged());
    // Given w the mean is Gaussian; one integral over w remains.
    const double count = static_cast<double>(n);
    const auto log_p = [&](double v) {
      const double rho = 0.01 + v * count, tau = v * sum;
      return (shape - 1) * std::log(v) - rate * v + shape * std::log(rate) - std::lgamma(shape) +
             0.5 * count * std::log(v / (2 * M_PI)) - 0.5 * v * squares + 0.5 * tau * tau / rho -
             0.5 * std::log(100 * rho);
    };
    const double more = shape - 1 + 0.5 * count, centre = more / (rate - 1 + 0.5 * (squares - sum * sum / count));
    const double top = log_p(centre), width = centre / std::sqrt(more);
    double mass = 0, first = 0, second = 0, mean = 0, square = 0;
    for (int i = -4000; i <= 4000; ++i) {
      const double v = centre + i * 0.005 * width;
      if (v <= 0) continue;
      const double p = std::exp(log_p(v) - top), rho = 0.01 + v * count, at = v * sum / rho;
      mass += p, first += p * v, second += p * v * v, mean += p * at, square += p * (at * at + 1 / rho);
    }
    first /= mass, mean /= mass;
    // EP's own error in the precision falls with the number of observations.
    CHECK(state.belief(w).mean() == oracle::relative(first, 0.1 / count));
    CHECK(state.belief(w).variance() == oracle::relative(second / mass - first * first, 1.5 / count));
    CHECK(state.belief(m).mean() == oracle::relative(mean, 0.1 / count));
    CHECK(state.belief(m).variance() == oracle::relative(square / mass - mean * mean, 1 / count));
    CHECK(std::abs(log_evidence(plan, state) - (std::log(mass * 0.005 * width) + top)) < 1 / count);
  }
}

TEST_CASE("gaussian_precision: extreme and improper gammas give a message, a counted fallback or no integral") {
  const double numbers[] = {1e-300, 1e-150, 1e-16, 1e-3, 1, 1e8, 1e150, 1e290};
  int replaced = 0, messages = 0;
  // Every combination of three, with half of the fourth.
  for (int code = 0; code < 8 * 8 * 8 * 8; ++code) {
    const int i = code / 512, j = code / 64 % 8, k = code / 8 % 8, l = code % 8;
    if ((i + j + k + l) % 2 == 1) continue;
    const Gamma precision(numbers[i] - 1, numbers[j]);
    const Gaussian mean = Gaussian::from_moments(numbers[k], numbers[l]), value = Gaussian::point(0);
    CAPTURE(code);
    const auto own = GaussianPrecision::Ep::to_precision(mean, precision, value);
    const auto to_mean = GaussianPrecision::Ep::to_mean(mean, precision, value);
    CHECK(Gamma::is_message(own));
    CHECK((is_valid(to_mean)));
    replaced += own.replaced + to_mean.replaced, messages += 2;
  }
  const Gaussian mean = Gaussian::from_moments(0, 1), value = Gaussian::point(2);
  for (const Gamma& improper : {Gamma(), Gamma(-2, 1), Gamma(3, -1)}) {
    CHECK(std::isnan(GaussianPrecision::log_integral(std::vector<Natural>{mean, improper, value})));
    CHECK(is_valid(GaussianPrecision::Ep::to_mean(mean, improper, value)));
    CHECK(Gamma::is_message(GaussianPrecision::Ep::to_precision(mean, improper, value)));
  }
}
