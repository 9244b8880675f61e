// dma infer: a factor graph from a file, solved.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/inspect/inspect.h"
#include "engine/support/text.h"
#include "factors/standard_registry.h"
#include "tools/dma/commands/commands.h"
#include "tools/dma/commands/infer_output.h"
#include "tools/dma/io/write_file.h"
#include "tools/dma/page/graph_page.h"
#include "tools/dma/pictures/graphviz.h"
#include "tools/dma/pictures/svg.h"

namespace dma {

namespace {

double bytes_of(const std::string& text) {
  const auto bytes = with_unit(text, {{"", 1}, {"B", 1}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}});
  if (!bytes) fail("--memory-limit is '{}'; a size such as 500MB or 8GB is expected", text);
  return *bytes;
}

// Writes the files that draw the graph; returns why there is no picture.
std::string draw(const InferRequest& request, const SolvedFile& solved) {
  const auto& [file, poses, options, answer, found] = solved;
  if (request.dot.empty() && request.plot.empty() && request.report.empty()) return {};
  const std::string dot = to_dot(file.graph, standard_registry(), answer.state);
  if (!request.dot.empty()) write_file(request.dot, dot);
  const std::string skipped = request.plot.empty() ? "" : plot::draw_graph(dot, request.plot);
  if (request.report.empty()) return skipped;
  std::string why;
  const std::string picture = plot::graph_picture(dot, "svg", why);
  write_file(request.report,
             report::page_of({file.graph, answer.state, answer.report, request.graph.filename().string(),
                              file.description, found.line, request.command_line, picture, why}));
  return skipped;
}

void infer(const InferRequest& request) {
  plot::check_picture(request.plot);
  check_outputs(
      {{"--dot", request.dot}, {"--plot", request.plot}, {"--report", request.report}, {"--poses", request.poses}},
      {{"graph", request.graph}});
  const double limit = bytes_of(request.memory);
  const auto bytes = static_cast<std::uint64_t>(std::min(limit, 1e18));
  std::optional<PoseGraph> poses;
  const GraphFile file = read_graph(request, limit, poses);
  const Registry registry = standard_registry();
  SolveOptions options{.joint = {.memory = bytes}, .exact = {.memory = bytes}, .registry = &registry};
  const Answer answer = solve_file(request, file, limit, options);
  const SolvedFile solved{file, poses, options.joint, answer};
  const std::string skipped = draw(request, solved);
  if (!request.poses.empty()) {
    PoseGraph moved = *poses;
    moved.move_to(answer.state);
    write_file(request.poses, g2o_text(moved));
  }
  if (request.json) {
    fmt::print("{}", readable(json_of(solved)));
  } else {
    print_solved(solved, request.evidence, request.verbose);
    print_columns(file, request.graph.string());
    for (const auto& [what, path] : {std::pair{"graph   ", &request.dot},
                                     {"picture ", &request.plot},
                                     {"report  ", &request.report},
                                     {"poses   ", &request.poses}})
      if (!path->empty())
        fmt::print("{} {}\n", what, printable(path == &request.plot && !skipped.empty() ? skipped : path->string()));
  }
  // After all is printed: a script is not to go on with beliefs that grew without end.
  if (answer.report.stop == Report::Stop::diverged)
    fail("the run diverged, so that its beliefs are no answer; try another schedule, such as --schedule joint");
}

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
  command.add_option("--loss", request->loss, "cost of loops of a g2o file that are far off, such as cauchy:2")
      .value("huber|cauchy");
  command.add_flag("--verbose", request->verbose, "everything the report says, one item per line");
  command.add_flag("--json", request->json, "JSON instead of text");
  command.add_option("--memory-limit", request->memory, "refuse a graph that would take more").value("SIZE");
  command.callback([request] { infer(*request); });
}

}  // namespace dma
