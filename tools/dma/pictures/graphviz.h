// Pictures of graphs in Graphviz's language, drawn by its programs where they are installed: `dot` places the nodes in
// ranks, which takes minutes for a thousand edges; larger graphs are placed by springs (`sfdp`).
#pragma once

#include <filesystem>
#include <string>

namespace dma::plot {

inline constexpr std::size_t kMostRanked = 500, kMostDrawn = 5000;  // edges
inline constexpr double kLongestDrawing = 30;                       // seconds

// The text of a picture, "svg" or "png"; if it is empty, `why` has the reason.
std::string graph_picture(const std::string& dot, const std::string& format, std::string& why,
                          double seconds = kLongestDrawing);

// Writes the picture alone, an SVG file. Returns nothing, or why there is none and what to do about it.
std::string draw_graph(const std::string& dot, const std::filesystem::path& picture);

}  // namespace dma::plot
