// The README's program is the one that is built, and prints what the README says.
#include <doctest/doctest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>

namespace {

const std::string kSource = DMA_SOURCE_DIR, kBinary = DMA_BINARY_DIR;

std::string read(const std::string& path) {
  std::ifstream stream(path);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

// The first block fenced as ```language at or after `from`; empty if there is none. `from` moves behind it.
std::string block(const std::string& text, const std::string& language, std::size_t& from) {
  const std::string open = "```" + language + "\n";
  const auto begin = text.find(open, from);
  if (begin == text.npos) return {};
  const auto end = text.find("\n```", begin + open.size());
  from = end;
  return text.substr(begin + open.size(), end + 1 - begin - open.size());
}

// What a program writes to its standard output, run in the build folder.
std::string output_of(const std::string& program, const std::string& argument) {
  std::string text;
  std::FILE* pipe =
      popen(("cd '" + kBinary + "' && " DMA_EMULATOR " '" + program + "' " + argument + " 2>/dev/null").c_str(), "r");
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

TEST_CASE("readme: its first program is the example that is built") {
  std::size_t at = 0;
  const std::string program = block(read(kSource + "/README.md"), "cpp", at);
  REQUIRE(!program.empty());
  CHECK(program == read(kSource + "/tools/examples/readme.cpp"));
}

TEST_CASE("readme: the output it states is what the example prints") {
  const std::string readme = read(kSource + "/README.md");
  std::size_t at = 0;
  (void)block(readme, "cpp", at);
  const std::string stated = block(readme, "text", at);
  REQUIRE(!stated.empty());
  const std::string examples = kBinary + "/examples";
  if (!std::filesystem::exists(examples)) {
    MESSAGE("the examples are not built (DMA_BUILD_TOOLS=OFF)");
    return;
  }
  CHECK(without_rounding(output_of(examples, "readme")) == without_rounding(stated));
}
