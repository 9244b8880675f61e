#include "tools/dma/pictures/graphviz.h"

#include <fstream>

#include "tools/dma/io/write_file.h"
#include "tools/dma/pictures/run_program.h"

namespace dma::plot {

std::string draw_graph(const std::string& dot, const std::filesystem::path& picture) {
  const ScratchFolder folder;
  std::ofstream(folder.path() / "graph.dot") << dot;
  const int code =
      run_in(folder.path(), {"dot", "-T" + picture.extension().string().substr(1), "-o", "picture", "graph.dot"});
  if (code == kNoSuchProgram) return "none: Graphviz is not installed (Debian: graphviz); --dot writes the graph";
  const std::string drawn = folder.read("picture");
  if (code != 0 || drawn.empty()) return "none: Graphviz failed; --dot writes the graph";
  write_file(picture, drawn);
  return {};
}

}  // namespace dma::plot
