// The programs of tools/examples: short, and printing what they say. One of them is the README's.
#include <doctest/doctest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

const fs::path kSource = DMA_SOURCE_DIR, kBuild = DMA_BINARY_DIR;

std::vector<std::string> lines_of(const fs::path& path) {
  std::ifstream stream(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::vector<fs::path> examples() {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(kSource / "tools/examples"))
    if (entry.path().extension() == ".cpp" && entry.path().stem() != "readme")  // see below
      found.push_back(entry.path());
  return found;
}

// The lines after "// Prints:", without their "//   ".
std::string stated_output(const std::vector<std::string>& lines) {
  std::string text;
  bool is_output = false;
  for (const std::string& line : lines) {
    if (is_output && line.starts_with("//   "))
      text += line.substr(5) + "\n";
    else
      is_output = line == "// Prints:";
  }
  return text;
}

fs::path program_of(const std::string& name) { return kBuild / (name == "readme" ? "example" : "example_" + name); }

std::string output_of(const std::string& name) {
  std::string text;
  std::FILE* pipe = popen((DMA_EMULATOR " '" + program_of(name).string() + "' 2>/dev/null").c_str(), "r");
  REQUIRE(pipe != nullptr);
  for (int c; (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
  CHECK(pclose(pipe) == 0);
  return text;
}

// The digits of what rounding leaves of zero are those of one processor.
std::string without_rounding(const std::string& text) {
  return std::regex_replace(text, std::regex(R"(\b\d(\.\d+)?e-1[4-9]\b)"), "(rounding)");
}

// The lines from the first one after `from` that is ```language to its end; `from` moves behind it.
std::string fenced(const std::vector<std::string>& lines, const std::string& language, std::size_t& from) {
  std::string text;
  while (from < lines.size() && lines[from] != "```" + language) ++from;
  while (++from < lines.size() && lines[from] != "```") text += lines[from] + "\n";
  return text;
}

}  // namespace

TEST_CASE("examples: the README's first program is one, and prints what is said there") {
  const auto readme = lines_of(kSource / "README.md");
  std::size_t at = 0;
  const std::string program = fenced(readme, "cpp", at), stated = fenced(readme, "text", at);
  REQUIRE(!stated.empty());
  std::string built;
  for (const std::string& line : lines_of(kSource / "tools/examples/readme.cpp")) built += line + "\n";
  CHECK(program == built);
  if (fs::exists(program_of("readme"))) CHECK(without_rounding(output_of("readme")) == without_rounding(stated));
}

TEST_CASE("examples: each has at most 70 lines and prints what it states") {
  REQUIRE(!examples().empty());
  for (const fs::path& source : examples()) {
    CAPTURE(source.stem().string());
    const auto lines = lines_of(source);
    CHECK(lines.size() <= 70);
    const std::string stated = stated_output(lines);
    CHECK(!stated.empty());
    if (fs::exists(program_of(source.stem().string())))
      CHECK(without_rounding(output_of(source.stem().string())) == without_rounding(stated));
    else
      MESSAGE(program_of(source.stem().string()).string(), " is not built (DMA_BUILD_TOOLS=OFF)");
  }
}

TEST_CASE("examples: every model has one of at most 40 lines") {
  for (const char* model :
       {"rating", "series", "linear_regression", "clusters", "regimes", "matrix_factorisation", "classifier"}) {
    CAPTURE(model);
    const auto lines = lines_of(kSource / "tools/examples" / (std::string(model) + ".cpp"));
    CHECK(!lines.empty());
    CHECK(lines.size() <= 40);
  }
}
