// Linear views against the kinds' declarations: differences of their functions, integrals of them, their densities.
#include "factors/authoring/from_function.h"
#include "tests/oracles/solved.h"

namespace {

constexpr std::size_t kSlots = 4, kViewTerms = 3;

// A plate of a kind with values and parameters of ordinary size, different in each slot.
struct Plate {
  const Kind& kind;
  std::size_t inputs = 0, arguments = 0;
  std::vector<std::vector<double>> parameters;
  std::vector<ParameterView> views;
  std::vector<double> values, variances;

  explicit Plate(const Kind& k) : kind(k) {
    for (const PortSpec& port : k.ports()) {
      const std::size_t terms = port.variadic ? kViewTerms : 1;
      arguments += terms;
      inputs += port.output ? 0 : terms;
    }
    for (const ParameterSpec& spec : k.parameters()) {
      const std::size_t count = spec.per_term ? kViewTerms : 1;
      parameters.emplace_back();
      for (std::size_t q = 0; q < kSlots * count; ++q) {
        const double raw = 0.2 + 0.11 * static_cast<double>(q);
        parameters.back().push_back(spec.domain.contains(raw)  ? raw
                                    : spec.domain.only.empty() ? 0.5
                                                               : spec.domain.only[q % 2]);
      }
      views.push_back(
          {parameters.back().data(), 0, static_cast<std::ptrdiff_t>(count), static_cast<std::uint32_t>(count)});
    }
    for (std::size_t q = 0; q < inputs * kSlots; ++q) {
      values.push_back(1.3 * std::sin(2.0 + 3.7 * static_cast<double>(q)));
      variances.push_back(0.2 + 0.1 * static_cast<double>(q % 5));
    }
  }
  std::vector<double> parameters_at(std::size_t s) const {
    std::vector<double> out;
    for (const ParameterView& view : views) out.insert(out.end(), view.at(0, s), view.at(0, s) + view.terms);
    return out;
  }
  double at(std::size_t s, std::vector<double> x) const { return kind.function()(x, parameters_at(s)); }
  std::vector<double> inputs_at(std::size_t s) const {
    std::vector<double> x;
    for (std::size_t i = 0; i < inputs; ++i) x.push_back(values[i * kSlots + s]);
    return x;
  }

  struct Result {
    std::vector<double> value, gains, variance_gains;
  };
  Result view(const LinearView& of, bool smoothed) const {
    Result r{std::vector<double>(kSlots), std::vector<double>(kSlots * inputs), std::vector<double>(kSlots * inputs)};
    of({.slots = kSlots,
        .inputs = inputs,
        .values = values.data(),
        .variances = smoothed ? variances.data() : nullptr,
        .parameters = views.data(),
        .parameter_count = views.size(),
        .value = r.value.data(),
        .gains = r.gains.data(),
        .variance_gains = smoothed ? r.variance_gains.data() : nullptr});
    return r;
  }
};

template <class Check>
void for_every_function(const Check& check) {
  Registry registry = standard_registry();
  registry.add(factor_from_function("range", [](double x, double y) { return std::hypot(x, y); }));
  int count = 0;
  for (const auto& entry : registry.kinds())
    if (entry.second.function()) {
      CAPTURE(entry.first);
      check(Plate(entry.second));
      ++count;
    }
  CHECK(count >= 8);
}

// E[g(N(m, v))] by the trapezoidal rule; a kink costs half of its digits.
template <class G>
double expected(const G& g, double mean, double variance) {
  double sum = 0, weights = 0;
  for (double t = -9; t <= 9; t += 1.0 / 1024) {
    const double weight = std::exp(-0.5 * t * t);
    sum += weight * g(mean + std::sqrt(variance) * t), weights += weight;
  }
  return sum / weights;
}

}  // namespace

TEST_CASE("linear view: values are the function's, gains its derivatives") {
  for_every_function([](const Plate& plate) {
    const auto r = plate.view(plate.kind.linear_view(), false);
    for (std::size_t s = 0; s < kSlots; ++s) {
      const std::vector<double> x = plate.inputs_at(s);
      CHECK(r.value[s] == oracle::relative(plate.at(s, x), 1e-14));
      for (std::size_t i = 0; i < x.size(); ++i) {
        auto above = x, below = x;
        above[i] += 1e-5, below[i] -= 1e-5;
        CHECK(std::abs(r.gains[i * kSlots + s] - (plate.at(s, above) - plate.at(s, below)) / 2e-5) < 1e-8);
      }
    }
  });
}

TEST_CASE("linear view: differences of a function find its gains to eleven digits") {
  for_every_function([](const Plate& plate) {
    const auto closed = plate.view(plate.kind.linear_view(), false);
    const auto numerical = plate.view(numerical_linear_view(plate.kind.function()), false);
    for (std::size_t q = 0; q < closed.gains.size(); ++q)
      CHECK(numerical.gains[q] == oracle::relative(closed.gains[q], 1e-11, 1));
  });
}

TEST_CASE("linear view: at the end of its domain a function is differentiated from inside") {
  const LinearView view = numerical_linear_view([](auto x, auto) { return std::pow(x[0], 1.5); });
  const double at = 0;
  double value = 1, gain = 1;
  view({.slots = 1, .inputs = 1, .values = &at, .value = &value, .gains = &gain});
  CHECK(value == 0);
  CHECK(std::abs(gain) < 1e-3);
}

TEST_CASE("linear view: smoothed values and gains are those of the expected value") {
  for_every_function([](const Plate& plate) {
    if (plate.inputs != 1) return;
    const auto r = plate.view(plate.kind.linear_view(), true);
    for (std::size_t s = 0; s < kSlots; ++s) {
      const double m = plate.values[s], v = plate.variances[s], h = 1e-4;
      const auto mean = [&](double at, double variance) {
        return expected([&](double x) { return plate.at(s, {x}); }, at, variance);
      };
      CHECK(std::abs(r.value[s] - mean(m, v)) < 1e-6);
      CHECK(std::abs(r.gains[s] - (mean(m + h, v) - mean(m - h, v)) / (2 * h)) < 2e-4);
      CHECK(std::abs(r.variance_gains[s] - (mean(m, v + h) - mean(m, v - h)) / (2 * h)) < 2e-4);
    }
  });
}

TEST_CASE("linear view: a plain function of one input is smoothed by quadrature") {
  const Kind kind = factor_from_function("cubic", [](double x) { return x * x * x - x; });
  const Plate plate(kind);
  const auto r = plate.view(kind.linear_view(), true);
  for (std::size_t s = 0; s < kSlots; ++s) {
    const double m = plate.values[s], v = plate.variances[s];
    CHECK(r.value[s] == oracle::relative(m * m * m + 3 * m * v - m, 1e-12));
    CHECK(r.gains[s] == oracle::relative(3 * m * m + 3 * v - 1, 1e-12));
    CHECK(r.variance_gains[s] == oracle::relative(3 * m, 1e-12));
  }
}

TEST_CASE("linear view: gains declared constant do not depend on free inputs") {
  for_every_function([](Plate plate) {
    if (!plate.kind.linear_in()) return;
    const auto before = plate.view(plate.kind.linear_view(), false);
    for (std::size_t only = 0; only < plate.inputs; ++only) {  // free: this input and, if it may, the first
      std::vector<std::uint8_t> free(plate.inputs);
      free[0] = free[only] = 1;
      if (!plate.kind.linear_in()(free)) continue;
      Plate moved = plate;
      for (std::size_t i = 0; i < plate.inputs; ++i)
        for (std::size_t s = 0; free[i] && s < kSlots; ++s) moved.values[i * kSlots + s] += 1.7;
      const auto after = moved.view(plate.kind.linear_view(), false);
      for (std::size_t i = 0; i < plate.inputs; ++i)
        for (std::size_t s = 0; free[i] && s < kSlots; ++s)
          CHECK(before.gains[i * kSlots + s] == after.gains[i * kSlots + s]);
    }
  });
  const Registry registry = standard_registry();
  const std::uint8_t both[] = {1, 1}, one[] = {1, 0};
  CHECK(!registry.kind("product").linear_in()(both));
  CHECK(registry.kind("product").linear_in()(one));
}

TEST_CASE("linear view: the row of a Gaussian density is its density") {
  const Registry registry = standard_registry();
  for (const char* name : {"gaussian_prior", "gaussian_noise", "gaussian_linear"}) {
    const Plate plate(registry.kind(name));
    std::vector<double> c(plate.arguments * kSlots), offset(kSlots), variance(kSlots);
    plate.kind.gaussian_row()({.slots = kSlots,
                               .arguments = plate.arguments,
                               .parameters = plate.views.data(),
                               .coefficients = c.data(),
                               .offset = offset.data(),
                               .variance = variance.data()});
    for (std::size_t s = 0; s < kSlots; ++s) {
      std::vector<double> x;
      double residual = -offset[s];
      for (std::size_t i = 0; i < plate.arguments; ++i) {
        x.push_back(0.7 - 1.1 * static_cast<double>(i));
        residual += c[i * kSlots + s] * x[i];
      }
      CHECK(log_density(Gaussian::from_moments(0, variance[s]), residual) ==
            oracle::relative(plate.kind.log_density()(x, plate.parameters_at(s)), 1e-13));
    }
  }
}
