// tools/experiments/results/results writes between marks: the document must have them, and what is there must be in
// order.
#include <doctest/doctest.h>

#include <fstream>
#include <sstream>
#include <string>

namespace {

std::string document(const std::string& path) {
  std::ifstream stream(std::string(DMA_SOURCE_DIR) + "/" + path);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

void check_marks(const std::string& text, const std::string& part) {
  const auto begin = text.find("<!-- " + part + ": begin"), end = text.find("<!-- " + part + ": end");
  CHECK_MESSAGE((begin != text.npos && end != text.npos && begin < end), part);
}

}  // namespace

TEST_CASE("results: the document has the marks of every part that tools/experiments/results/results writes") {
  const std::string results = document("tools/experiments/results/RESULTS.md");
  for (const char* part : {"experiments", "compare", "uci", "honesty", "sizes"}) check_marks(results, part);
}

TEST_CASE(
    "results: the experiments shown are those of a run at full size, dated, and the page of numbers shows the same "
    "count") {
  const std::string results = document("tools/experiments/results/RESULTS.md");
  const auto begin = results.find("<!-- experiments: begin"), end = results.find("<!-- experiments: end");
  const std::string shown = results.substr(begin, end - begin);
  CHECK(shown.find("`dma-lab reproduce all --seeds 20 --seed 1`, 20") != shown.npos);
  const auto count_end = shown.find(" claims of the paper hold");
  REQUIRE(count_end != shown.npos);
  const std::string count =
      shown.substr(shown.rfind('\n', count_end) + 1, count_end - shown.rfind('\n', count_end) - 1);
  CHECK(document("tools/docs/numbers.md").find(": " + count + " claims of the paper hold") != std::string::npos);
}
