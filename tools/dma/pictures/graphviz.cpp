#include "tools/dma/pictures/graphviz.h"

#include <fstream>

#include "tools/dma/io/write_file.h"
#include "tools/dma/pictures/run_program.h"

namespace dma::plot {

std::string graph_picture(const std::string& dot, const std::string& format, std::string& why) {
  const ScratchFolder folder;
  std::ofstream(folder.path() / "graph.dot") << dot;
  const int code = run_in(folder.path(), {"dot", "-T" + format, "-o", "picture", "graph.dot"});
  std::string drawn = code == 0 ? folder.read("picture") : "";
  if (drawn.empty())
    why = code == kNoSuchProgram ? "none: Graphviz is not installed (Debian: graphviz); --dot writes the graph"
                                 : "none: Graphviz failed; --dot writes the graph";
  return drawn;
}

std::string draw_graph(const std::string& dot, const std::filesystem::path& picture) {
  std::string why;
  const std::string drawn = graph_picture(dot, picture.extension().string().substr(1), why);
  if (!drawn.empty()) write_file(picture, drawn);
  return why;
}

}  // namespace dma::plot
