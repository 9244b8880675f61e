// The dependencies between the layers, engine <- factors, schedules <- models <- tools <- tests, and between the rooms
// of each, as stated in the README.md of every folder.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/structure/source_tree.h"

namespace {

using dma::structure::Folder;
using dma::structure::folder_of;
using dma::structure::includes_of;
using dma::structure::read_folders;
using dma::structure::read_sources;
using dma::structure::SourceFile;
using dma::structure::top_folder;

// Folders whose headers each folder may include, besides third-party headers in angle brackets.
const std::map<std::string_view, std::vector<std::string_view>> kMayInclude = {
    {"engine", {"engine"}},
    {"factors", {"engine", "factors"}},
    {"schedules", {"engine", "schedules"}},
    {"models", {"engine", "factors", "schedules", "models"}},
    {"tools", {"engine", "factors", "schedules", "models", "tools"}},
    {"tests", {"engine", "factors", "schedules", "models", "tools", "tests"}},
};

// True for `folder` and everything below it.
bool is_within(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

// One line per broken rule, "file:line: what".
std::vector<std::string> turned_arrows(const SourceFile& file) {
  const auto from = top_folder(file.path);
  const auto& allowed = kMayInclude.at(from);
  std::vector<std::string> found;
  for (const auto& include : includes_of(file)) {
    const auto to = top_folder(include.name);
    const std::string where = file.path + ":" + std::to_string(include.line) + ": ";
    if (!kMayInclude.contains(to)) {
      if (include.quoted) found.push_back(where + "\"" + include.name + "\" is not written from the source root");
    } else if (std::ranges::find(allowed, to) == allowed.end()) {
      found.push_back(where + std::string(from) + " -> " + std::string(to) + " (" + include.name + ")");
    }
  }
  return found;
}

// The same for the rule in the README.md of the file's folder.
std::vector<std::string> against_readme(const SourceFile& file, const Folder& folder) {
  std::vector<std::string> found;
  for (const auto& include : includes_of(file)) {
    const auto to = folder_of(include.name);
    if (!kMayInclude.contains(top_folder(include.name)) || to == folder.path) continue;
    if (std::ranges::none_of(folder.may_include, [&](const std::string& allowed) { return is_within(to, allowed); }))
      found.push_back(file.path + ":" + std::to_string(include.line) + ": " + folder.path +
                      "/README.md does not allow " + std::string(to) + " (" + include.name + ")");
  }
  return found;
}

// Folders that include each other in a circle, in order; empty if there is none.
std::vector<std::string> circle(std::map<std::string, std::set<std::string>> arrows) {
  while (!arrows.empty()) {
    const auto ground = std::ranges::find_if(arrows, [&](const auto& room) {  // includes no folder that is left
      return std::ranges::none_of(room.second, [&](const std::string& to) { return arrows.contains(to); });
    });
    if (ground != arrows.end()) {
      arrows.erase(ground);
      continue;
    }
    std::vector<std::string> path{arrows.begin()->first};
    while (true) {
      const auto& next = arrows.at(path.back());
      path.push_back(*std::ranges::find_if(next, [&](const std::string& to) { return arrows.contains(to); }));
      const auto met = std::find(path.begin(), path.end() - 1, path.back());
      if (met != path.end() - 1) return {met, path.end()};
    }
  }
  return {};
}

bool is_layer(std::string_view folder) { return folder != "tools" && folder != "tests"; }

// The header and all that it includes, directly or not.
std::set<std::string> closure(const std::string& header) {
  std::map<std::string, SourceFile> headers;
  for (const SourceFile& file : read_sources()) headers[file.path] = file;
  std::set<std::string> found = {header};
  std::vector<std::string> waiting = {header};
  while (!waiting.empty()) {
    const SourceFile& file = headers.at(waiting.back());
    waiting.pop_back();
    for (const auto& include : includes_of(file))
      if (found.insert(include.name).second && include.quoted) waiting.push_back(include.name);
  }
  return found;
}

}  // namespace

TEST_CASE("layers: the check names file, line and arrow") {
  const std::string turned = "#include \"schedules/flooding.h\"";
  CHECK(turned_arrows({"factors/a.h", {"", "  # include <engine/b.h>", turned}}) ==
        std::vector<std::string>{"factors/a.h:3: factors -> schedules (schedules/flooding.h)"});
  CHECK(turned_arrows({"engine/a.cpp", {"#include <models/network/bnn.h>  // no"}}) ==
        std::vector<std::string>{"engine/a.cpp:1: engine -> models (models/network/bnn.h)"});
  CHECK(turned_arrows({"engine/a.cpp", {"#include \"b.h\""}}) ==
        std::vector<std::string>{"engine/a.cpp:1: \"b.h\" is not written from the source root"});
  CHECK(turned_arrows(
            {"models/a.cpp", {turned, "#include <vector>", "#include <boost/graph/a.hpp>", "// #include \"x\""}})
            .empty());
}

TEST_CASE("layers: the check of a folder's README names file, line and folder") {
  const Folder run{"engine/run", 1, true, {"engine/support", "factors"}};
  const std::string certify = "#include \"engine/certify/certify.h\"";
  CHECK(against_readme({"engine/run/a.cpp", {certify}}, run) ==
        std::vector<std::string>{
            "engine/run/a.cpp:1: engine/run/README.md does not allow engine/certify (engine/certify/certify.h)"});
  CHECK(against_readme({"engine/run/a.cpp",
                        {"#include \"engine/run/b.h\"", "#include <factors/arithmetic/sum.h>", "#include <vector>"}},
                       run)
            .empty());
  CHECK(
      // Turned_arrows reports it.
      against_readme({"engine/run/a.cpp", {"#include \"factors_of_mine/a.h\""}}, run).empty());
  CHECK(circle({{"a", {"b"}}, {"b", {"c"}}, {"c", {}}}).empty());
  CHECK(circle({{"a", {"b"}}, {"b", {"c"}}, {"c", {"b"}}}) == std::vector<std::string>{"b", "c", "b"});
}

TEST_CASE("layers: every folder has a README whose last line names the folders that it may include") {
  std::map<std::string, Folder> folders;
  for (Folder& folder : read_folders()) {
    CHECK_MESSAGE(folder.has_line, folder.path, "/README.md: the last line is not \"May include: ... .\"");
    folders.emplace(folder.path, folder);
  }
  for (const auto& folder : folders)
    for (const std::string& allowed : folder.second.may_include)
      CHECK_MESSAGE(folders.contains(allowed), folder.first, "/README.md allows ", allowed, ", which is no folder");
  for (const auto& file : read_sources())
    for (const auto& broken : against_readme(file, folders.at(std::string(folder_of(file.path))))) FAIL_CHECK(broken);
}

TEST_CASE("layers: no folders include each other in a circle") {
  std::map<std::string, std::set<std::string>> arrows;
  for (const auto& file : read_sources()) {
    const std::string from(folder_of(file.path));
    for (const auto& include : includes_of(file)) {
      const std::string to(folder_of(include.name));
      if (kMayInclude.contains(top_folder(include.name)) && to != from) arrows[from].insert(to);
    }
  }
  std::string found;
  for (const std::string& folder : circle(arrows)) found += (found.empty() ? "" : " -> ") + folder;
  CHECK(found == "");
}

TEST_CASE("layers: no include turns an arrow") {
  const auto sources = read_sources();
  REQUIRE(!sources.empty());
  for (const auto& file : sources) {
    for (const auto& arrow : turned_arrows(file)) FAIL_CHECK(arrow);
  }
}

// The installed headers are the closure of these two: tools/build/install.cmake.
TEST_CASE("layers: public headers are few, and <dma.h> needs neither Eigen nor JSON") {
  constexpr std::ptrdiff_t kMostOfEngine = 63, kMostOfAll = 89;
  const auto ours = [](const std::set<std::string>& all) {
    return std::ranges::count_if(all, [](const std::string& name) { return kMayInclude.contains(top_folder(name)); });
  };
  const auto engine = closure("models/public/dma.h"), all = closure("models/public/dma_models.h");
  CHECK_MESSAGE(ours(engine) <= kMostOfEngine, "<dma.h> reads ", ours(engine), " headers, more than ", kMostOfEngine);
  CHECK_MESSAGE(ours(all) <= kMostOfAll, "<dma_models.h> reads ", ours(all), " headers, more than ", kMostOfAll);
  for (const std::string& name : engine)
    CHECK_MESSAGE(!(name.starts_with("Eigen") || name.starts_with("nlohmann") || name.starts_with("boost")),
                  "<dma.h> includes ", name);
  for (const std::string header : {"engine/compile/plan_data.h", "engine/run/state_data.h", "engine/compile/resolve.h"})
    CHECK_MESSAGE(!all.contains(header), header, " is private, but a public header includes it");
}

TEST_CASE("layers: Boost.Graph stays inside one .cpp of the engine") {
  std::string home;
  for (const auto& file : read_sources()) {
    if (!is_layer(top_folder(file.path))) continue;
    for (const auto& include : includes_of(file)) {
      if (!include.name.starts_with("boost/graph/")) continue;
      if (home.empty()) home = file.path;
      CHECK_MESSAGE(file.path == home, file.path, ":", include.line, ": Boost.Graph is already in ", home);
      CHECK_MESSAGE((file.path.starts_with("engine/") && file.path.ends_with(".cpp")), file.path, ":", include.line,
                    ": Boost.Graph belongs in a .cpp of engine/");
    }
  }
}
