// Comments and texts for users are sentences or noun phrases, not relative clauses without a noun.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "tests/structure/source_tree.h"

namespace {

using namespace dma::structure;

// "file:line: text" of each comment, or text for users, that begins with a relative clause. Questions are fine.
std::vector<std::string> dangling(const SourceFile& file) {
  static const std::regex comment("(of|what|where|whether|whose|those|which|how)\\b[^?]*", std::regex::icase);
  static const std::regex text("([Oo]f|[Ww]hat|[Ww]hose|[Tt]hose|Which|Where) [^?]* [^?]*");
  std::vector<std::string> found;
  std::size_t before = std::string::npos;  // column of a comment that this line may continue
  bool text_goes_on = false;
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    const Line& line = file.lines[i];
    for (const std::string& one : line.strings) {
      if (!text_goes_on && std::regex_match(one, text)) found.push_back(file.place(i + 1) + one);
      text_goes_on = false;
    }
    const auto last = line.text.find_last_not_of(' ');
    text_goes_on = last != std::string::npos && line.text[last] == '"';  // the next literal continues this one
    const bool is_alone = line.text.find_first_not_of(' ') == line.comment_at;
    const bool goes_on = is_alone && line.comment_at == before;
    if (!line.comment.empty() && !goes_on && std::regex_match(line.comment, comment))
      found.push_back(file.place(i + 1) + line.comment);
    before = line.comment_at;
  }
  return found;
}

// The sentences of a paragraph of Markdown, or of a docstring or comment of Python, that begin so. Questions are fine.
std::vector<std::string> dangling_sentences(std::string_view paragraph) {
  std::vector<std::string> found;
  for (const std::string_view word : {"Of ", "What ", "Whose ", "Those ", "Which "})
    for (std::size_t at = paragraph.find(word); at != std::string_view::npos; at = paragraph.find(word, at + 1)) {
      const std::string_view before = paragraph.substr(0, at);
      const bool is_start = before.empty() || before.ends_with("**") || before.ends_with("\"\"\"") ||
                            (before.size() > 1 && before.back() == ' ' &&
                             std::string_view(".:!|-#").find(before[before.size() - 2]) != std::string_view::npos);
      const std::size_t end = paragraph.find_first_of(".?!|", at);
      if (is_start && (end == std::string_view::npos || paragraph[end] != '?'))
        found.emplace_back(paragraph.substr(at, 60));
    }
  return found;
}

// Paragraphs without headings and code, each in one line.
std::vector<std::string> paragraphs_of_markdown(std::istream& in) {
  std::vector<std::string> found(1);
  bool is_code = false;
  for (std::string line; std::getline(in, line);) {
    line.erase(0, std::min(line.find_first_not_of(" >"), line.size()));
    const bool is_fence = line.starts_with("```"), is_heading = line.starts_with("#");
    if (line.empty() || is_heading || line.starts_with("|") || line.starts_with("- ")) found.emplace_back();
    if (is_fence) is_code = !is_code;
    if (!is_fence && !is_code && !is_heading) found.back() += (found.back().empty() ? "" : " ") + line;
  }
  return found;
}

// First lines of docstrings, and lines of comments.
std::vector<std::string> comments_of_python(std::istream& in) {
  std::vector<std::string> found;
  for (std::string line; std::getline(in, line);) {
    line.erase(0, std::min(line.find_first_not_of(' '), line.size()));
    if (line.starts_with("\"\"\"") || line.starts_with("# ")) found.push_back(line);
  }
  return found;
}

}  // namespace

TEST_CASE("words: the check finds relative clauses without a noun") {
  const auto found = [](const char* text) { return dangling({"a.h", text}).size(); };
  for (const char* wrong :
       {"// Of a variable.", "// What arrives.", "int a;  // of each slot", "int a;  // one\nint b;  // of a slot",
        "f(\"what is given is wrong\");", "f(R\"(what is given)\");  // of a slot"}) {
    CAPTURE(wrong);
    CHECK(found(wrong) == 1);
  }
  for (const char* right : {"// The message\n// of a slot.", "int a;  // message\n        // of a slot",
                            "// Which of three inputs matter?", "// Offset of a slot.", "f(\"http://of.a.kind\");",
                            "f(\"the value that\"\n  \"what is given is wrong\");", "f(R\"(\nwhat is given\n)\");"}) {
    CAPTURE(right);
    CHECK(found(right) == 0);
  }
}

TEST_CASE("words: comments and texts for users begin with a noun or a verb") {
  for (const SourceFile& file : sources())
    if (file.path != "tests/structure/words_test.cpp")  // which has examples of both
      for (const std::string& one : dangling(file)) FAIL_CHECK(one);
}

TEST_CASE("words: sentences of pages, docstrings and comments begin with a noun or a verb") {
  namespace fs = std::filesystem;
  CHECK(dangling_sentences("One row. Of two, the first.").size() == 1);
  CHECK(dangling_sentences("What is it? It is one of two.").empty());
  for (const char* top : {"README.md", "engine", "factors", "schedules", "models", "tests", "tools"}) {
    const fs::path at = fs::path(DMA_SOURCE_DIR) / top;
    std::vector<fs::path> files{at};
    if (fs::is_directory(at)) files.assign(fs::recursive_directory_iterator(at), fs::recursive_directory_iterator());
    for (const fs::path& file : files) {
      if (file.extension() != ".md" && file.extension() != ".py") continue;
      std::ifstream in(file);
      for (const std::string& paragraph :
           file.extension() == ".py" ? comments_of_python(in) : paragraphs_of_markdown(in))
        for (const std::string& one : dangling_sentences(paragraph)) FAIL_CHECK(file.string() << ": " << one);
    }
  }
}
