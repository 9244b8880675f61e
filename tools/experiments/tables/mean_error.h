// A mean over splits or folds, with its standard error.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

namespace dma {

struct MeanError {
  double mean = 0, error = 0;
  std::string text() const { return fmt::format("{:.3f} ± {:.3f}", mean, error); }
};

template <class Result, class Value>
MeanError mean_error(const std::vector<Result>& results, const Value& value) {
  const auto count = static_cast<double>(results.size());
  MeanError found;
  double squares = 0;
  for (const Result& r : results) found.mean += value(r) / count;
  for (const Result& r : results) squares += std::pow(value(r) - found.mean, 2);
  if (results.size() > 1) found.error = std::sqrt(squares / (count - 1) / count);
  return found;
}

}  // namespace dma
