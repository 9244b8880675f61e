#include "models/graph_file.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "engine/support/error.h"

using namespace dma;

TEST_CASE("graph file: written and read again, nothing changes") {
  for (const auto& entry : std::filesystem::directory_iterator(DMA_SOURCE_DIR "/tools/examples/graphs")) {
    std::ifstream stream(entry.path());
    std::ostringstream text;
    text << stream.rdbuf();
    CAPTURE(entry.path().string());
    const std::string written = graph_text(parse_graph(text.str()));
    CHECK(graph_text(parse_graph(written)) == written);
    CHECK(Json::parse(written) == Json::parse(text.str()));
  }
}

TEST_CASE("graph file: every number, name and connection survives") {
  GraphFile file;
  Graph& g = file.graph;
  const auto a = g.variable("a/b~c \"quoted\"", 4), p = g.variable("p", 2, "gamma"), w = g.shared("w", 2), y = g.observed("y", 2);
  g.factor("gaussian_prior", {a}, {{"mean", std::vector<double>{0.1, 1e-300, -5e300, 1.0 / 3}}, {"variance", kInfinity}});
  g.factor("sum", {Connection("terms", gather(a, {3, 0, 1, 1})), row(w), column(w), all_to_one(w), shift(a, -2), y}, {},
           {.name = "s", .method = "ep", .damping = 0.3});
  g.factor("gamma_prior", {p}, {{"shape", 2.0}, {"rate", 0.1}});
  file.observations.push_back({y, {0.1 + 0.2, std::nullopt}});
  file.schedule = "flooding", file.method = "ep", file.description = "text";
  const std::string text = graph_text(file);
  const GraphFile again = parse_graph(text);
  CHECK(graph_text(again) == text);
  CHECK(again.graph.factors()[0].parameters[0].second.numbers[3] == 1.0 / 3);
  CHECK(again.graph.factors()[0].parameters[1].second.numbers[0] == kInfinity);
  CHECK(*again.observations[0].values[0] == 0.1 + 0.2);
  CHECK(!again.observations[0].values[1]);
  CHECK(again.graph.factors()[1].connections[4].lag() == -2);
  CHECK(again.graph.factors()[1].damping == 0.3);
  CHECK(again.graph[again.graph.find_variable("w")].shared);
}
