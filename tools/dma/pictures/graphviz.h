// Pictures of graphs in Graphviz's language, drawn by its program `dot` where that is installed.
#pragma once

#include <filesystem>
#include <string>

namespace dma::plot {

// The text of a picture, "svg" or "png"; empty: there is none, because of `why`.
std::string graph_picture(const std::string& dot, const std::string& format, std::string& why);

// Only the picture, whose name must end in .svg or .png: empty, or why there is none and what to do about it.
std::string draw_graph(const std::string& dot, const std::filesystem::path& picture);

}  // namespace dma::plot
