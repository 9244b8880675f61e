// The programs of tools/examples: short, and printing what they say.
#include <doctest/doctest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

const fs::path kSource = DMA_SOURCE_DIR, kBinary = DMA_BINARY_DIR;

std::vector<std::string> lines_of(const fs::path& path) {
  std::ifstream stream(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::vector<fs::path> examples() {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(kSource / "tools/examples"))
    if (entry.path().extension() == ".cpp" && entry.path().stem() != "readme")  // readme_test has that one
      found.push_back(entry.path());
  return found;
}

// What follows "// Prints:", each line after "//   ".
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

std::string output_of(const fs::path& program) {
  std::string text;
  std::FILE* pipe = popen((DMA_EMULATOR " '" + program.string() + "' 2>/dev/null").c_str(), "r");
  if (pipe == nullptr) return text;
  for (int c; (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
  pclose(pipe);
  return text;
}

// The digits of what rounding leaves of zero are those of one processor.
std::string without_rounding(const std::string& text) {
  return std::regex_replace(text, std::regex(R"(\b\d(\.\d+)?e-1[4-9]\b)"), "(rounding)");
}

}  // namespace

TEST_CASE("examples: each has at most 60 lines and prints what it states") {
  REQUIRE(!examples().empty());
  for (const fs::path& source : examples()) {
    CAPTURE(source.stem().string());
    const auto lines = lines_of(source);
    CHECK(lines.size() <= 60);
    const std::string stated = stated_output(lines);
    CHECK(!stated.empty());
    const fs::path program = kBinary / ("example_" + source.stem().string());
    if (!fs::exists(program)) {
      MESSAGE(program.string(), " is not built");
      continue;
    }
    CHECK(without_rounding(output_of(program)) == without_rounding(stated));
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
