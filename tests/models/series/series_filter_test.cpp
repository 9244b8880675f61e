#include "models/series/series_choice.h"

#include <doctest/doctest.h>

#include "engine/support/text.h"
#include "tests/models/series/textbook_series.h"
#include "tests/oracles/relative.h"

using namespace dma;
using namespace dma::oracle;

TEST_CASE("series filter: forecasts value by value are those of Kalman's filter") {
  for (const TextbookSeries& book : textbook_series()) {
    CAPTURE(book.name);
    const auto values = series_with_gaps(30);
    const StateSpace model(book.processes, {.observation_variance = 0.5, .start_mean = 0.3, .start_variance = 20});
    const auto first = static_cast<std::size_t>(book.model.first_gains.rows());
    const KalmanResult expected = kalman(book.model, values);
    SeriesFilter filter(model, std::span(values).first(first));
    for (std::size_t t = first; t < values.size(); ++t) {
      const SeriesFilter::Forecast next = filter.forecast();
      CHECK(next.mean == oracle::relative(expected.forecast_means[t - first], 1e-9));
      CHECK(next.variance == oracle::relative(expected.forecast_variances[t - first], 1e-9));
      const SeriesFilter::Estimate now = filter.add(values[t]);
      if (t + 1 == values.size()) {
        CHECK(now.mean == oracle::relative(book.model.gain.dot(expected.means.back()), 1e-9));
      }
    }
  }
}

TEST_CASE("series filter: it begins with a memory that is filled") {
  const std::vector<std::optional<double>> values{1.0, 2.0};
  const StateSpace model({seasonal(12, 0.1)}, {.observation_variance = 0.5});
  CHECK_THROWS_WITH_AS(SeriesFilter(model, values), doctest::Contains("at least 11"), Error);
  const StateSpace fixed({random_walk(1.0), fixed_season(7.5, 2)}, {.observation_variance = 0.5});
  CHECK_THROWS_WITH_AS(SeriesFilter(fixed, values), doctest::Contains("season of fixed shape"), Error);
}
