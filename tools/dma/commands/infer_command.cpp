// dma infer: a factor graph from a file, solved.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "engine/compile/memory_need.h"
#include "engine/compile/plan_data.h"
#include "engine/exact/exact.h"
#include "engine/inspect/dot.h"
#include "engine/joint/joint.h"
#include "engine/run/evidence.h"
#include "engine/support/error.h"
#include "engine/support/json.h"
#include "engine/support/model_file.h"
#include "engine/support/text.h"
#include "factors/standard_registry.h"
#include "models/graphs/graph_file.h"
#include "models/graphs/poses.h"
#include "models/graphs/solve.h"
#include "tools/dma/commands/commands.h"
#include "tools/dma/io/read_file.h"
#include "tools/dma/io/shell_quoted.h"
#include "tools/dma/io/write_file.h"
#include "tools/dma/page/graph_page.h"
#include "tools/dma/pictures/graphviz.h"
#include "tools/dma/pictures/svg.h"

namespace dma {

namespace {

constexpr std::size_t kShownElements = 12;

struct InferRequest {
  std::filesystem::path graph, dot, plot, report, poses;
  std::string command_line, method, schedule, loss, memory = "1GB";
  std::vector<std::string> observed;  // "HR=LOW"
  bool evidence = false, json = false, verbose = false;
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

std::vector<GivenText> given_by(const std::vector<std::string>& observed) {
  std::vector<GivenText> given;
  for (const std::string& text : observed) {
    const std::size_t at = text.find('=');
    if (at == 0 || at == std::string::npos) fail("--observe is '{}'; NAME=VALUE is expected, such as HR=LOW", text);
    given.push_back({text.substr(0, at), text.substr(at + 1)});
  }
  return given;
}

std::string element_name(const Belief& belief, const std::string& name, std::size_t i) {
  return belief.size() == 1 ? name : fmt::format("{}[{}]", name, i);
}

// The variables that are shown: all, or the first so many.
std::vector<std::string> uninformed(const Graph& graph, const State& state, std::size_t shown) {
  std::vector<std::string> names;
  for (std::size_t v = 0; v < shown; ++v) {
    if (graph.variables()[v].observed) continue;
    const Belief belief = state.belief(VariableId{static_cast<std::uint32_t>(v)});
    for (std::size_t i = 0; i < belief.size(); ++i)
      if (belief.is_uninformed(i)) names.push_back(element_name(belief, graph.variables()[v].name, i));
  }
  return names;
}

// "= LOW", or "LOW 0.12, NORMAL 0.8, HIGH 0.08": the belief of a variable whose categories have names.
std::string text_by_name(std::span<const std::string> categories, const Belief& belief, std::size_t i) {
  const Components message = belief.message(i);
  std::vector<double> means = Belief("", belief.family(), {message.begin(), message.end()}).means();
  if (means.size() == 1) means.insert(means.begin(), 1 - means[0]);  // yes or no
  std::vector<std::string> parts;
  for (std::size_t k = 0; k < categories.size(); ++k) {
    const double p = means[k];
    if (belief.message(i)[0].is_point() && p == 1) return "= " + printable(categories[k]);
    parts.push_back(fmt::format("{} {:.4g}", printable(categories[k]), p));
  }
  return joined(parts);
}

// The value, "log evidence -3.21, exact" and its parts; or why there is none.
struct FoundEvidence {
  std::optional<double> value;
  std::string line, parts, why;  // why: it is approximate; empty: exact
};
FoundEvidence evidence_of(const Answer& solved) {
  try {
    const Evidence found = evidence(solved.plan, solved.state);
    return {found.log_value, found.line(), found.factors.empty() ? "" : found.text(), found.why};
  } catch (const Error& error) {
    return {{}, fmt::format("log evidence: none; {}", error.what()), "", ""};
  }
}

using Rename = std::function<std::string(std::string)>;

void print_beliefs(const Graph& graph, const State& state, std::size_t shown, const Rename& renamed) {
  std::size_t width = 8;
  for (std::size_t v = 0; v < shown; ++v) {
    const Graph::Variable& variable = graph.variables()[v];
    width = std::max(width, variable.name.size() + (variable.size > 1 ? 5 : 0));
  }
  for (std::size_t v = 0; v < shown; ++v) {
    const Graph::Variable& variable = graph.variables()[v];
    const Belief belief = state.belief(VariableId{static_cast<std::uint32_t>(v)});
    const auto is_missing = [&](std::size_t i) {
      return state.is_missing(VariableId{static_cast<std::uint32_t>(v)}, i);
    };
    const std::span<const std::string> names = graph.categories(VariableId{static_cast<std::uint32_t>(v)});
    for (std::size_t i = 0; i < std::min(belief.size(), kShownElements); ++i)
      fmt::print("  {:<{}}  {}{}\n", renamed(element_name(belief, variable.name, i)), width,
                 names.empty() ? belief.family()->text(belief.message(i)) : text_by_name(names, belief, i),
                 is_missing(i) ? ", missing" : "");
    if (belief.size() > kShownElements)
      fmt::print("  {:<{}}  {} more; --json prints them all\n", "", width, belief.size() - kShownElements);
  }
}

Json beliefs_json(const Graph& graph, const State& state, std::size_t shown) {
  Json json = Json::object();
  for (std::size_t v = 0; v < shown; ++v) {
    const Belief belief = state.belief(VariableId{static_cast<std::uint32_t>(v)});
    Json& entry = json[graph.variables()[v].name] = {{"family", belief.family().text()}};
    for (const std::string& category : graph.categories(VariableId{static_cast<std::uint32_t>(v)}))
      entry["categories"].push_back(category);
    for (const double mean : belief.means()) entry["mean"].push_back(json_number(mean));
    for (const double variance : belief.variances()) entry["sd"].push_back(json_number(std::sqrt(variance)));
  }
  return json;
}

// Throws an Error that says which observations are impossible together, where a sweep found that some are.
void name_contradiction(const GraphFile& file, const Answer& solved, const SolveOptions& options) {
  if (solved.plan->solver || evidence_of(solved).value != -kInfinity) return;
  try {
    (void)solve_told(file.graph, [&](State& state) { file.observe(state); }, exact(options.exact), options);
  } catch (const Contradiction&) {
    throw;
  } catch (const Error&) {  // not discrete, or too wide
  }
}

// Observed variables without a value, beside shared ones, are columns of a table.
void print_columns(const GraphFile& file, const std::string& graph) {
  std::vector<std::string> columns, shared;
  std::vector<bool> is_given(file.graph.variables().size());
  for (const GraphFile::Observation& one : file.observations)
    if (std::ranges::any_of(one.values, [](const auto& x) { return x.has_value(); }))
      is_given[one.variable.value] = true;
  for (std::uint32_t v = 0; v < file.graph.variables().size(); ++v) {
    const Graph::Variable& variable = file.graph.variables()[v];
    if (variable.observed && !is_given[v]) columns.push_back(variable.name);
    if (variable.shared) shared.push_back(variable.name);
  }
  if (!columns.empty() && !shared.empty())
    fmt::print(
        "no value is given for {}: dma fit data.csv --graph {} --target {} learns {} from a table with such columns\n",
        joined(columns), shell_quoted(graph), shell_quoted(columns.back()), joined(shared));
}

// The belief of each hyper; nothing where their integral was not found.
std::vector<std::pair<std::string, HyperBelief>> hypers_of(const JointOptions& options, const Answer& solved) {
  std::vector<std::pair<std::string, HyperBelief>> out;
  for (const Hyper& hyper : options.hypers)
    if (solved.report.joint && solved.report.joint->hypers)
      out.emplace_back(hyper.name, JointPosterior(solved.state).hyper(hyper.name));
  return out;
}

// After all is printed: a script is not to go on with beliefs that grew without end.
void check_arrival(const Report& report) {
  if (report.stop == Report::Stop::diverged)
    fail("the run diverged, so that its beliefs are no answer; try another schedule, such as --schedule joint");
}

void infer(const InferRequest& request) {
  plot::check_picture(request.plot);
  check_outputs(
      {{"--dot", request.dot}, {"--plot", request.plot}, {"--report", request.report}, {"--poses", request.poses}},
      {{"graph", request.graph}});
  const double limit = bytes_of(request.memory);
  const auto bytes = static_cast<std::uint64_t>(std::min(limit, 1e18));
  const std::vector<GivenText> given = given_by(request.observed);
  constexpr double kBytesPerCharacter = 16;  // "0," is a value of JSON and an observation
  const auto longest = static_cast<std::size_t>(std::min(limit / kBytesPerCharacter, 1e18));
  const std::string text =
      read_file(request.graph, "a graph file", longest, "; or raise --memory-limit, 16 times as large");
  if (text.starts_with(kModelFileStart))
    fail("'{}' is a fitted model, not a graph; dma inspect shows it, dma predict uses it", request.graph.string());
  std::optional<PoseGraph> poses;
  const GraphFile file = [&] {
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
  }();
  const Registry registry = standard_registry();
  SolveOptions options{.joint = {.memory = bytes}, .exact = {.memory = bytes}, .registry = &registry};
  const std::string method = request.method.empty() ? file.method : request.method;
  const std::string schedule = request.schedule.empty() ? file.schedule : request.schedule;
  const Answer solved = [&] {
    try {
      check_memory(file.graph, registry, limit);
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
      // As a program says it.
      for (const std::string solver : {"joint", "exact", "tree_reweighted"})
        if (const std::string option = solver + "({.memory = ...})"; complaint.find(option) != std::string::npos)
          complaint.replace(complaint.find(option), option.size(), "--memory-limit");
      fail("'{}': {}", request.graph.string(), located(file, complaint));
    }
  }();
  const FoundEvidence found = evidence_of(solved);
  // Poses and points are shown, not the residuals that are made of them; a person knows them by their vertices.
  std::size_t shown_variables = 0;
  for (const std::string_view name : {"pose", "fixed", "point"})
    shown_variables += poses && file.graph.variables()[shown_variables].name == name ? 1 : 0;
  if (!poses) shown_variables = file.graph.variables().size();
  const Rename renamed = [&](std::string name) { return poses ? poses->by_vertex(std::move(name)) : name; };
  const std::vector<std::string> open = uninformed(file.graph, solved.state, shown_variables);
  const bool is_drawn = !request.dot.empty() || !request.plot.empty() || !request.report.empty();
  const std::string dot = is_drawn ? to_dot(file.graph, registry, solved.state) : "";
  if (!request.dot.empty()) write_file(request.dot, dot);
  std::string skipped;
  if (!request.plot.empty()) skipped = plot::draw_graph(dot, request.plot);
  if (!request.report.empty()) {
    std::string why;
    const std::string picture = plot::graph_picture(dot, "svg", why);
    write_file(request.report,
               report::page_of({file.graph, solved.state, solved.report, request.graph.filename().string(),
                                file.description, found.line, request.command_line, picture, why}));
  }
  if (!request.poses.empty()) {
    poses->move_to(solved.state);
    write_file(request.poses, g2o_text(*poses));
  }
  if (request.json) {
    Json json{{"schedule", solved.solver},
              {"report", solved.report.line()},
              {"converged", solved.report.converged()},
              {"beliefs", beliefs_json(file.graph, solved.state, shown_variables)},
              {"uninformed", open}};
    json["log_evidence"] = found.value ? json_number(*found.value) : Json();
    if (found.value) json["log_evidence_is_exact"] = found.why.empty();
    for (const auto& [name, belief] : hypers_of(options.joint, solved))
      json["hypers"][name] = {{"mean", belief.mean()}, {"sd", belief.sd()}, {"median", belief.quantile(0.5)}};
    if (!found.why.empty()) json["log_evidence_why"] = found.why;
    fmt::print("{}", readable(json));
    check_arrival(solved.report);
    return;
  }
  print_beliefs(file.graph, solved.state, shown_variables, renamed);
  for (const auto& [name, belief] : hypers_of(options.joint, solved))
    fmt::print("  {:<8}  {:.4g} +- {:.4g}, 90 % from {:.4g} to {:.4g}\n", name, belief.mean(), belief.sd(),
               belief.quantile(0.05), belief.quantile(0.95));
  const std::string name = solved.solver, line = solved.report.line();
  fmt::print("{}{}\n", line.starts_with(name + ":") ? "" : name + ": ", renamed(line));
  if (request.verbose) {
    fmt::print("solver: {}, {}\n", name, solved.why);
    fmt::print("{}", renamed(solved.report.text()));
  }
  if (const std::size_t shown = std::min(open.size(), kShownElements); shown > 0)
    fmt::print("nothing informs {}{}\n", renamed(joined(std::span(open).first(shown))),
               shown < open.size() ? fmt::format(" and {} more", open.size() - shown) : "");
  fmt::print("{}\n", request.evidence && !found.parts.empty()
                         ? found.parts.substr(0, found.parts.find_last_not_of('\n') + 1)
                         : found.line);
  if (!solved.why_not_exact.empty()) fmt::print("not {}\n", solved.why_not_exact);
  if (found.value == -kInfinity && found.why.empty() && !solved.plan->solver)
    fmt::print("what is observed is impossible under this graph\n");
  print_columns(file, request.graph.string());
  if (!request.dot.empty()) fmt::print("graph    {}\n", printable(request.dot.string()));
  if (!request.plot.empty()) fmt::print("picture  {}\n", printable(skipped.empty() ? request.plot.string() : skipped));
  if (!request.report.empty()) fmt::print("report   {}\n", printable(request.report.string()));
  if (!request.poses.empty()) fmt::print("poses    {}\n", printable(request.poses.string()));
  check_arrival(solved.report);
}

}  // namespace

namespace {

// ", exact (discrete variables by cliques), ..."
std::string listed_solvers() {
  std::string text;
  for (const NamedSolver& one : named_solvers()) text += fmt::format(", {} ({})", one.name, one.summary);
  return text;
}

}  // namespace

void add_infer_command(Command app, const std::string& command_line) {
  auto request = std::make_shared<InferRequest>();
  request->command_line = command_line;
  const Command command = app.add_subcommand("infer", "Solve a factor graph from a file");
  command.footer(
      "Example:\n"
      "  dma infer tools/examples/graphs/sprinkler.json --evidence --plot sprinkler.svg\n"
      "The file lists variables, factors and observations; models/graphs/graph_file.h describes it. `dma factors` "
      "lists the kinds.\n"
      "BIF and UAI files of discrete networks are read as well: dma infer alarm.bif --observe HR=LOW\n"
      "So are g2o files of poses: dma infer tools/examples/graphs/square.g2o --poses solved.g2o\n"
      "Schedules: auto (one sweep where that is exact, else exact by cliques where everything is discrete, else all at "
      "once where everything is Gaussian, else repeated sweeps)" +
      listed_solvers() + ".");
  command.add_option("graph", request->graph, "file with the graph: JSON, BIF, UAI or g2o").required();
  command.add_option("--method", request->method, "method of the messages (default: the file's)").value("METHOD");
  command.add_option("--schedule", request->schedule, "the order of the messages (default: the file's, or auto)")
      .value(joined(solver_names(), "|"));
  command
      .add_option("--observe", request->observed, "a value for a variable, or the name of a category; may be repeated")
      .value("NAME=VALUE")
      .allow_extra_args(false);
  command.add_flag("--evidence", request->evidence, "the log evidence factor by factor");
  command.add_option("--dot", request->dot, "file for the graph in Graphviz's language, with beliefs");
  command.add_option("--plot", request->plot, "picture of it, .svg; needs Graphviz");
  command.add_option("--report", request->report, "page with the graph, beliefs, messages and report, .html");
  command.add_option("--poses", request->poses, "file for the poses found in a g2o file, in the same format");
  command.add_option("--loss", request->loss, "what loops of a g2o file cost that are far off, such as cauchy:2")
      .value("huber|cauchy");
  command.add_flag("--verbose", request->verbose, "everything the report says, one item per line");
  command.add_flag("--json", request->json, "JSON instead of text");
  command.add_option("--memory-limit", request->memory, "refuse a graph that would take more").value("SIZE");
  command.callback([request] { infer(*request); });
}

}  // namespace dma
