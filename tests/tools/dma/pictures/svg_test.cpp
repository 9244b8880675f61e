#include "tools/dma/pictures/svg.h"

#include <doctest/doctest.h>

#include "engine/support/text.h"
#include "tests/oracles/relative.h"
#include "tests/tools/browser.h"
#include "tests/tools/run_dma.h"
#include "tools/dma/pictures/marks.h"

namespace dma::plot {

namespace {

using testing::holds, testing::count_of;

// The places of the circles of a panel, across or down.
std::vector<double> coordinates(const std::string& element, const std::string& attribute) {
  std::vector<double> all;
  for (std::size_t at = 0; (at = element.find(attribute + "=\"", at)) != element.npos; ++at)
    all.push_back(std::stod(element.substr(at + attribute.size() + 2)));
  return all;
}

Panel dots(Axis x, Axis y, std::vector<double> at) {
  return {.x = std::move(x), .y = std::move(y), .series = {{.style = Style::points, .x = at, .y = at}}};
}

}  // namespace

TEST_CASE("svg: equal steps of a linear axis, and equal factors of a logarithmic one, are equally far apart") {
  for (const bool is_log : {false, true}) {
    const Scale scale = is_log ? Scale::log : Scale::linear;
    const std::vector<double> at = is_log ? std::vector<double>{0.1, 1, 10, 100} : std::vector<double>{1, 2, 3, 4};
    const std::string element = panel_element(dots({.scale = scale}, {.scale = scale}, at), 480, 380);
    const auto x = coordinates(element, "cx"), y = coordinates(element, "cy");
    REQUIRE(x.size() == 4);
    for (std::size_t i = 2; i < 4; ++i) {
      CHECK(x[i] - x[i - 1] == oracle::relative(x[1] - x[0], 0.002));
      CHECK(y[i] - y[i - 1] == oracle::relative(y[1] - y[0], 0.002));
    }
    CHECK((x[1] > x[0] && y[1] < y[0]));
  }
  const auto turned = coordinates(panel_element(dots({}, {.low = 5, .high = 0}, {1, 2}), 480, 380), "cy");
  CHECK(turned[1] > turned[0]);
}

TEST_CASE("svg: ticks of a logarithmic axis are powers of ten, or 1, 2 and 5 between two of them") {
  const auto drawn = [](double low, double high) {
    return panel_element(dots({}, {.scale = Scale::log, .low = low, .high = high}, {low, high}), 480, 380);
  };
  CHECK(holds(drawn(1e-9, 1), ">10⁻⁹<"));
  CHECK(holds(drawn(1, 1000), ">100<"));
  CHECK(holds(drawn(0.3, 3), ">0.5<"));
  CHECK(count_of(">10", drawn(1e-300, 1e300)) <= 12);
}

TEST_CASE("svg: what has no place on a logarithmic axis is left out") {
  const std::string element = panel_element(dots({.scale = Scale::log}, {}, {-1, 0, 1, 10}), 480, 380);
  CHECK(count_of("<circle", element) == 2);
  CHECK(!holds(element, "nan"));
  CHECK(!holds(element, "inf"));
  CHECK(panel_element(dots({.scale = Scale::log}, {}, {-1, 0}), 480, 380).empty());
}

TEST_CASE("svg: a band covers what it should") {
  const Panel band{.x = {.low = 0, .high = 1},
                   .y = {.low = 0, .high = 1},
                   .series = {{.style = Style::band, .x = {0, 1}, .y = {0, 0}, .y_high = {1, 1}}}};
  CHECK(holds(panel_element(band, 480, 380), "M0.0 310.0L431.6 310.0L431.6 0.0L0.0 0.0Z"));
}

TEST_CASE("svg: series of unequal lengths are refused, and names that end in anything but .svg") {
  CHECK_THROWS_AS((void)svg({.panels = {{.series = {{.x = {1, 2}, .y = {1}}}}}}), Error);
  CHECK_THROWS_AS((void)svg({.panels = {{.series = {{.style = Style::band, .x = {1}, .y = {1}}}}}}), Error);
  check_picture("");
  CHECK_THROWS_WITH_AS(check_picture("a.png"), doctest::Contains(".svg"), Error);
}

TEST_CASE("svg: any text stands in the picture as it is, and is never an element") {
  const std::string attack = "</text><script>x</script>\x1b[2J\n50% of \"größe\" & 'more'";
  const Figure figure{.title = attack,
                      .panels = {{.title = attack,
                                  .x = {.label = attack, .names = {attack}},
                                  .y = {.label = attack},
                                  .series = {{.title = attack, .x = {0, 1}, .y = {0, 1}}}}}};
  const std::string picture = svg(figure);
  CHECK(!holds(picture, "<script"));
  CHECK(!holds(picture, "\x1b"));
  CHECK(holds(picture, "50% of &quot;größe&quot; &amp; &#39;more&#39;"));
  CHECK(holds(svg({.panels = {{.title = "none"}}}), "Nothing here can be drawn."));
  testing::check_in_browser({testing::Expected{{picture}}});
}

}  // namespace dma::plot
