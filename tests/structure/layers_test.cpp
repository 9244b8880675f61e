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

using namespace dma::structure;
using Lines = std::vector<std::string>;

// Folders whose headers each folder may include, besides third-party headers in angle brackets.
const std::map<std::string_view, std::set<std::string_view>> kMayInclude = {
    {"engine", {"engine"}},
    {"factors", {"engine", "factors"}},
    {"schedules", {"engine", "schedules"}},
    {"models", {"engine", "factors", "schedules", "models"}},
    {"tools", {"engine", "factors", "schedules", "models", "tools"}},
    {"tests", {"engine", "factors", "schedules", "models", "tools", "tests"}},
};

bool is_ours(std::string_view name) { return kMayInclude.contains(top_folder(name)); }

// True for `folder` and everything below it.
bool is_within(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

// One line per include that breaks the rules of the layers, "file:line: why".
Lines turned_arrows(const SourceFile& file) {
  const auto from = top_folder(file.path);
  Lines found;
  for (const Include& include : file.includes) {
    const auto to = top_folder(include.name);
    if (!is_ours(include.name) && include.quoted)
      found.push_back(file.place(include.line) + "\"" + include.name + "\" is not written from the source root");
    else if (is_ours(include.name) && !kMayInclude.at(from).contains(to))
      found.push_back(file.place(include.line) + std::string(from) + " -> " + std::string(to) + " (" + include.name +
                      ")");
  }
  return found;
}

// The same for the rule in the README.md of the file's folder.
Lines against_readme(const SourceFile& file, const Folder& folder) {
  Lines found;
  for (const Include& include : file.includes) {
    const auto to = folder_of(include.name);
    const auto allows_it = [&](const std::string& allowed) { return is_within(to, allowed); };
    if (is_ours(include.name) && to != folder.path && std::ranges::none_of(folder.may_include, allows_it))
      found.push_back(file.place(include.line) + folder.path + "/README.md does not allow " + std::string(to) + " (" +
                      include.name + ")");
  }
  return found;
}

using Arrows = std::map<std::string, std::set<std::string>>;

// The folders that are in a circle of includes or include such a folder; empty if there is no circle.
Lines in_circles(Arrows arrows) {
  const auto includes_none_left = [&](const auto& room) {
    return std::ranges::none_of(room.second, [&](const std::string& to) { return arrows.contains(to); });
  };
  for (auto ground = arrows.begin(); (ground = std::ranges::find_if(arrows, includes_none_left)) != arrows.end();)
    arrows.erase(ground);
  Lines left;
  for (const auto& room : arrows) left.push_back(room.first);
  return left;
}

// The header and all that it includes, directly or not.
std::set<std::string> closure(const std::string& header) {
  std::set<std::string> found = {header};
  for (Lines waiting = {header}; !waiting.empty();) {
    const auto file = std::ranges::find(sources(), waiting.back(), &SourceFile::path);
    REQUIRE(file != sources().end());
    waiting.pop_back();
    for (const Include& include : file->includes)
      if (found.insert(include.name).second && include.quoted) waiting.push_back(include.name);
  }
  return found;
}

}  // namespace

TEST_CASE("layers: the checks name file, line and what is wrong") {
  const std::string turned = "#include \"schedules/flooding.h\"\n";
  CHECK(turned_arrows({"factors/a.h", "\n  # include <engine/b.h>\n" + turned}) ==
        Lines{"factors/a.h:3: factors -> schedules (schedules/flooding.h)"});
  CHECK(turned_arrows({"engine/a.cpp", "#include <models/network/bnn.h>  // no"}) ==
        Lines{"engine/a.cpp:1: engine -> models (models/network/bnn.h)"});
  CHECK(turned_arrows({"engine/a.cpp", "#include \"b.h\""}) ==
        Lines{"engine/a.cpp:1: \"b.h\" is not written from the source root"});
  CHECK(turned_arrows({"models/a.cpp", turned + "#include <vector>\n#include <boost/graph/a.hpp>\n// #include \"x\""})
            .empty());
  const Folder run{"engine/run", 1, true, {"engine/support", "factors"}};
  CHECK(against_readme({"engine/run/a.cpp", "#include \"engine/certify/certify.h\""}, run) ==
        Lines{"engine/run/a.cpp:1: engine/run/README.md does not allow engine/certify (engine/certify/certify.h)"});
  CHECK(against_readme({"engine/run/a.cpp",
                        "#include \"engine/run/b.h\"\n#include <factors/arithmetic/sum.h>\n#include <vector>\n"
                        "#include \"factors_of_mine/a.h\""},
                       run)
            .empty());
  CHECK(in_circles({{"a", {"b"}}, {"b", {"c"}}, {"c", {}}}).empty());
  CHECK(in_circles({{"a", {"b"}}, {"b", {"c"}}, {"c", {"b"}}, {"d", {}}}) == Lines{"a", "b", "c"});
}

TEST_CASE("layers: no include turns an arrow or breaks the rule of its folder, and no folders form a circle") {
  std::map<std::string_view, Folder> by_path;
  for (const Folder& folder : folders()) {
    CHECK_MESSAGE(folder.has_line, folder.path, "/README.md: the last line is not \"May include: ... .\"");
    by_path.emplace(folder.path, folder);
  }
  for (const Folder& folder : folders())
    for (const std::string& allowed : folder.may_include)
      CHECK_MESSAGE(by_path.contains(allowed), folder.path, "/README.md allows ", allowed, ", which is no folder");
  REQUIRE(!sources().empty());
  Arrows arrows;
  for (const SourceFile& file : sources()) {
    for (const std::string& broken : turned_arrows(file)) FAIL_CHECK(broken);
    for (const std::string& broken : against_readme(file, by_path.at(folder_of(file.path)))) FAIL_CHECK(broken);
    for (const Include& include : file.includes)
      if (is_ours(include.name) && folder_of(include.name) != folder_of(file.path))
        arrows[std::string(folder_of(file.path))].emplace(folder_of(include.name));
  }
  for (const std::string& folder : in_circles(arrows)) FAIL_CHECK(folder << " includes in a circle");
}

// The installed headers are the closure of these two: tools/build/install.cmake.
TEST_CASE("layers: public headers are few, and <dma.h> needs neither Eigen nor JSON") {
  constexpr std::ptrdiff_t kMostOfEngine = 35, kMostOfAll = 50;
  const auto engine = closure("models/public/dma.h"), all = closure("models/public/dma_models.h");
  const auto of_engine = std::ranges::count_if(engine, is_ours), of_all = std::ranges::count_if(all, is_ours);
  CHECK_MESSAGE(of_engine <= kMostOfEngine, "<dma.h> reads ", of_engine, " headers, more than ", kMostOfEngine);
  CHECK_MESSAGE(of_all <= kMostOfAll, "<dma_models.h> reads ", of_all, " headers, more than ", kMostOfAll);
  for (const std::string& name : engine)
    CHECK_MESSAGE(!(name.starts_with("Eigen") || name.starts_with("nlohmann") || name.starts_with("boost")),
                  "<dma.h> includes ", name);
  for (const std::string header : {"engine/compile/plan_data.h", "engine/run/state_data.h", "engine/compile/resolve.h"})
    CHECK_MESSAGE(!all.contains(header), header, " is private, but a public header includes it");
}

TEST_CASE("layers: Boost.Graph stays inside one .cpp of the engine") {
  std::set<std::string> homes;
  for (const SourceFile& file : sources())
    for (const Include& include : file.includes)
      if (include.name.starts_with("boost/graph/") && !is_within(file.path, "tools") && !is_within(file.path, "tests"))
        homes.insert(file.path);
  REQUIRE(homes.size() == 1);
  CHECK((homes.begin()->starts_with("engine/") && homes.begin()->ends_with(".cpp")));
}
