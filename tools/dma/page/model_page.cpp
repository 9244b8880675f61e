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

void add_network(const Shown& shown, PageParts& parts) {
  const auto row = [&](const std::string& what, const std::string& html) {
    parts.learned.rows.push_back({what, html});
  };
  const auto layers = shown.at("/widths").get<std::vector<std::size_t>>();
  const std::size_t members = shown.at("/training/epochs").size();
  const bool bias = !shown.has("/options/bias") || shown.at("/options/bias").get<bool>();
  const bool by_messages = shown.has("/options/method") && shown.at("/options/method") != "joint";
  if (shown.at("/training/far_rows") != 0)
    row("far rows", shown.whole_number("/training/far_rows") +
                        " more, beyond 10 sd of what the others predict: not learned, not among the left-out rows");
  row("network", fmt::format("{}{}: {} weights{}", joined(layers, " – "), bias ? ", with biases" : "",
                             shown.whole_number("/weights"),
                             members > 1 ? fmt::format(" in each of {} networks, mixed", members) : ""));
  row("method", escaped(shown.at("/reason").get<std::string>()));
  const auto targets = shown.at("/report/targets").size();
  for (std::size_t j = 0; j < targets && shown.has("/noise"); ++j) {
    const std::string target = fmt::format("/report/targets/{}", j);
    row("noise of " + name_at(shown, target + "/name"),
        fmt::format("{}{} ({})", shown.number(target + "/noise"), noise_of_what(shown, target),
                    shown.at("/options/learn_noise").get<bool>() ? "learned" : "given"));
  }
  std::string epochs;
  for (std::size_t k = 0; k < members; ++k)
    epochs += (k > 0 ? ", " : "") + shown.whole_number(fmt::format("/training/epochs/{}", k));
  row("epochs",
      fmt::format("{}, {}; {} {} per row", epochs,
                  escaped(joined(shown.at("/training/ends").get<std::vector<std::string>>())),
                  by_messages ? "train log-likelihood" : "log evidence", shown.number("/training/log_likelihood")));
  parts.settings.emplace_back("/training/options");
  if (by_messages) parts.quantity = "train log-likelihood per row";
  parts.graph = network_graph(shown);
}

void add_own_graph(const Shown& shown, PageParts& parts) {
  constexpr std::size_t kMost = 40;
  page::Table& about = parts.learned;
  page::Table table{.columns = {"learned", "mean", "standard deviation"}};
  for (std::size_t j = 0; j < shown.at("/likelihoods").size(); ++j)
    about.rows.push_back({name_at(shown, fmt::format("/report/targets/{}/name", j)),
                          escaped(shown.at(fmt::format("/likelihoods/{}", j)).get<std::string>())});
  about.rows.push_back({"training", escaped(shown.at("/training/line").get<std::string>())});
  const Json& learned = shown.at("/learned");
  for (const auto& [name, belief] : learned.items()) {
    if (table.rows.size() == kMost) break;
    const std::string at = "/learned/" + in_pointer(name);
    table.rows.push_back({escaped(name), shown.number(at + "/mean"), shown.number(at + "/sd")});
  }
  parts.more_learned = page::html(table);
  if (learned.size() > kMost)
    parts.more_learned += fmt::format("<p class=\"soft\">and {} more, all in the JSON</p>\n", learned.size() - kMost);
  parts.name_of_curve = [](std::size_t k) { return fmt::format("start {}", k + 1); };
  parts.graph = own_graph(shown);
}

}  // namespace

PageParts parts_of(const Shown& shown) {
  PageParts parts = shown.has("/classes") ? parts_of_classes() : parts_of_numbers();
  const auto row = [&](const std::string& what, const std::string& html) {
    parts.learned.rows.push_back({what, html});
  };
  if (shown.at("/report/kind") == "graph")
    add_own_graph(shown, parts);
  else
    add_network(shown, parts);
  if (shown.has("/log_inputs"))
    row("scale",
        escaped(fmt::format("logarithmic for {}", joined(shown.at("/log_inputs").get<std::vector<std::string>>()))));
  if (shown.has("/log_targets"))
    row("log-normal", escaped(joined(shown.at("/log_targets").get<std::vector<std::string>>())));
  if (json_number(shown.at("/shares/linear")) > 0)
    row("linear model", shown.percent("/shares/linear") + " of the mixture with it");
  for (std::size_t j = 0; j < shown.at("/shares/neighbours").size(); ++j)
    row("neighbours",
        fmt::format("{} of the mixture with these for {}", shown.percent(fmt::format("/shares/neighbours/{}", j), 0),
                    name_at(shown, fmt::format("/report/targets/{}/name", j))));
  if (shown.has("/shares/frequencies"))
    row("class frequencies", shown.percent("/shares/frequencies") + " of the mixture");
  if (shown.at("/training/interrupted").get<bool>()) row("training", "<span class=\"no\">interrupted</span>");
  return parts;
}

}  // namespace dma::report
