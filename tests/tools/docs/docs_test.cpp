// The pages of tools/docs and the README: what they show is built and run, and their links lead somewhere.
#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/tools/run_dma.h"

namespace {

namespace fs = std::filesystem;

const fs::path kRoot = DMA_SOURCE_DIR;

std::string text_of(const fs::path& path) {
  std::ifstream stream(path);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

// Every line without its indentation: a page shows the inside of a function from the margin on.
std::string without_indentation(const std::string& text) {
  std::istringstream lines(text);
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    const auto first = line.find_first_not_of(' ');
    if (first != line.npos) out += line.substr(first) + "\n";
  }
  return out;
}

std::vector<fs::path> pages() {
  std::vector<fs::path> found{kRoot / "README.md"};
  for (const auto& entry : fs::directory_iterator(kRoot / "tools/docs"))
    if (entry.path().extension() == ".md") found.push_back(entry.path());
  return found;
}

// As links name them: letters and digits in lower case, "-" for a blank; a second heading of one name has "-1" added.
std::set<std::string> headings_of(const fs::path& page) {
  std::set<std::string> found;
  std::map<std::string, int> before;
  std::istringstream lines(text_of(page));
  bool is_code = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) is_code = !is_code;
    const auto first = line.find_first_not_of('#');
    if (is_code || first == 0 || first == line.npos || line[first] != ' ') continue;
    std::string id;
    for (const char c : line.substr(first + 1))
      if (std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == ' ')
        id += c == ' ' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const int times = before[id]++;
    found.insert(times == 0 ? id : id + "-" + std::to_string(times));
  }
  return found;
}

std::vector<std::string> fenced(const std::string& page, const std::string& language) {
  std::vector<std::string> found;
  const std::string open = "```" + language + "\n";
  for (auto at = page.find(open); at != page.npos; at = page.find(open, at)) {
    at += open.size();
    found.push_back(page.substr(at, page.find("```", at) - at));
  }
  return found;
}

// The arguments of `dma` in the lines of a page that call it, with the files of tools/examples where they are.
std::vector<std::string> commands_on(const fs::path& page) {
  const std::string program = "build/dma ", files = "tools/examples/";
  std::vector<std::string> found;
  for (const std::string& block : fenced(text_of(page), "sh")) {
    std::istringstream lines(block);
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with(program) || line.starts_with(program + "certify")) continue;
      std::string arguments = line.substr(program.size());
      for (auto at = arguments.find(files); at != arguments.npos; at = arguments.find(files, at + files.size()))
        if (at == 0 || arguments[at - 1] == ' ') {
          const std::string root = kRoot.string() + "/";
          arguments.insert(at, root), at += root.size();
        }
      found.push_back(arguments);
    }
  }
  return found;
}

// A fit of an example without the files that it writes, and those: fits that differ in nothing else are one.
// Any other command is taken whole: what it reads may be of its page.
std::pair<std::string, std::vector<std::string>> apart(const std::string& command) {
  std::vector<std::string> outputs;
  if (!command.starts_with("fit " + kRoot.string())) return {command, outputs};
  const std::regex output(" --(model|plot|report) [^ ]+");
  for (std::sregex_iterator at(command.begin(), command.end(), output), end; at != end; ++at)
    outputs.push_back(at->str());
  return {std::regex_replace(command, output, ""), outputs};
}

// The programs that are built and run, and what they state to print (examples_test compares that with what they do).
std::string all_programs(const std::string& before_line) {
  std::string text;
  for (const fs::path folder : {"tools/examples", "tests"})
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder))
      if (entry.path().extension() == ".cpp") {
        std::istringstream lines(text_of(entry.path()));
        for (std::string line; std::getline(lines, line);)
          if (line.starts_with(before_line)) text += line.substr(before_line.size()) + "\n";
      }
  return without_indentation(text);
}

}  // namespace

TEST_CASE("docs: every piece of code is part of a program that is built and run") {
  const std::string programs = all_programs("");
  for (const fs::path& page : pages())
    for (const std::string& code : fenced(text_of(page), "cpp"))
      CHECK_MESSAGE(programs.find(without_indentation(code)) != programs.npos, page.string(), ": no program has\n",
                    code);
}

TEST_CASE("docs: every output is what a program prints") {
  const std::string outputs = all_programs("//   ");
  for (const fs::path& page : pages())
    if (page.filename() != "README.md")  // examples_test runs its program
      for (const std::string& output : fenced(text_of(page), "text"))
        CHECK_MESSAGE(outputs.find(without_indentation(output)) != outputs.npos, page.string(), ": no program prints\n",
                      output);
}

TEST_CASE("docs: every block is fenced with a language, so that a test knows what to do with it") {
  const std::vector<std::string> run{"cpp", "text", "sh", "python",
                                     "json"};  // here and in tests/tools/python/docs_test.py
  const std::vector<std::string> others{"csharp", "julia", "c++",
                                        "stan"};  // languages of other systems, on the page of vocabulary
  for (const fs::path& page : pages()) {
    std::istringstream lines(text_of(page));
    bool inside = false;
    std::string before = "x";
    for (std::string line; std::getline(lines, line); before = line) {
      const auto first = line.find_first_not_of(' ');
      if (first != line.npos && line.compare(first, 3, "```") == 0) {
        const std::string language = line.substr(first + 3);
        const bool known = std::ranges::find(run, language) != run.end() ||
                           (page.filename() == "vocabulary.md" && std::ranges::find(others, language) != others.end());
        CHECK_MESSAGE((inside ? language.empty() : known), page.string(), ": ", line);
        inside = !inside;
      } else if (!inside && before.empty()) {
        CHECK_MESSAGE(!line.starts_with("    "), page.string(), ": code without a fence: ", line);
      }
    }
    CHECK_MESSAGE(!inside, page.string(), ": a fence is not closed");
  }
}

TEST_CASE("docs: every link to a file leads to one, and every page is linked") {
  const std::regex link(R"(\]\(([^)#\s]+)[^)\s]*\))");
  std::string all;
  for (const fs::path& page : pages()) {
    const std::string text = text_of(page);
    all += text;
    for (std::sregex_iterator at(text.begin(), text.end(), link), end; at != end; ++at) {
      const std::string target = (*at)[1];
      if (target.find("://") == target.npos)
        CHECK_MESSAGE(fs::exists(page.parent_path() / target), page.string(), " links to ", target);
    }
  }
  for (const fs::path& page : pages())
    CHECK_MESSAGE((page.filename() == "README.md" || all.find(page.filename().string() + ")") != all.npos),
                  "no page links to ", page.string());
}

TEST_CASE("docs: every link to a heading leads to one") {
  const std::regex link(R"(\]\(([^)#\s]*)#([^)\s]+)\))");
  int links = 0;
  for (const fs::path& page : pages()) {
    const std::string text = text_of(page);
    for (std::sregex_iterator at(text.begin(), text.end(), link), end; at != end; ++at) {
      const std::string target = (*at)[1], heading = (*at)[2];
      if (target.find("://") != target.npos) continue;
      const std::set<std::string> headings = headings_of(target.empty() ? page : page.parent_path() / target);
      CHECK_MESSAGE(headings.contains(heading), page.string(), " links to ", target, "#", heading);
      ++links;
    }
  }
  CHECK(links > 20);
}

TEST_CASE("docs: commands run as they are printed, on the files of tools/examples; fits of one table run as one") {
  const std::vector<fs::path> all_pages = pages();
  std::vector<std::vector<std::string>> commands;
  std::map<std::string, int> times;               // times that a command, without its outputs, stands on the pages
  std::map<std::string, std::string> outputs_of;  // all that it is to write
  for (const fs::path& page : all_pages) {
    commands.push_back(commands_on(page));
    for (const std::string& command : commands.back()) {
      const auto [shared, outputs] = apart(command);
      ++times[shared];
      for (const std::string& output : outputs)
        if (outputs_of[shared].find(output) == std::string::npos) outputs_of[shared] += output;
    }
  }
  // A command that stands several times runs once, in a folder of its own; each page has a copy of the files that its
  // own command writes.
  std::map<std::string, dma::testing::TemporaryFolder> run_once;
  for (std::size_t i = 0; i < all_pages.size(); ++i) {
    const dma::testing::TemporaryFolder folder;  // one for a page: what a command writes, the next may read
    for (const std::string& command : commands[i]) {
      const auto [shared, outputs] = apart(command);
      const bool is_of_several = times[shared] > 1;
      if (!run_once.contains(shared)) {
        const auto& own = is_of_several ? run_once[shared] : folder;
        const auto outcome = dma::testing::run_dma(own, is_of_several ? shared + outputs_of[shared] : command);
        CHECK_MESSAGE(outcome.exit_code == 0, all_pages[i].string(), ": ", command, "\n", outcome.errors);
      }
      if (!is_of_several) continue;
      for (const auto& entry : fs::directory_iterator(run_once[shared].path())) {
        const auto is_named_in = [end = " " + entry.path().filename().string()](const std::string& text) {
          return text.find(end) != std::string::npos;
        };
        if (is_named_in(outputs_of[shared]) && std::ranges::none_of(outputs, is_named_in)) continue;  // another page's
        fs::copy(entry.path(), folder.path() / entry.path().filename(),
                 fs::copy_options::recursive | fs::copy_options::overwrite_existing);
      }
    }
  }
}
