// Parts of the page that show the model: a network, or a graph of one's own.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "engine/learn/gaussian/student_tails.h"
#include "engine/support/text.h"
#include "models/network/network_graph.h"
#include "tools/dma/page/graph_page.h"
#include "tools/dma/page/page_parts.h"
#include "tools/dma/page/pictures.h"
#include "tools/dma/pictures/graphviz.h"

namespace dma::report {

namespace {

using page::escaped;

std::string in_graphviz(const Shown& shown) {
  return fmt::format("<details><summary>The graph in Graphviz's language</summary><pre>{}</pre></details>\n",
                     name_at(shown, "/report/graph"));
}

// What is computed, in words, and the graph as Graphviz draws it where that is installed.
std::string own_graph(const Shown& shown) {
  std::string why;
  const std::string drawn = plot::graph_picture(shown.at("/report/graph").get<std::string>(), "svg", why);
  return fmt::format("<pre>{}</pre>\n", escaped(shown.at("/program").get<std::string>())) +
         (drawn.empty() ? no_picture(why) : fmt::format("<figure class=\"drawn\">{}</figure>\n", embedded(drawn))) +
         in_graphviz(shown);
}

// "noise", "noise by inputs, Student's t": of any target.
std::string noise_of(const Shown& shown) {
  bool by_inputs = false, tails = false;
  if (shown.has("/noise_function"))
    for (const Json& one : shown.at("/noise_function")) {
      for (const double slope : numbers_of(one.at("slopes"))) by_inputs = by_inputs || slope != 0;
      tails = tails || json_number(one.at("degrees_of_freedom")) < StudentTails::kGaussian;
    }
  return fmt::format("noise{}{}", by_inputs ? " by inputs" : "", tails ? ", Student's t" : "");
}

std::string network_graph(const Shown& shown) {
  const auto layers = shown.at("/widths").get<std::vector<std::size_t>>();
  const std::size_t targets = layers.back(), classes = shown.has("/classes") ? shown.at("/classes").size() : 0;
  return "<figure class=\"full\">" +
         graph_picture({.layers = layers,
                        .bias = !shown.has("/options/bias") || shown.at("/options/bias").get<bool>(),
                        .likelihood = classes == 0   ? noise_of(shown)
                                      : classes == 2 ? "logistic"
                                                     : "softmax",
                        .observed = classes > 0 ? fmt::format("one of {} classes", classes)
                                                : fmt::format("{} target{}", targets, targets == 1 ? "" : "s"),
                        .smoothing = shown.has("/smoothing") ? shown.at("/smoothing").get<double>() : 0,
                        .linear = json_number(shown.at("/shares/linear"))}) +
         "<figcaption>One row of the table: variables are round, factors square, observed variables have a double "
         "line.</figcaption></figure>\n" +
         in_graphviz(shown);
}

}  // namespace

PageParts parts_of(const Shown& shown) {
  PageParts parts = shown.has("/classes") ? parts_of_classes() : parts_of_numbers();
  for (const Json& line : shown.at("/lines"))
    parts.learned.rows.push_back({escaped(line[0].get<std::string>()), escaped(line[1].get<std::string>())});
  if (shown.at("/report/kind") == "graph") {
    parts.name_of_curve = [](std::size_t k) { return fmt::format("start {}", k + 1); };
    parts.graph = own_graph(shown);
  } else {
    parts.learned.rows.push_back({"method", escaped(shown.at("/reason").get<std::string>())});
    parts.settings.emplace_back("/training/options");
    if (shown.has("/options/method") && shown.at("/options/method") != "joint")
      parts.quantity = "train log-likelihood per row";
    parts.graph = network_graph(shown);
  }
  if (shown.at("/training/interrupted").get<bool>())
    parts.learned.rows.push_back({"training", "<span class=\"no\">interrupted</span>"});
  return parts;
}

}  // namespace dma::report
