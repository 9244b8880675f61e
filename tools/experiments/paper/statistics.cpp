#include "tools/experiments/paper/statistics.h"

#include <fmt/format.h>

#include <boost/random/mersenne_twister.hpp>
#include <boost/random/uniform_int_distribution.hpp>
#include <numeric>

#include "engine/support/text.h"
#include "tools/dma/page/dependence.h"

namespace dma::reproduce {

double median(const std::vector<double>& values) {
  if (values.empty()) fail("a median of no values was asked for");
  return report::quantile_of(values, 0.5);
}

double interquartile_range(const std::vector<double>& values) {
  return report::quantile_of(values, 0.75) - report::quantile_of(values, 0.25);
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

Interval median_interval(const std::vector<double>& values, int draws, std::uint64_t seed) {
  if (values.empty()) fail("an interval of no values was asked for");
  boost::random::mt19937_64 random(seed);
  boost::random::uniform_int_distribution<std::size_t> any(0, values.size() - 1);
  std::vector<double> medians, resample(values.size());
  for (int d = 0; d < draws; ++d) {
    for (double& value : resample) value = values[any(random)];
    medians.push_back(median(resample));
  }
  return {report::quantile_of(medians, 0.025), report::quantile_of(medians, 0.975)};
}

std::string Interval::text() const { return fmt::format("{:.2f} to {:.2f}", low, high); }

std::string median_text(const std::vector<double>& values) {
  const Interval i = median_interval(values);
  return fmt::format("{:.2f} [{:.2f}, {:.2f}]", median(values), i.low, i.high);
}

}  // namespace dma::reproduce
