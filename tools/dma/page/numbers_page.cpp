// What models of numbers fill into the page: networks, and graphs of one's own.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "engine/learn/joint/student_tails.h"
#include "engine/support/text.h"
#include "tools/dma/page/chart.h"
#include "tools/dma/page/graph_page.h"
#include "tools/dma/page/page_parts.h"
#include "tools/dma/page/pictures.h"
#include "tools/dma/pictures/graphviz.h"

namespace dma::report {

namespace {

using page::escaped;

std::string noise_card(const Shown& shown, const std::string& target) {
  return shown.at(target + "/noise").is_null()
             ? ""
             : page::card(shown.number(target + "/noise"), "standard deviation of the noise");
}

std::string quality_charts(const Shown& shown, const std::string& target) {
  const auto name = shown.at(target + "/name").get<std::string>();
  const Json& points = shown.at(target + "/points");
  const bool all = points.at("shown") == points.at("rows");
  const std::string which =
      fmt::format("{}{} rows{}", all ? "All " : "", shown.whole_number(target + "/points/shown"),
                  all ? "" : fmt::format(" of {}, drawn by the seed", shown.whole_number(target + "/points/rows")));
  return large_charts(
      {page::figure(agreement_panel(points, name), which + ". On the dashed line the prediction is right."),
       page::figure(residual_panel(points, name), which + ". A pattern here is structure that was not learned."),
       page::figure(coverage_panel(shown.at(target + "/coverage")),
                    "Central intervals of every width. Below the dashed line they are too narrow, above too wide."),
       page::figure(
           calibration_panel(shown.at(target + "/calibration")),
           "Quantiles of the predictive. A curve beside the dashed line is a bias, a bent one a wrong width.")});
}

std::string matters_charts(const Shown& shown, const std::string& target) {
  std::vector<std::string> figures;
  for (const auto& panel :
       dependence_panels(shown.at(target + "/dependence"), shown.at(target + "/name").get<std::string>()))
    figures.push_back(page::figure(panel, ""));
  return fmt::format(
             "<p><em>Partial dependence</em>: the mean prediction, {}. The band is two standard deviations of what is "
             "not known "
             "of the function (without the noise), averaged over those rows: an upper bound for that of the "
             "mean.</p>\n",
             averaged_sentence(shown)) +
         charts(figures);
}

PageParts parts_of_numbers() {
  return {.scores = {{"rmse", "RMSE"},
                     {"explained", "of the variance explained", 2},
                     {"log_likelihood", "mean log-likelihood"},
                     {"coverage_50", "inside 50 %", 1},
                     {"coverage_90", "inside 90 %", 1},
                     {"coverage_95", "inside 95 % intervals", 1}},
          .cards = {"rmse", "explained", "coverage_95"},
          .more_cards = noise_card,
          .quality = quality_charts,
          .dependence = matters_charts};
}

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
  const auto layers = shown.at("/options/layers").get<std::vector<std::size_t>>();
  const std::size_t targets = layers.back();
  return "<figure class=\"full\">" +
         graph_picture({.layers = layers,
                        .bias = shown.at("/options/bias").get<bool>(),
                        .likelihood = noise_of(shown),
                        .observed = fmt::format("{} target{}", targets, targets == 1 ? "" : "s"),
                        .smoothing = shown.has("/smoothing") ? shown.at("/smoothing").get<double>() : 0,
                        .linear = shown.has("/network_share") ? 1 - json_number(shown.at("/network_share")) : 0}) +
         "<figcaption>One row of the table: variables are round, factors square, observed variables have a double "
         "line.</figcaption></figure>\n" +
         in_graphviz(shown);
}

}  // namespace

PageParts parts_of_network(const Shown& shown) {
  PageParts parts = parts_of_numbers();
  const auto row = [&](const std::string& what, const std::string& html) {
    parts.learned.rows.push_back({what, html});
  };
  const auto layers = shown.at("/options/layers").get<std::vector<std::size_t>>();
  const auto members = shown.at("/options/members").get<std::size_t>();
  const bool bias = shown.at("/options/bias").get<bool>();
  if (shown.at("/training/far_rows") != 0)
    row("far rows", shown.whole_number("/training/far_rows") +
                        " more, beyond 10 sd of what the others predict: not learned, not among the left-out rows");
  row("network",
      fmt::format(
          "{}{}: {} weights{}", joined(layers, " – "), bias ? ", with biases" : "", shown.whole_number("/weights"),
          members > 1 ? fmt::format(" in each of {} networks, mixed", shown.whole_number("/options/members")) : ""));
  row("method", fmt::format("{}: {}", escaped(shown.at("/options/method").get<std::string>()),
                            escaped(shown.at("/reason").get<std::string>())));
  add_scale(shown, parts.learned);
  if (shown.has("/network_share"))
    row("mixture", fmt::format("{} {}", shown.percent("/network_share"),
                               shown.at("/network_share") == 1.0 ? "network, nothing of the linear model"
                                                                 : "network, the rest the linear model"));
  for (std::size_t j = 0; shown.has("/neighbours") && j < shown.at("/neighbours").size(); ++j)
    row("neighbours",
        fmt::format("{} of the mixture with these for {}", shown.percent(fmt::format("/neighbours/{}/share", j), 0),
                    name_at(shown, fmt::format("/report/targets/{}/name", j))));
  for (std::size_t j = 0; j < shown.at("/report/targets").size(); ++j)
    row("noise of " + name_at(shown, fmt::format("/report/targets/{}/name", j)),
        fmt::format("{} ({})", shown.number(fmt::format("/report/targets/{}/noise", j)),
                    shown.at("/options/learn_noise").get<bool>() ? "learned" : "given"));
  std::string epochs;
  for (std::size_t k = 0; k < shown.at("/training/epochs").size(); ++k)
    epochs += (k > 0 ? ", " : "") + shown.whole_number(fmt::format("/training/epochs/{}", k));
  row("epochs", fmt::format("{}, {}; {} {} a row", epochs,
                            escaped(joined(shown.at("/training/ends").get<std::vector<std::string>>())),
                            shown.at("/options/method") == "joint" ? "log evidence" : "train log-likelihood",
                            shown.number("/training/log_likelihood")));
  parts.settings.emplace_back("/training/options");
  if (shown.at("/options/method") != "joint") parts.quantity = "train log-likelihood a row";
  parts.graph = network_graph(shown);
  return parts;
}

PageParts parts_of_own_graph(const Shown& shown) {
  constexpr std::size_t kMost = 40;
  PageParts parts = parts_of_numbers();
  page::Table& about = parts.learned;
  page::Table table{.columns = {"learned", "mean", "standard deviation"}};
  for (std::size_t j = 0; j < shown.at("/targets").size(); ++j)
    about.rows.push_back({name_at(shown, fmt::format("/report/targets/{}/name", j)),
                          escaped(shown.at(fmt::format("/targets/{}/likelihood", j)).get<std::string>())});
  about.rows.push_back({"training", escaped(shown.at("/training").get<std::string>())});
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
  return parts;
}

}  // namespace dma::report
