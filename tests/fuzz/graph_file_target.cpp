// Damaged graph files: refused in one line, or read as a graph that survives writing and reading, and runs.
#include <filesystem>
#include <set>

#include "engine/compile/memory_need.h"
#include "engine/exact/exact.h"
#include "engine/joint/joint.h"
#include "engine/support/text.h"
#include "models/graphs/graph_file.h"
#include "schedules/schedules.h"
#include "tests/fuzz/graphs.h"
#include "tests/fuzz/targets.h"
#include "tests/oracles/files.h"

namespace dma::fuzz {

namespace {

constexpr double kMostGraphBytes = 64e6;

std::vector<std::string> read_graph_files() {
  std::set<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(DMA_SOURCE_DIR "/tests/fuzz/graphs"))
    paths.insert(entry.path().filename());
  std::vector<std::string> texts;
  for (const auto& path : paths) texts.push_back(oracle::text_of_file("fuzz/graphs/" + path.string()));
  return texts;
}

}  // namespace

std::size_t fuzz_graph_file(Choices& choices) {
  static const std::vector<std::string> seeds = read_graph_files();
  const std::string seed = choices.any_of(seeds);
  const std::string text = mutated(seed, choices);
  try {
    const GraphFile file = parse_graph(text);
    const std::string written = graph_text(file);
    promise(graph_text(parse_graph(written)) == written, "a graph is read as another than was written:\n{}", written);
    for (const std::vector<std::size_t>& sizes : file.choices.sizes)
      promise(file.chosen(sizes, 1).choices.empty(), "a graph leaves open what was chosen");
    if (memory_need(file.graph, registry()).bytes > kMostGraphBytes) return 1;
    const CompileOptions options{.method = file.method.empty() ? "ep" : file.method};
    const Joint whole = joint({.limit = 50, .hypers = file.hypers});
    const Plan plan = file.schedule == "joint"   ? compile(file.graph, whole, registry(), options)
                      : file.schedule == "exact" ? compile(file.graph, exact({.memory = 1u << 24}), registry(), options)
                      : file.schedule == "flooding" ? compile(file.graph, flooding({.limit = 50}), registry(), options)
                                                    : compile(file.graph, forward_backward(), registry(), options);
    State state(plan);
    file.observe(state);
    const Report report = run(plan, state);
    check_beliefs(file.graph, state, report);
    (void)exact_evidence(plan, state, file.graph);
  } catch (const Error& e) {
    promise_one_line(e.what());
  }
  return 1;
}

}  // namespace dma::fuzz
