// The factor graph of a network, one row of the table: variables round, factors square, the weights above.
#include <fmt/format.h>

#include "tools/dma/page/html.h"
#include "tools/dma/page/pictures.h"

namespace dma::report {

namespace {

constexpr double kStep = 76, kLevel = 150, kWeights = 86, kPriors = 26, kLinear = 228;

std::string variable(double x, double y, const std::string& name, const std::string& note, bool observed) {
  return fmt::format(
      "<g><title>{}</title><circle class=\"box\" cx=\"{}\" cy=\"{}\" r=\"20\"/>{}<text class=\"name\" x=\"{}\" "
      "y=\"{}\" text-anchor=\"middle\">{}</text></g>\n",
      page::escaped(note), x, y,
      observed ? fmt::format("<circle class=\"axis\" cx=\"{}\" cy=\"{}\" r=\"17\"/>", x, y) : "", x, y + 4,
      page::escaped(name));
}

std::string factor(double x, double y, const std::string& name, const std::string& note) {
  return fmt::format(
      "<g><title>{}</title><rect class=\"f-blue\" x=\"{}\" y=\"{}\" width=\"14\" height=\"14\" rx=\"2\"/><text "
      "x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text></g>\n",
      page::escaped(note), x - 7, y - 7, x, y + 24, page::escaped(name));
}

std::string below(double x, const std::string& text) {
  return fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", x, kLevel + 38, page::escaped(text));
}

}  // namespace

std::string graph_picture(const NetworkGraph& network) {
  std::string edges, nodes;
  double x = 34;
  const auto edge = [&](double from, double to) {
    edges += fmt::format("<path class=\"axis\" d=\"M{} {}H{}\"/>", from, kLevel, to);
  };
  const auto count = [](std::size_t n, const char* what) { return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s"); };
  nodes += variable(x, kLevel, "x", count(network.layers.front(), "input"), true) +
           below(x, count(network.layers.front(), "input"));
  const double first = x;
  for (std::size_t layer = 1; layer < network.layers.size(); ++layer) {
    const std::size_t inputs = network.layers[layer - 1], outputs = network.layers[layer];
    const bool last = layer + 1 == network.layers.size();
    if (!last && network.smoothing > 0) {
      edge(x, x + 2 * kStep);
      x += kStep;
      nodes += factor(x, kLevel, "smoothing",
                      fmt::format("noise of standard deviation {:.3g}, over which the layer is averaged",
                                  network.smoothing));
      x += kStep;
      nodes += variable(x, kLevel, layer == 1 ? "x\u2032" : fmt::format("x{}\u2032", layer - 1),
                        "standardised, with that noise", false);
    }
    edge(x, x + 2 * kStep);
    x += kStep;
    edges += fmt::format("<path class=\"axis\" d=\"M{} {}V{}\"/>", x, kPriors, kLevel);
    const std::string weights =
        fmt::format("{} × {}{}", outputs, inputs, network.bias ? fmt::format(" + {}", outputs) : "");
    nodes += factor(x, kLevel, "sum", "products of weights and inputs, summed");
    nodes += variable(x, kWeights, fmt::format("W{}", layer),
                      fmt::format("weights{}: {}", network.bias ? " and biases" : "", weights), false);
    nodes += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>", x + 25, kWeights + 4, page::escaped(weights));
    nodes += fmt::format(
        "<g><title>Gaussian prior of every weight</title><rect class=\"f-blue\" x=\"{}\" y=\"{}\" width=\"14\" "
        "height=\"14\" rx=\"2\"/><text x=\"{}\" y=\"{}\">prior</text></g>",
        x - 7, kPriors - 7, x + 14, kPriors + 4);
    x += kStep;
    nodes += variable(x, kLevel, last ? "f" : fmt::format("z{}", layer), count(outputs, "number"), false);
    if (!last) {
      edge(x, x + 2 * kStep);
      x += kStep;
      nodes += factor(x, kLevel, "leaky ReLU", "z, or a fraction of it where it is negative");
      x += kStep;
      nodes += variable(x, kLevel, fmt::format("x{}", layer), count(outputs, "hidden unit"), false) +
               below(x, count(outputs, "unit"));
    }
  }
  edge(x, x + 2 * kStep);
  x += kStep;
  nodes += factor(x, kLevel, network.likelihood, network.likelihood);
  if (network.linear > 0) {
    edges += fmt::format("<path class=\"axis\" d=\"M{} {}V{}H{}V{}\"/>", first, kLevel, kLinear, x, kLevel);
    nodes += factor(0.5 * (first + x), kLinear,
                    fmt::format("linear model, {:.3g} % of the mixture", 100 * network.linear),
                    "weights of its own for every input, and a bias");
  }
  x += kStep;
  nodes += variable(x, kLevel, "y", network.observed, true) + below(x, network.observed);
  return fmt::format(
      "<svg class=\"chart\" viewBox=\"0 0 {0} {4}\" style=\"min-width:{1}px;max-width:{0}px\" role=\"img\" "
      "aria-label=\"factor graph of one row\">{2}{3}</svg>\n",
      x + 52, x * 0.9, edges, nodes, network.linear > 0 ? 266 : 196);
}

}  // namespace dma::report
