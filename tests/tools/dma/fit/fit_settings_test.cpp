#include <doctest/doctest.h>
#include <fmt/format.h>

#include "engine/support/text.h"
#include "models/network/bnn.h"
#include "models/predict/settings.h"
#include "tests/oracles/relative.h"

namespace dma {

TEST_CASE("fit settings: a width that takes hours is refused, unless the time is limited") {
  FitSettings settings{.hidden = {{100'000}}};
  CHECK_THROWS_WITH_AS(network_settings(settings, 3, 1, 1000),
                       "hidden: learning 5e+05 weights from 1000 rows takes about 10 hours of one core, more than 1; "
                       "choose a smaller hidden, or say with max_seconds how long it may take",
                       Error);
  settings.max_seconds = 60;
  CHECK(network_settings(settings, 3, 1, 1000).network.layers == std::vector<std::size_t>{3, 100'000, 1});
  for (const std::vector<std::size_t>& widths : {std::vector<std::size_t>{}, {50}, {1000}})
    CHECK_NOTHROW(network_settings({.hidden = widths}, 3, 1, 1000));
  CHECK_NOTHROW(network_settings({}, 3, 1, 1000));
}

TEST_CASE("fit settings: every model refuses what it does not know, by the caller's name of it") {
  const auto refused = [](auto model, FitSettings settings, const char* words) {
    settings.written = [](std::string_view name) { return fmt::format("<{}>", name); };
    CHECK_THROWS_WITH_AS(model(settings), words, Error);
  };
  refused(classifier_settings, {.noise = {{0.1}}}, "<noise>: a classifier has no such setting; leave it out");
  refused(classifier_settings, {.slopes = {{2.0}}}, "<slopes>: 2 is given; a number above 0 and at most 1 is expected");
  refused(classifier_settings, {.method = "hybrid"}, "<method>: a classifier knows joint only; leave it out");
  refused(graph_settings, {.hidden = {{3}}}, "<hidden>: a graph of your own has no such setting; leave it out");
  const auto network = [](const FitSettings& settings) { return network_settings(settings, 3, 1, 10); };
  refused(network, {.method = "joint", .patience = 2},
          "<patience> is known to sweeps of messages only; leave it out, or choose <method> hybrid");
  refused(network, {.batches = 2, .batch_size = 3}, "<batches> and <batch_size> are given; give one of them");
  CHECK(classifier_settings({.preset = "table", .method = "joint", .epochs = 7}).epochs == 7);
  refused(graph_settings, {.preset = "paper"}, "<preset>: there is no 'paper'; known: table");
  CHECK(graph_settings({.noise_model = "inputs"}).learn.noise_by_inputs);
  const GraphModelOptions alone = graph_settings({}), as_table = graph_settings({.preset = "table"});
  CHECK(!alone.as_table);
  CHECK(!alone.learn.learn_scale);
  CHECK(alone.learn.starts == 1);
  CHECK(as_table.as_table);
  CHECK(as_table.learn.learn_scale);
  CHECK(as_table.learn.starts == 0);  // as many as are quick
  CHECK(graph_settings({.preset = "table", .learn_prior = false, .members = 2}).learn.starts == 2);
  CHECK(!graph_settings({.preset = "table", .learn_prior = false}).learn.learn_scale);
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
    CHECK(seconds(200, 1000, method, 3, 1) == oracle::relative(3 * one, 1e-12));
    CHECK(seconds(200, 1000, method, 1, 0.5) == oracle::relative(0.5 * one, 1e-12));
  }
}

}  // namespace dma
