#include "tools/plot/gnuplot.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "engine/support/error.h"

namespace dma::plot {

namespace {

Figure figure() {
  return {.title = "A_figure",
          .panels = {
              {.title = "left",
               .x = {"r", Scale::log},
               .y = {"KL", Scale::log, 1e-3},
               .series = {{.title = "measured", .style = Style::points, .x = {1, 2, 4}, .y = {1, 0.25, 0.06}}}},
              {.title = "right", .heat = {.x = {0, 1}, .y = {0, 1}, .z = {1, 2, 3, 4}, .label = "z"}, .key = "off"}}};
}

std::filesystem::path scratch(std::string_view name) {
  const auto folder = std::filesystem::temp_directory_path() / "dma_gnuplot_test";
  std::filesystem::create_directories(folder);
  return folder / name;
}

}  // namespace

TEST_CASE("gnuplot: the script holds data, axes and one terminal per picture") {
  const std::string text = script(figure(), "out/kl", {".svg", ".png"});
  CHECK(text.find("set terminal svg") != std::string::npos);
  CHECK(text.find("set terminal pngcairo") != std::string::npos);
  CHECK(text.find("set output 'kl.png'") != std::string::npos);
  CHECK(text.find("set logscale x") != std::string::npos);
  CHECK(text.find("set yrange [0.001:*]") != std::string::npos);
  CHECK(text.find("2 0.25\n") != std::string::npos);
  CHECK(text.find("A\\\\_figure") != std::string::npos);  // no subscript
}

TEST_CASE("gnuplot: series and heat maps of unequal lengths are refused") {
  CHECK_THROWS_AS(static_cast<void>(script({.panels = {{.series = {{.x = {1, 2}, .y = {1}}}}}}, "a", {".svg"})), Error);
  CHECK_THROWS_AS(static_cast<void>(script({.panels = {{.heat = {.x = {1}, .y = {1}, .z = {1, 2}}}}}, "a", {".svg"})),
                  Error);
  CHECK_THROWS_WITH_AS(static_cast<void>(script(figure(), "a", {".gif"})), doctest::Contains(".svg"), Error);
}

TEST_CASE("gnuplot: draws what was asked for, or says why not") {
  const Drawing drawing = draw(figure(), scratch("figure"));
  CHECK(std::filesystem::exists(drawing.script));
  if (!drawing.skipped.empty()) {
    CHECK(drawing.skipped.find("gnuplot") != std::string::npos);
    return;
  }
  REQUIRE(drawing.pictures.size() == 2);
  for (const auto& picture : drawing.pictures) CHECK(std::filesystem::file_size(picture) > 1000);
}

}  // namespace dma::plot
