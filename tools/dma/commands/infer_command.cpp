// dma infer: a factor graph from a file, solved.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/compile/memory_need.h"
#include "engine/inspect/dot.h"
#include "engine/joint/joint.h"
#include "engine/run/evidence.h"
#include "engine/support/error.h"
#include "engine/support/text.h"
#include "factors/standard_registry.h"
#include "models/files/readable_json.h"
#include "models/graphs/graph_file.h"
#include "schedules/flooding.h"
#include "schedules/forward_backward.h"
#include "schedules/residual.h"
#include "schedules/sequential.h"
#include "tools/dma/commands/commands.h"
#include "tools/dma/io/read_file.h"
#include "tools/dma/io/write_file.h"
#include "tools/dma/pictures/gnuplot.h"
#include "tools/dma/pictures/graphviz.h"

namespace dma {

namespace {

constexpr std::size_t kShownElements = 12;

struct InferRequest {
  std::filesystem::path graph, dot, plot;
  std::string method, schedule, memory = "1GB";
  bool evidence = false, json = false;
};

// "500MB", "8GB", "1e9": in bytes.
double bytes_of(const std::string& text) {
  constexpr std::pair<std::string_view, double> kUnits[] = {{"", 1},     {"B", 1},    {"kB", 1e3},
                                                            {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}};
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  const auto* const unit =
      std::ranges::find(kUnits, std::string_view(end), &std::pair<std::string_view, double>::first);
  if (end == text.c_str() || unit == std::end(kUnits) || !(number > 0 && number < kInfinity))
    fail("--memory-limit is '{}'; a size such as 500MB or 8GB is expected", text);
  return number * unit->second;
}

std::string in_gigabytes(double bytes) { return fmt::format("{:.3g}GB", bytes / 1e9); }

void check_memory(const Graph& graph, const Registry& registry, double limit) {
  const MemoryNeed need = memory_need(graph, registry);
  if (need.bytes > limit)
    fail(
        "the graph would take about {}, more than the limit of {}, most of it for {}; make it smaller, or raise "
        "--memory-limit",
        in_gigabytes(need.bytes), in_gigabytes(limit), need.largest);
}

// Kinds without messages by the default method have them by another: nobody needs to ask for it.
std::map<std::string, std::string> methods_of_kinds(const Graph& graph, const Registry& registry) {
  std::map<std::string, std::string> methods;
  const std::string usual = CompileOptions().method;
  for (const Graph::Factor& factor : graph.factors()) {
    const std::vector<std::string> known = registry.kind(factor.kind).methods();
    const auto has = [&](std::string_view method) { return std::ranges::find(known, method) != known.end(); };
    if (!known.empty() && !has(usual) && !has(kExact))
      methods[std::string(factor.kind)] = has("ep") ? "ep" : known.front();
  }
  return methods;
}

struct Solved {
  Plan plan;
  State state;
  Report report;
};

Solved solve(const GraphFile& file, Plan plan) {
  State state(plan);
  file.observe(state);
  Report report = run(plan, state);
  return {std::move(plan), std::move(state), std::move(report)};
}

// One sweep where that is exact; otherwise all at once where everything is Gaussian, and repeated sweeps where it is
// not.
Solved solve_best(const GraphFile& file, const Joint& whole_graph, const Registry& registry,
                  const CompileOptions& options) {
  std::string refusal;
  const auto compiled = [&](const auto& rule) -> std::optional<Plan> {
    try {
      return compile(file.graph, rule, registry, options);
    } catch (const Error& error) {  // a kind, a method or a family that it does not know
      if (refusal.empty()) refusal = error.what();
      return std::nullopt;
    }
  };
  if (!whole_graph.options.hypers.empty()) return solve(file, compile(file.graph, whole_graph, registry, options));
  if (const auto once = compiled(forward_backward())) {
    Solved solved = solve(file, *once);
    if (solved.report.stop == Report::Stop::exact) return solved;
  }
  if (const auto whole = compiled(whole_graph)) return solve(file, *whole);
  if (const auto sweeps = compiled(flooding({.limit = 1000}))) return solve(file, *sweeps);
  fail("{}", refusal);
}

Solved solve_as_asked(const GraphFile& file, const std::string& schedule, const Joint& whole_graph,
                      const Registry& registry, const CompileOptions& options) {
  if (schedule.empty() || schedule == "auto") return solve_best(file, whole_graph, registry, options);
  if (schedule != "joint" && !file.hypers.empty())
    fail("schedule '{}' knows no hypers; leave the schedule to \"joint\", or hyper '{}' out", schedule,
         file.hypers[0].name);
  if (schedule == "joint") return solve(file, compile(file.graph, whole_graph, registry, options));
  const std::pair<std::string, Scheduler> known[] = {{"forward_backward", forward_backward()},
                                                     {"flooding", flooding({.limit = 1000})},
                                                     {"sequential", sequential({.limit = 1000})},
                                                     {"residual", residual({.limit = 1000})}};
  std::vector<std::string> names{"auto", "joint"};
  for (const auto& [name, rule] : known) {
    if (name == schedule) return solve(file, compile(file.graph, rule, registry, options));
    names.push_back(name);
  }
  fail("there is no schedule '{}'{}", schedule, suggestion(schedule, names));
}

std::string element_name(const Belief& belief, const std::string& name, std::size_t i) {
  return belief.size() == 1 ? name : fmt::format("{}[{}]", name, i);
}

// "flooding": the first words of how the plan is solved.
std::string schedule_name(const Plan& plan) {
  const std::string text = plan->solver ? "joint" : plan.schedule_text();
  return text.substr(0, text.find_first_of(":\n"));
}

std::vector<std::string> uninformed(const Graph& graph, const State& state) {
  std::vector<std::string> names;
  for (std::size_t v = 0; v < graph.variables().size(); ++v) {
    if (graph.variables()[v].observed) continue;
    const Belief belief = state.belief(VariableId{static_cast<std::uint32_t>(v)});
    for (std::size_t i = 0; i < belief.size(); ++i)
      if (belief.is_uninformed(i)) names.push_back(element_name(belief, graph.variables()[v].name, i));
  }
  return names;
}

// The value, "log evidence -3.21, exact" and its parts; or why there is none.
struct FoundEvidence {
  std::optional<double> value;
  std::string line, parts, why;  // why: it is approximate; empty: exact
};
FoundEvidence evidence_of(const Solved& solved) {
  try {
    const Evidence found = evidence(solved.plan, solved.state);
    return {found.log_value, found.line(), found.factors.empty() ? "" : found.text(), found.why};
  } catch (const Error& error) {
    return {{}, fmt::format("log evidence: none; {}", error.what()), "", ""};
  }
}

void print_beliefs(const Graph& graph, const State& state) {
  std::size_t width = 8;
  for (const Graph::Variable& variable : graph.variables())
    width = std::max(width, variable.name.size() + (variable.size > 1 ? 5 : 0));
  for (std::size_t v = 0; v < graph.variables().size(); ++v) {
    const Graph::Variable& variable = graph.variables()[v];
    const Belief belief = state.belief(VariableId{static_cast<std::uint32_t>(v)});
    const auto is_missing = [&](std::size_t i) {
      return state.is_missing(VariableId{static_cast<std::uint32_t>(v)}, i);
    };
    for (std::size_t i = 0; i < std::min(belief.size(), kShownElements); ++i)
      fmt::print("  {:<{}}  {}{}\n", element_name(belief, variable.name, i), width,
                 belief.family()->text(belief.message(i)), is_missing(i) ? ", missing" : "");
    if (belief.size() > kShownElements)
      fmt::print("  {:<{}}  {} more; --json prints them all\n", "", width, belief.size() - kShownElements);
  }
}

Json beliefs_json(const Graph& graph, const State& state) {
  Json json = Json::object();
  for (std::size_t v = 0; v < graph.variables().size(); ++v) {
    const Belief belief = state.belief(VariableId{static_cast<std::uint32_t>(v)});
    Json& entry = json[graph.variables()[v].name] = {{"family", belief.family().text()}};
    for (std::size_t i = 0; i < belief.size(); ++i)
      for (std::size_t k = 0; k < belief.family().components(); ++k) {
        entry["mean"].push_back(json_number(belief.mean(i, k)));
        entry["sd"].push_back(json_number(belief.sd(i, k)));
      }
  }
  return json;
}

// What is known of each hyper; nothing where their integral was not found.
std::vector<std::pair<std::string, HyperBelief>> hypers_of(const GraphFile& file, const Solved& solved) {
  std::vector<std::pair<std::string, HyperBelief>> out;
  for (const Hyper& hyper : file.hypers)
    if (solved.report.joint && solved.report.joint->hypers)
      out.emplace_back(hyper.name, JointPosterior(solved.state).hyper(hyper.name));
  return out;
}

void infer(const InferRequest& request) {
  plot::check_picture(request.plot);
  check_outputs({{"--dot", request.dot}, {"--plot", request.plot}}, {{"graph", request.graph}});
  const double limit = bytes_of(request.memory);
  constexpr double kBytesPerCharacter = 16;  // "0," is a value of JSON and an observation
  const auto longest = static_cast<std::size_t>(std::min(limit / kBytesPerCharacter, 1e18));
  const std::string text =
      read_file(request.graph, "a graph file", longest, "; or raise --memory-limit, 16 times as large");
  const GraphFile file = [&] {
    try {
      return parse_graph(text);
    } catch (const Error& error) {
      fail("'{}': {}", request.graph.string(), error.what());
    }
  }();
  const Registry registry = standard_registry();
  CompileOptions options{.fuse = false};  // every variable is to be seen
  const std::string method = request.method.empty() ? file.method : request.method;
  const Solved solved = [&] {
    try {
      check_memory(file.graph, registry, limit);
      if (method.empty()) options.kind_methods = methods_of_kinds(file.graph, registry);
      else options.method = method;
      return solve_as_asked(file, request.schedule.empty() ? file.schedule : request.schedule,
                            joint({.memory = static_cast<std::uint64_t>(std::min(limit, 1e18)), .hypers = file.hypers}),
                            registry, options);
    } catch (const Error& error) {
      std::string complaint = error.what();
      constexpr std::string_view kOption = "joint({.memory = ...})";  // as a program would say it
      if (const auto at = complaint.find(kOption); at != std::string::npos)
        complaint.replace(at, kOption.size(), "--memory-limit");
      fail("'{}': {}", request.graph.string(), located(file, complaint));
    }
  }();
  const FoundEvidence found = evidence_of(solved);
  const std::vector<std::string> open = uninformed(file.graph, solved.state);
  const std::string dot = to_dot(file.graph, registry, solved.state);
  if (!request.dot.empty()) write_file(request.dot, dot);
  std::string skipped;
  if (!request.plot.empty()) skipped = plot::draw_graph(dot, request.plot);
  if (request.json) {
    Json json{{"schedule", schedule_name(solved.plan)},
              {"report", solved.report.line()},
              {"converged", solved.report.converged()},
              {"beliefs", beliefs_json(file.graph, solved.state)},
              {"uninformed", open}};
    json["log_evidence"] = found.value ? json_number(*found.value) : Json();
    if (found.value) json["log_evidence_is_exact"] = found.why.empty();
    for (const auto& [name, belief] : hypers_of(file, solved))
      json["hypers"][name] = {{"mean", belief.mean()}, {"sd", belief.sd()}, {"median", belief.quantile(0.5)}};
    if (!found.why.empty()) json["log_evidence_why"] = found.why;
    fmt::print("{}", readable(json));
    return;
  }
  print_beliefs(file.graph, solved.state);
  for (const auto& [name, belief] : hypers_of(file, solved))
    fmt::print("  {:<8}  {:.4g} +- {:.4g}, 90 % from {:.4g} to {:.4g}\n", name, belief.mean(), belief.sd(),
               belief.quantile(0.05), belief.quantile(0.95));
  fmt::print("{}: {}\n", schedule_name(solved.plan), solved.report.line());
  if (const std::size_t shown = std::min(open.size(), kShownElements); shown > 0)
    fmt::print("nothing informs {}{}\n",
               fmt::join(open.begin(), open.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
               shown < open.size() ? fmt::format(" and {} more", open.size() - shown) : "");
  fmt::print("{}\n", request.evidence && !found.parts.empty()
                         ? found.parts.substr(0, found.parts.find_last_not_of('\n') + 1)
                         : found.line);
  if (found.value == -kInfinity) fmt::print("what is observed is impossible under this graph\n");
  if (!request.dot.empty()) fmt::print("graph    {}\n", printable(request.dot.string()));
  if (!request.plot.empty()) fmt::print("picture  {}\n", printable(skipped.empty() ? request.plot.string() : skipped));
}

}  // namespace

void add_infer_command(Command app) {
  auto request = std::make_shared<InferRequest>();
  const Command command = app.add_subcommand("infer", "Solve a factor graph from a file");
  command.footer(
      "Example:\n"
      "  dma infer tools/examples/graphs/sprinkler.json --evidence --plot sprinkler.svg\n"
      "The file lists variables, factors and observations; models/graphs/graph_file.h describes it. `dma factors` "
      "lists the kinds.\n"
      "Schedules: auto (one sweep where that is exact, else all at once where everything is Gaussian, else repeated "
      "sweeps),\n"
      "joint, forward_backward, flooding, sequential, residual.");
  command.add_option("graph", request->graph, "JSON file with the graph").required();
  command.add_option("--method", request->method, "method of the messages (default: the file's)").value("METHOD");
  command.add_option("--schedule", request->schedule, "the order of the messages (default: the file's, or auto)")
      .value("auto|joint|forward_backward|flooding|sequential|residual");
  command.add_flag("--evidence", request->evidence, "the log evidence factor by factor");
  command.add_option("--dot", request->dot, "file for the graph in Graphviz's language, with beliefs");
  command.add_option("--plot", request->plot, "picture of it, .svg or .png; needs Graphviz");
  command.add_flag("--json", request->json, "JSON instead of text");
  command.add_option("--memory-limit", request->memory, "refuse a graph that would take more").value("SIZE");
  command.callback([request] { infer(*request); });
}

}  // namespace dma
