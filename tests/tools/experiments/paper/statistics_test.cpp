// Medians, ranges and bootstrap intervals against brute force.
#include "tools/experiments/paper/statistics.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "engine/support/text.h"
#include "tools/dma/page/dependence.h"
#include "tools/experiments/baselines/random_normal.h"

namespace dma::reproduce {

namespace {

// By definition: the piecewise linear curve through the points (i / (n - 1), i-th smallest).
double brute_quantile(std::vector<double> values, double p) {
  std::ranges::sort(values);
  const auto n = static_cast<double>(values.size() - 1);
  for (std::size_t i = 0; i + 1 < values.size(); ++i) {
    const double from = static_cast<double>(i) / n, to = static_cast<double>(i + 1) / n;
    if (p <= to) return values[i] + (p - from) / (to - from) * (values[i + 1] - values[i]);
  }
  return values.back();
}

}  // namespace

TEST_CASE("statistics: median, quantiles and IQR equal their definition") {
  baselines::RandomNormal normal(4);
  for (const int count : {1, 2, 3, 4, 7, 20}) {
    std::vector<double> values;
    for (int i = 0; i < count; ++i) values.push_back(normal());
    for (const double p : {0.0, 0.1, 0.25, 0.5, 0.75, 1.0})
      CHECK(report::quantile_of(values, p) == doctest::Approx(brute_quantile(values, p)));
    CHECK(median(values) == doctest::Approx(brute_quantile(values, 0.5)));
    CHECK(interquartile_range(values) == doctest::Approx(brute_quantile(values, 0.75) - brute_quantile(values, 0.25)));
  }
  CHECK(mean({1, 2, 6}) == 3);
  CHECK_THROWS_AS(median({}), Error);
}

TEST_CASE("statistics: the bootstrap interval is that of all resamples") {
  const std::vector<double> values = {3, 1, 4, 1.5, 9};
  std::vector<double> medians;  // medians of all 5^5 resamples
  for (int code = 0; code < 3125; ++code) {
    std::vector<double> resample;
    for (int rest = code, i = 0; i < 5; ++i, rest /= 5) resample.push_back(values[static_cast<std::size_t>(rest % 5)]);
    medians.push_back(brute_quantile(resample, 0.5));
  }
  const Interval interval = median_interval(values, 20000);
  CHECK(interval.low == doctest::Approx(brute_quantile(medians, 0.025)));
  CHECK(interval.high == doctest::Approx(brute_quantile(medians, 0.975)));
  CHECK(interval.holds(3));
  CHECK(!interval.holds(10));
  CHECK(median_text({2, 2, 2}) == "2.00 [2.00, 2.00]");
}

}  // namespace dma::reproduce
