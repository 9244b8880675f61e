// Reading and solving the graph of `dma infer`.
#include <fmt/format.h>

#include <algorithm>

#include "engine/compile/memory_need.h"
#include "engine/compile/plan_data.h"
#include "engine/support/model_file.h"
#include "engine/support/text.h"
#include "tools/dma/commands/infer_output.h"
#include "tools/dma/io/read_file.h"

namespace dma {

namespace {

std::string in_gigabytes(double bytes) { return fmt::format("{:.3g}GB", bytes / 1e9); }

void check_memory(const Graph& graph, const Registry& registry, double limit) {
  const MemoryNeed need = memory_need(graph, registry);
  if (need.bytes > limit)
    fail(
        "the graph would take about {}, more than the limit of {}, most of it for {}; make it smaller, or raise "
        "--memory-limit",
        in_gigabytes(need.bytes), in_gigabytes(limit), need.largest);
}

std::vector<GivenText> given_by(const std::vector<std::string>& observed) {
  std::vector<GivenText> given;
  for (const std::string& text : observed) {
    const std::size_t at = text.find('=');
    if (at == 0 || at == std::string::npos) fail("--observe is '{}'; NAME=VALUE is expected, such as HR=LOW", text);
    given.push_back({text.substr(0, at), text.substr(at + 1)});
  }
  return given;
}

// Throws an Error that says which observations are impossible together, where a sweep found that some are.
void name_contradiction(const GraphFile& file, const Answer& solved, const SolveOptions& options) {
  if (solved.plan->solver || evidence_of(solved).value != -kInfinity) return;
  try {
    (void)solve_told(
        file.graph, [&](State& state) { file.observe(state); }, exact(options.exact), options);
  } catch (const Contradiction&) {
    throw;
  } catch (const Error&) {  // not discrete, or too wide
  }
}

}  // namespace

GraphFile read_graph(const InferRequest& request, double limit, std::optional<PoseGraph>& poses) {
  constexpr double kBytesPerCharacter = 16;  // "0," is a value of JSON and an observation
  const std::vector<GivenText> given = given_by(request.observed);
  const auto longest = static_cast<std::size_t>(std::min(limit / kBytesPerCharacter, 1e18));
  const std::string text =
      read_file(request.graph, "a graph file", longest, "; or raise --memory-limit, 16 times as large");
  if (text.starts_with(kModelFileStart))
    fail("'{}' is a fitted model, not a graph; dma inspect shows it, dma predict uses it", request.graph.string());
  try {
    if (!is_g2o(text)) {
      for (const auto& [option, value] : {std::pair{"--poses", request.poses.string()}, {"--loss", request.loss}})
        if (!value.empty()) fail("{} is for g2o files of poses; this is none", option);
      return parse_graph(text, given);
    }
    poses = parse_g2o(text);
    GraphFile found = poses->graph(parse_loss(request.loss));
    found.observe(given);
    return found;
  } catch (const Error& error) {
    fail("'{}': {}", request.graph.string(), error.what());
  }
}

Answer solve_file(const InferRequest& request, const GraphFile& file, double limit, SolveOptions& options) {
  const std::string method = request.method.empty() ? file.method : request.method;
  const std::string schedule = request.schedule.empty() ? file.schedule : request.schedule;
  try {
    check_memory(file.graph, *options.registry, limit);
    if (!method.empty()) options.compile.method = method;
    file.add_hypers(options.joint);
    const TellState tell = [&](State& state) { file.observe(state); };
    Answer found = schedule.empty() || schedule == "auto"
                       ? solve_told(file.graph, tell, options)
                       : solve_told(file.graph, tell, solver_named(schedule, options), options);
    name_contradiction(file, found, options);
    return found;
  } catch (const Error& error) {
    std::string complaint = error.what();
    for (const std::string solver : {"joint", "exact", "tree_reweighted"})  // as a program says it
      if (const std::string option = solver + "({.memory = ...})"; complaint.find(option) != std::string::npos)
        complaint.replace(complaint.find(option), option.size(), "--memory-limit");
    fail("'{}': {}", request.graph.string(), located(file, complaint));
  }
}

}  // namespace dma
