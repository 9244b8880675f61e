#include "tools/dma/page/pictures.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

TEST_CASE("pictures: intervals lie inside the frame") {
  const dma::Json points{
      {"observed", {1, 2, 3}}, {"predicted", {1.1, 1.9, 3}}, {"low", {-7, 1, 2}}, {"high", {3, 3, 44}}};
  const auto panel = dma::report::agreement_panel(points, "y");
  CHECK(panel.y.low < -7);
  CHECK(panel.y.high > 44);
  CHECK(panel.x.low > -7);  // the rows keep their place
  CHECK(panel.x.high < 44);
}

TEST_CASE("pictures: the calibration of classes is drawn where there are rows, and no line leads across empty bins") {
  dma::Json curve = dma::Json::array();
  for (const double stated : {0.52, 0.97})
    curve.push_back({{"stated", stated}, {"found", 0.9}, {"chance_low", 0.4}, {"chance_high", 1.0}, {"rows", 7}});
  const auto panel = dma::report::reliability_panel(curve);
  CHECK(panel.x.low == 48);  // a mark at the edge has room
  CHECK(panel.x.high == 102);
  for (const auto& series : panel.series) CHECK(series.style != dma::plot::Style::line_points);
}
