#include "tools/dma/pictures/graphviz.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "tests/tools/run_dma.h"
#include "tools/dma/pictures/run_program.h"

namespace dma::plot {

namespace {

using namespace testing;

// Stands before all other programs while it lives.
class Program {
 public:
  Program(const std::string& name, const std::string& script) : before_(std::getenv("PATH")) {
    folder_.write(name, "#!/bin/sh\n" + script + "\n");
    std::filesystem::permissions(folder_.path() / name, std::filesystem::perms::owner_all);
    setenv("PATH", (folder_.path().string() + ":" + before_).c_str(), 1);
  }
  ~Program() { setenv("PATH", before_.c_str(), 1); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

 private:
  TemporaryFolder folder_;
  std::string before_;
};

std::string chain(std::size_t edges) {
  std::string dot = "digraph {\n";
  for (std::size_t i = 0; i < edges; ++i) dot += fmt::format("  v{} -> v{};\n", i, i + 1);
  return dot + "}\n";
}

}  // namespace

TEST_CASE("run_program: a program that does not end is ended when its time is over") {
  const ScratchFolder folder;
  CHECK(run_in(folder.path(), {"sleep", "600"}, 0.05) == kTooLong);
  CHECK(run_in(folder.path(), {"true"}, 60) == 0);
  CHECK(run_in(folder.path(), {"dma-no-such-program"}, 60) == kNoSuchProgram);
}

TEST_CASE("graphviz: a layout that does not end leaves a sentence, not a picture") {
  const Program waiting("dot", "exec sleep 600");
  std::string why;
  CHECK(graph_picture(chain(3), "svg", why, 0.05).empty());
  CHECK(why == "Graphviz, which draws it, took more than 0.05 seconds");
}

TEST_CASE("graphviz: a graph of many edges is placed by springs, one of too many not at all") {
  const Program ranks("dot", "printf ranks >picture"), springs("sfdp", "printf springs >picture");
  std::string why;
  CHECK(graph_picture(chain(kMostRanked), "svg", why) == "ranks");
  CHECK(graph_picture(chain(kMostRanked + 1), "svg", why) == "springs");
  CHECK(graph_picture(chain(kMostDrawn), "svg", why) == "springs");
  CHECK(why.empty());
  CHECK(graph_picture(chain(kMostDrawn + 1), "svg", why).empty());
  CHECK(why == "the graph has 5001 edges, more than the 5000 that are drawn");
}

TEST_CASE("graphviz: dma infer writes its page without a picture that is too large, and says why") {
  const TemporaryFolder folder;
  std::string variables, names;
  for (std::size_t i = 0; i < kMostDrawn; ++i) {
    variables += fmt::format("\"x{}\": {{\"observed\": 1}}, ", i);
    names += fmt::format("\"x{}\", ", i);
  }
  folder.write("g.json", "{\"variables\": {" + variables +
                             "\"y\": {}}, \"factors\": [{\"kind\": \"sum\", \"connects\": [" + names + "\"y\"]}]}");
  const auto outcome = testing::run_dma(folder, "infer g.json --report page.html --plot graph.svg");
  CHECK_MESSAGE(outcome.exit_code == 0, outcome.errors);
  const std::string why = "the graph has 5001 edges, more than the 5000 that are drawn";
  CHECK(holds(outcome.output, "picture  none: " + why + "; --dot writes the graph\n"));
  CHECK(holds(folder.read("page.html"), "<p class=\"soft\">There is no picture: " + why + ".</p>"));
  CHECK(folder.read("graph.svg").empty());
}

}  // namespace dma::plot
