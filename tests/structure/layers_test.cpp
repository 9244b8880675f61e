// The arrows between the layers: engine <- factors, schedules <- models <- tools <- tests.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/structure/source_tree.h"

namespace {

using dma::structure::includes_of;
using dma::structure::read_sources;
using dma::structure::SourceFile;
using dma::structure::top_folder;

// What a file of each folder may include, besides third-party headers in angle brackets.
const std::map<std::string_view, std::vector<std::string_view>> kMayInclude = {
    {"engine", {"engine"}},
    {"factors", {"engine", "factors"}},
    {"schedules", {"engine", "schedules"}},
    {"models", {"engine", "factors", "schedules", "models"}},
    {"tools", {"engine", "factors", "schedules", "models", "tools"}},
    {"tests", {"engine", "factors", "schedules", "models", "tools", "tests"}},
};

// The rooms of engine/, in the order in which a model walks through them; what a file of each may include of the engine.
const std::map<std::string_view, std::vector<std::string_view>> kRoomMayInclude = {
    {"support", {"support"}},
    {"messages", {"support", "messages"}},
    {"graph", {"support", "messages", "graph"}},
    {"kinds", {"support", "messages", "graph", "kinds"}},
    {"compile", {"support", "messages", "graph", "kinds", "compile"}},
    {"run", {"support", "messages", "graph", "kinds", "compile", "run"}},
    {"joint", {"support", "messages", "graph", "kinds", "compile", "run", "joint"}},
    {"learn", {"support", "messages", "graph", "kinds", "compile", "run", "joint", "learn"}},
    {"inspect", {"support", "messages", "graph", "kinds", "compile", "run", "inspect"}},
    {"certify", {"support", "messages", "graph", "kinds", "compile", "run", "certify"}},
};

// "run" of "engine/run/state.h"; empty outside the engine.
std::string_view room(std::string_view path) {
  if (!path.starts_with("engine/")) return {};
  path.remove_prefix(std::string_view("engine/").size());
  return path.substr(0, path.find('/') == path.npos ? 0 : path.find('/'));
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
    } else if (from == "engine" && to == "engine") {
      const auto room_of_file = kRoomMayInclude.find(room(file.path));
      const std::string_view other = room(include.name);
      if (room_of_file == kRoomMayInclude.end())
        found.push_back(where + "not in a room of the engine");
      else if (std::ranges::find(room_of_file->second, other) == room_of_file->second.end())
        found.push_back(where + "engine/" + std::string(room_of_file->first) + " -> engine/" + std::string(other) + " (" +
                        include.name + ")");
    }
  }
  return found;
}

bool is_layer(std::string_view folder) { return folder != "tools" && folder != "tests"; }

}  // namespace

TEST_CASE("layers: the check names file, line and arrow") {
  const std::string turned = "#include \"schedules/flooding.h\"";
  CHECK(turned_arrows({"factors/a.h", {"", "  # include <engine/b.h>", turned}}) ==
        std::vector<std::string>{"factors/a.h:3: factors -> schedules (schedules/flooding.h)"});
  CHECK(turned_arrows({"engine/a.cpp", {"#include <models/network/bnn.h>  // no"}}) ==
        std::vector<std::string>{"engine/a.cpp:1: engine -> models (models/network/bnn.h)"});
  CHECK(turned_arrows({"engine/a.cpp", {"#include \"b.h\""}}) ==
        std::vector<std::string>{"engine/a.cpp:1: \"b.h\" is not written from the source root"});
  CHECK(turned_arrows({"engine/run/a.cpp", {"#include \"engine/certify/certify.h\""}}) ==
        std::vector<std::string>{"engine/run/a.cpp:1: engine/run -> engine/certify (engine/certify/certify.h)"});
  CHECK(turned_arrows({"engine/a.cpp", {"#include \"engine/run/run.h\""}}) ==
        std::vector<std::string>{"engine/a.cpp:1: not in a room of the engine"});
  CHECK(turned_arrows(
            {"models/a.cpp", {turned, "#include <vector>", "#include <boost/graph/a.hpp>", "// #include \"x\""}})
            .empty());
}

TEST_CASE("layers: no include turns an arrow") {
  const auto sources = read_sources();
  REQUIRE(!sources.empty());
  for (const auto& file : sources) {
    for (const auto& arrow : turned_arrows(file)) FAIL_CHECK(arrow);
  }
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
