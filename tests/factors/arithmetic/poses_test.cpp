// Kinds over points on manifolds: their gains against differences along steps, their losses against the formulas.
#include "factors/arithmetic/poses.h"

#include <doctest/doctest.h>

#include <boost/random/mersenne_twister.hpp>
#include <boost/random/uniform_real_distribution.hpp>

#include "factors/families/charts.h"
#include "factors/standard_registry.h"
#include "tests/oracles/relative.h"

namespace {

using namespace dma;

struct Result {
  std::vector<double> value, gains;
};

Result view(const Kind& kind, const std::vector<double>& x, std::size_t outputs, const std::vector<double>& parameter) {
  Result r{std::vector<double>(outputs), std::vector<double>(outputs * x.size())};
  const ParameterView p{parameter.data(), 0, 0, static_cast<std::uint32_t>(parameter.size())};
  kind.linear_view()({.slots = 1,
                      .inputs = x.size(),
                      .outputs = outputs,
                      .values = x.data(),
                      .parameters = &p,
                      .parameter_count = 1,
                      .value = r.value.data(),
                      .gains = r.gains.data()});
  return r;
}

std::vector<double> random_numbers(std::size_t count, double size, boost::random::mt19937_64& random) {
  boost::random::uniform_real_distribution<double> uniform(-size, size);
  std::vector<double> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(uniform(random));
  return out;
}

}  // namespace

TEST_CASE("poses: gains of every kind are the derivatives of its residuals along steps") {
  boost::random::mt19937_64 random(5);
  const Registry registry = standard_registry();
  int met = 0;
  for (const Kind& kind : pose_kinds()) {
    CAPTURE(kind.name());
    const bool is_loss = kind.vector_size()->inputs == 0;
    std::vector<const Chart*> charts;
    for (const PortSpec& port : kind.ports())
      if (!port.output) charts.push_back(port.is_gaussian ? nullptr : registry.family(*port.family)->chart);
    const std::size_t inputs = is_loss ? 3 : kind.vector_size()->inputs,
                      outputs = is_loss ? 3 : kind.vector_size()->outputs;
    const std::vector<double> measured =
        is_loss ? std::vector<double>{0.9} : random_numbers(kind.parameters()[0].count, 0.7, random);
    for (int i = 0; i < 20; ++i, ++met) {
      const std::vector<double> x = random_numbers(inputs, 1.4, random);
      const Result at = view(kind, x, outputs, measured);
      for (std::size_t j = 0; j < inputs; ++j) {
        const auto moved = [&](double by) {
          std::vector<double> step(inputs), to(inputs);
          step[j] = by;
          std::size_t first = 0;
          for (const Chart* const chart : charts) {
            if (chart != nullptr) chart->retract(x.data() + first, step.data() + first, to.data() + first);
            const std::size_t size = chart != nullptr ? chart->size : inputs - first;
            for (std::size_t k = first; chart == nullptr && k < inputs; ++k) to[k] = x[k] + step[k];
            first += size;
          }
          return view(kind, to, outputs, measured).value;
        };
        // The error of the differences is kStep^2 / 6 times the third derivative: for the angles to a point at a
        // distance d from the axis at most about 1 / d^3, where the steepest gain is 1 / d. Rounding contributes about
        // 1e-16 / kStep.
        constexpr double kStep = 1e-5, kRounding = 1e-9;
        double steepest = 1;
        for (const double gain : at.gains) steepest = std::max(steepest, std::abs(gain));
        const std::vector<double> above = moved(kStep), below = moved(-kStep);
        for (std::size_t o = 0; o < outputs; ++o)
          CHECK(std::abs(at.gains[o * inputs + j] - (above[o] - below[o]) / (2 * kStep)) <
                kRounding + kStep * kStep * std::pow(steepest, 3));
      }
    }
  }
  CHECK(met == 20 * 16);
}

TEST_CASE("poses: a residual is 0 where b is a and what was measured, and grows with the step from there") {
  const Registry registry = standard_registry();
  boost::random::mt19937_64 random(6);
  for (const std::string name : {"angle", "rotation", "pose2", "pose3"}) {
    const Chart& chart = *registry.family(name)->chart;
    const std::vector<double> x = random_numbers(chart.size, 3, random), step = random_numbers(chart.size, 0.5, random);
    std::vector<double> to(chart.size);
    chart.retract(x.data(), step.data(), to.data());
    const auto offset = view(registry.kind(name + "_offset"), to, chart.size, x).value;
    for (std::size_t i = 0; i < chart.size; ++i) CHECK(offset[i] == oracle::relative(step[i], 1e-12));
    std::vector<double> both = x;
    both.insert(both.end(), to.begin(), to.end());
    const auto apart = view(registry.kind(name + "_between"), both, chart.size, std::vector<double>(chart.size)).value;
    // The same, except for the frame of positions.
    double squares = 0, wanted = 0;
    for (std::size_t i = 0; i < chart.size; ++i) squares += apart[i] * apart[i], wanted += step[i] * step[i];
    CHECK(squares == oracle::relative(wanted, 1e-12));
  }
}

TEST_CASE("poses: half turns and tiny ones keep their digits") {
  for (const double angle : {1e-12, 1e-6, 1e-3, 1.0, 3.0, 3.1415, 3.14159265}) {
    const Eigen::Vector3d axis = Eigen::Vector3d(1, -2, 0.5).normalized(), w = angle * axis;
    CHECK((Turn<3>::exp(w) - Eigen::AngleAxisd(angle, axis).toRotationMatrix()).norm() < 1e-15 * 4);
    CHECK((Turn<3>::log(Turn<3>::exp(w)) - w).norm() <= 1e-8 * angle);
    CHECK((Turn<3>::composed(w, -w)).norm() < 1e-15);
    // Across the half turn the numbers jump, but the rotation does not.
    const Eigen::Vector3d step = 0.01 * axis, there = Turn<3>::composed(w, step);
    CHECK((Turn<3>::exp(there) - Turn<3>::exp(w) * Turn<3>::exp(step)).norm() < 1e-14);
    CHECK(there.norm() <= std::numbers::pi);
  }
}

TEST_CASE("poses: half the square of a scaled residual is the loss") {
  const Registry registry = standard_registry();
  for (const double size : {1e-9, 1e-3, 0.5, 2.0, 1e4}) {
    const std::vector<double> r = {0.6 * size, 0.8 * size};
    const auto square = [&](const char* kind, double width) {
      const auto y = view(registry.kind(kind), r, 2, {width}).value;
      return y[0] * y[0] + y[1] * y[1];
    };
    const double s = size * size;
    CHECK(square("huber", 1.5) == oracle::relative(size <= 1.5 ? s : 3 * size - 2.25, 1e-13));
    CHECK(square("cauchy", 0.7) == oracle::relative(0.49 * std::log1p(s / 0.49), 1e-13));
  }
}
