#include "tools/dma/pictures/graphviz.h"

#include <fmt/format.h>

#include <fstream>
#include <vector>

#include "tools/dma/io/write_file.h"
#include "tools/dma/pictures/run_program.h"

namespace dma::plot {

namespace {

std::size_t edges_of(const std::string& dot) {
  std::size_t edges = 0;
  for (auto at = dot.find(" -> "); at != dot.npos; at = dot.find(" -> ", at + 1)) ++edges;
  return edges;
}

}  // namespace

std::string graph_picture(const std::string& dot, const std::string& format, std::string& why, double seconds) {
  const std::size_t edges = edges_of(dot);
  if (edges > kMostDrawn) {
    why = fmt::format("the graph has {} edges, more than the {} that are drawn", edges, kMostDrawn);
    return {};
  }
  const ScratchFolder folder;
  std::ofstream(folder.path() / "graph.dot") << dot;
  std::vector<std::string> command{"dot"};
  if (edges > kMostRanked) command = {"sfdp", "-Goverlap=prism", "-Gsplines=line"};
  command.insert(command.end(), {"-T" + format, "-o", "picture", "graph.dot"});
  const int code = run_in(folder.path(), command, seconds);
  std::string drawn = code == 0 ? folder.read("picture") : "";
  if (drawn.empty())
    why = code == kNoSuchProgram ? "Graphviz, which draws it, is not installed (Debian: graphviz)"
          : code == kTooLong     ? fmt::format("Graphviz, which draws it, took more than {} seconds", seconds)
                                 : "Graphviz, which draws it, failed";
  return drawn;
}

std::string draw_graph(const std::string& dot, const std::filesystem::path& picture) {
  std::string why;
  const std::string drawn = graph_picture(dot, "svg", why);
  if (drawn.empty()) return fmt::format("none: {}; --dot writes the graph", why);
  write_file(picture, drawn);
  return {};
}

}  // namespace dma::plot
