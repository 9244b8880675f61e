// The text of files beside the tests, and graph files that several tests use.
#pragma once

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>

namespace dma::oracle {

// `path` is relative to the folder of tests.
inline std::string text_of_file(const std::string& path) {
  std::ifstream stream(DMA_SOURCE_DIR "/tests/" + path, std::ios::binary);
  if (!stream) throw std::runtime_error("tests/" + path + " is missing");
  return {std::istreambuf_iterator(stream), {}};
}

inline std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size()) text.replace(at, from.size(), to);
  return text;
}

// graphs/NAME: line.json (y = a x + b), groups.json (a slope, and an intercept per group), counts.json (a log rate),
// scores.json (a class by softmax), network.json (the network of `dma fit`, with $ in place of what is chosen).
inline std::string graph_file(const std::string& name) { return text_of_file("oracles/graphs/" + name); }

// The network of `dma fit`, with one hidden layer: as many units as are chosen of these, and as much smoothing.
inline std::string network_file(std::size_t inputs, const std::string& units, const std::string& smoothings) {
  const std::string text = replaced(graph_file("network.json"), "$inputs", std::to_string(inputs));
  return replaced(replaced(text, "$units", units), "$smoothings", smoothings);
}

}  // namespace dma::oracle
