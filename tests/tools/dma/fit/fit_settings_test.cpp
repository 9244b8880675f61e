#include "tools/dma/fit/fit_settings.h"

#include <doctest/doctest.h>

#include "engine/support/error.h"
#include "models/network/regression.h"

namespace dma {

TEST_CASE("fit settings: a width that takes hours is refused, unless the time is limited") {
  FitSettings settings{.hidden = {"100000"}};
  CHECK_THROWS_WITH_AS(model_for(settings, 3, 1, 1000),
                       "--hidden: learning 5e+05 weights from 1000 rows takes about 10 hours of one core, more than 1; "
                       "choose a smaller --hidden, or say with --time how long it may take",
                       Error);
  settings.max_seconds = 60;
  CHECK(model_for(settings, 3, 1, 1000).network.layers == std::vector<std::size_t>{3, 100'000, 1});
  for (const char* const width : {"none", "50", "1000"}) CHECK_NOTHROW(model_for({.hidden = {width}}, 3, 1, 1000));
  CHECK_NOTHROW(model_for({}, 3, 1, 1000));
}

TEST_CASE("fit settings: a fit takes longer with more rows, units, epochs and members") {
  const auto seconds = [](std::size_t rows, std::size_t units, const std::string& method, std::size_t members,
                          double epochs) {
    RegressionSettings settings = regression_settings(3, {units}, 1, rows, method);
    settings.network.members = members;
    settings.fit.epochs = static_cast<int>(epochs * settings.fit.epochs);
    return seconds_of_fit(settings.network, settings.fit, rows);
  };
  for (const char* const method : {"joint", "hybrid"}) {
    const double one = seconds(200, 1000, method, 1, 1);
    CHECK(one > 0);
    CHECK(seconds(400, 1000, method, 1, 1) >= 2 * one);
    CHECK(seconds(200, 2000, method, 1, 1) > 1.5 * one);
    CHECK(seconds(200, 1000, method, 3, 1) == doctest::Approx(3 * one).epsilon(1e-12));
    CHECK(seconds(200, 1000, method, 1, 0.5) == doctest::Approx(0.5 * one).epsilon(1e-12));
  }
}

}  // namespace dma
