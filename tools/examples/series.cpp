// A series as a trend, a season of four and noise: their variances are learned by evidence, a gap is filled, and the
// next year is forecast.
//
// Prints:
//   log evidence -51.53
//   quarter 17: 29.5 +- 0.3
//   quarter 40: 42.8 +- 0.3
//   quarter 41: 41.3 +- 0.4
//   quarter 42: 39.0 +- 0.4
//   quarter 43: 39.2 +- 0.4
//   expected 42.8, and after a surprise 42.3
#include <dma_models.h>
#include <fmt/core.h>

#include <cmath>

int main() {
  using namespace dma;
  std::vector<std::optional<double>> sales;
  const double season[] = {3, 1, -2, -2};
  for (std::size_t t = 0; t < 40; ++t)
    sales.push_back(20 + 0.5 * static_cast<double>(t) + season[t % 4] +
                    0.4 * std::sin(37.0 * static_cast<double>(t * t)));
  sales[17].reset();  // missing

  StateSpace model({local_trend(), seasonal(4)});
  const auto learned = model.learn(sales);
  fmt::print("log evidence {:.2f}\n", learned.log_evidence);
  const Smoothed found = model.smooth(sales, 4);
  for (const std::size_t t : {17u, 40u, 41u, 42u, 43u})
    fmt::print("quarter {}: {:.1f} +- {:.1f}\n", t, found.signal.mean[t], found.sd[t]);

  SeriesFilter filter(model, sales);  // one value at a time from here on
  fmt::print("expected {:.1f}, ", filter.forecast().mean);
  filter.add(50.0);
  fmt::print("and after a surprise {:.1f}\n", filter.forecast().mean);
}
