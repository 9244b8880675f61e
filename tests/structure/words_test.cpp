// Comments and texts for users are sentences or noun phrases, not relative clauses without a noun.
#include <doctest/doctest.h>

#include <regex>
#include <string>
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
