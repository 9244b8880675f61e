#include "tools/dma/pictures/gnuplot.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "engine/support/error.h"
#include "tests/tools/run_dma.h"

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

TEST_CASE("gnuplot: faint squares keep their colour") {
  const Figure squares{.panels = {{.series = {{.style = Style::squares,
                                               .colour = Colour::blue,
                                               .x = {1, 2},
                                               .y = {1, 1},
                                               .side = {1, 1},
                                               .opacity = {0.2, 1}}}}}};
  const std::string text = script(squares, "s", {".svg"});
  CHECK(text.find(std::to_string((std::int64_t{204} << 24) + 0x0072B2)) !=
        std::string::npos);                     // 0xAARRGGBB, AA = 0.8 * 255
  CHECK(text.find(" -") == std::string::npos);  // a negative number would be drawn black
}

TEST_CASE("gnuplot: the script holds data, axes and one terminal per picture") {
  const std::string text = script(figure(), "kl", {".svg", ".png"});
  CHECK(text.find("set terminal svg") != std::string::npos);
  CHECK(text.find("set terminal pngcairo") != std::string::npos);
  CHECK(text.find("|./kl.png\n") != std::string::npos);
  CHECK(text.find("set logscale x") != std::string::npos);
  CHECK(text.find("set yrange [0.001:*]") != std::string::npos);
  CHECK(text.find("2 0.25\n") != std::string::npos);
  CHECK(text.find("|A_figure\n") != std::string::npos);
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

// Every place in a figure where a text can stand.
Figure figure_saying(const std::string& text) {
  const Series series{.title = text, .style = Style::points, .x = {1, 2}, .y = {1, 2}};
  return {.title = text,
          .panels = {{.title = text,
                      .x = {.label = text, .names = {text, text}},
                      .y = {.label = text},
                      .series = {series, series},
                      .notes = {text}},
                     {.title = text, .heat = {.x = {0, 1}, .y = {0, 1}, .z = {1, 2, 3, 4}, .label = text}}}};
}

const std::vector<std::string> kAttacks = {"x`touch PWN`",
                                           "\"; system('touch PWN'); \"",
                                           "'\nsystem('touch PWN')\n'",
                                           "END\nsystem('touch PWN')",
                                           "\nEND\n!touch PWN",
                                           "\rEND\rsystem('touch PWN')",
                                           "@x ${x} $(touch PWN) %s%n%d {/=50 big} \\",
                                           "|touch PWN",
                                           "x' . system('touch PWN') . '",
                                           "a_b^c{d}~&@"};

TEST_CASE("gnuplot: no text and no file name is ever a command") {
  const testing::TemporaryFolder folder;
  for (const std::string& attack : kAttacks) {
    INFO(attack);
    const std::string text = script(figure_saying(attack), attack, {".svg"});
    // Outside the block of texts, nothing of it is left.
    const std::string code = text.substr(text.find("\nEND\n"));
    for (const char* word : {"PWN", "system", "big", "a_b^c"}) CHECK(code.find(word) == std::string::npos);
    std::string name = attack;
    std::erase(name, '/');
    const auto picture = folder.path() / (name + ".svg");
    const std::string skipped = draw_picture(figure_saying(attack), picture);
    if (skipped.find("not installed") != std::string::npos) continue;
    CHECK(skipped == "");
    CHECK(std::filesystem::file_size(picture) > 1000);
    std::filesystem::remove(picture);
    CHECK(folder.files().empty());
  }
  CHECK_FALSE(std::filesystem::exists("PWN"));
}

TEST_CASE("gnuplot: texts stand in the picture as they are") {
  const testing::TemporaryFolder folder;
  const std::string text = "50% of_x^{2} `a` \"b\" 'c' @d größe";
  if (!draw_picture(figure_saying(text), folder.path() / "p.svg").empty()) return;
  const std::string picture = folder.read("p.svg");
  std::size_t count = 0;
  for (std::size_t at = picture.find(text); at != picture.npos; at = picture.find(text, at + 1)) ++count;
  CHECK(count >= 11);  // the titles of series may also stand where only programs look
}

TEST_CASE("gnuplot: a script of the picture's name that is there already stays, with and without gnuplot") {
  const testing::TemporaryFolder folder;
  folder.write("p.gnuplot", "mine");
  draw_picture(figure(), folder.path() / "p.svg");
  CHECK(folder.read("p.gnuplot") == "mine");
}

}  // namespace dma::plot
