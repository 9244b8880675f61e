#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "engine/learn/joint/student_tails.h"
#include "engine/support/text.h"
#include "tools/dma/page/chart.h"
#include "tools/dma/page/graph_page.h"
#include "tools/dma/page/html.h"
#include "tools/dma/page/page_parts.h"
#include "tools/dma/page/pictures.h"
#include "tools/dma/pictures/graphviz.h"

namespace dma::report {

namespace {

using page::escaped;

bool is_own_graph(const Shown& shown) { return shown.at("/report/kind") == "graph"; }

std::string target_at(std::size_t j) { return fmt::format("/report/targets/{}", j); }

std::string name_of_target(const Shown& shown, std::size_t j) {
  return shown.at(target_at(j) + "/name").get<std::string>();
}

bool has_noise(const Shown& shown, std::size_t j) { return !shown.at(target_at(j) + "/noise").is_null(); }

std::string cards_of(const Shown& shown, std::size_t j) {
  const auto by = shown.at("/report/judged_by").get<std::string>();
  const std::string scores = fmt::format("{}/scores/{}", target_at(j), by), where = ", " + name_of_rows(by);
  return "<div class=\"cards\">\n" + card(shown.number(scores + "/rmse"), "RMSE" + where) +
         card(shown.percent(scores + "/explained"), "of the variance explained" + where) +
         card(shown.percent(scores + "/coverage_95"), "inside 95 % intervals" + where) +
         (has_noise(shown, j) ? card(shown.number(target_at(j) + "/noise"), "standard deviation of the noise") : "") +
         "</div>\n";
}

std::string rows_and_seed(const Shown& shown, page::Table& table) {
  table.rows.push_back({"rows", shown.whole_number("/report/data/rows") + " learned, " +
                                    shown.whole_number("/report/data/held_out_rows") + " kept aside"});
  table.rows.push_back({"seed", shown.whole_number("/options/seed")});
  return page::html(table);
}

// Of a graph of one's own.
std::string learned_scalars(const Shown& shown) {
  constexpr std::size_t kMost = 40;
  page::Table about, table{.columns = {"learned", "mean", "standard deviation"}};
  for (std::size_t j = 0; j < shown.at("/targets").size(); ++j)
    about.rows.push_back({escaped(name_of_target(shown, j)),
                          escaped(shown.at(fmt::format("/targets/{}/likelihood", j)).get<std::string>())});
  about.rows.push_back({"training", escaped(shown.at("/training").get<std::string>())});
  const Json& learned = shown.at("/learned");
  for (const auto& [name, belief] : learned.items()) {
    if (table.rows.size() == kMost) break;
    const std::string at = "/learned/" + in_pointer(name);
    table.rows.push_back({escaped(name), shown.number(at + "/mean"), shown.number(at + "/sd")});
  }
  return rows_and_seed(shown, about) + page::html(table) +
         (learned.size() > kMost ? fmt::format("<p class=\"soft\">and {} more, all in the JSON</p>\n",
                                               learned.size() - kMost)
                                 : "");
}

std::string learned_section(const Shown& shown) {
  page::Table table;
  const auto row = [&](const std::string& what, const std::string& html) { table.rows.push_back({what, html}); };
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
  if (shown.has("/log_inputs")) row("scale", scale_of_inputs(shown));
  if (shown.has("/network_share"))
    row("mixture", fmt::format("{} {}", shown.percent("/network_share"),
                               shown.at("/network_share") == 1.0 ? "network, nothing of the linear model"
                                                                 : "network, the rest the linear model"));
  for (std::size_t j = 0; shown.has("/neighbours") && j < shown.at("/neighbours").size(); ++j)
    row("neighbours", fmt::format("{} of the mixture with these for {}",
                                  shown.percent(fmt::format("/neighbours/{}/share", j), 0),
                                  escaped(name_of_target(shown, j))));
  for (std::size_t j = 0; j < shown.at("/report/targets").size(); ++j)
    row("noise of " + escaped(name_of_target(shown, j)),
        fmt::format("{} ({})", shown.number(target_at(j) + "/noise"),
                    shown.at("/options/learn_noise").get<bool>() ? "learned" : "given"));
  std::string epochs;
  for (std::size_t k = 0; k < shown.at("/training/epochs").size(); ++k)
    epochs += (k > 0 ? ", " : "") + shown.whole_number(fmt::format("/training/epochs/{}", k));
  row("epochs",
      fmt::format("{}, {}; {} {} a row", epochs,
                  escaped(joined(shown.at("/training/ends").get<std::vector<std::string>>())),
                  shown.at("/options/method") == "joint" ? "log evidence" : "train log-likelihood",
                  shown.number("/training/log_likelihood")));
  if (shown.has("/candidates")) {
    std::string tried;
    for (std::size_t k = 0; k < shown.at("/candidates").size(); ++k) {
      const std::string one = fmt::format("/candidates/{}", k);
      tried += fmt::format("{}tempering {}{}: log-likelihood {} of rows held out", k > 0 ? "<br>" : "",
                           shown.number(one + "/tempering"),
                           shown.at(one + "/learn_prior").get<bool>() ? ", learned priors" : "",
                           shown.number(one + "/held_out_log_likelihood"));
    }
    row("tried", tried);
  }
  return rows_and_seed(shown, table);
}

std::string score_table(const Shown& shown, std::size_t j) {
  page::Table table{.columns = {"", "rows", "RMSE", "variance explained", "mean log-likelihood", "inside 50 %",
                                "inside 90 %", "inside 95 %"}};
  for (const char* by : {"held_out", "left_out", "learned"}) {
    const std::string s = fmt::format("{}/scores/{}", target_at(j), by);
    if (!shown.has(s)) continue;
    table.rows.push_back({name_of_rows(by), shown.whole_number(s + "/rows"), shown.number(s + "/rmse"),
                          shown.percent(s + "/explained", 2), shown.number(s + "/log_likelihood"),
                          shown.percent(s + "/coverage_50"), shown.percent(s + "/coverage_90"),
                          shown.percent(s + "/coverage_95")});
  }
  return page::html(table);
}

std::string quality_charts(const Shown& shown, std::size_t j) {
  const std::string name = name_of_target(shown, j), target = target_at(j);
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

std::string matters_charts(const Shown& shown, std::size_t j) {
  std::vector<std::string> figures;
  for (const auto& panel : dependence_panels(shown.at(target_at(j) + "/dependence"), name_of_target(shown, j)))
    figures.push_back(page::figure(panel, ""));
  return fmt::format(
             "<p><em>Partial dependence</em>: the mean prediction, {}. The band is two standard deviations of what is "
             "not known "
             "of the function (without the noise), averaged over those rows: an upper bound for that of the "
             "mean.</p>\n",
             averaged_sentence(shown)) +
         charts(figures);
}

// What is computed, in words, and the graph as Graphviz draws it where that is installed.
std::string own_graph(const Shown& shown) {
  std::string why;
  const std::string drawn = plot::graph_picture(shown.at("/report/graph").get<std::string>(), "svg", why);
  return fmt::format("<pre>{}</pre>\n", escaped(shown.at("/program").get<std::string>())) +
         (drawn.empty() ? no_picture(why) : fmt::format("<figure class=\"drawn\">{}</figure>\n", embedded(drawn)));
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
         "line.</figcaption></figure>\n";
}

std::string graph_section(const Shown& shown) {
  return (is_own_graph(shown) ? own_graph(shown) : network_graph(shown)) +
         fmt::format("<details><summary>The graph in Graphviz's language</summary><pre>{}</pre></details>\n",
                     escaped(shown.at("/report/graph").get<std::string>()));
}

}  // namespace

std::string regression_body(const Shown& shown) {
  const std::size_t targets = shown.at("/report/targets").size();
  std::string text;
  if (targets == 1) text += cards_of(shown, 0);
  const bool own = is_own_graph(shown);
  text += "<h2 id=\"learned\">What was learned</h2>\n" + (own ? learned_scalars(shown) : learned_section(shown));
  std::vector<std::string> settings{"/options"};
  if (!own) settings.emplace_back("/training/options");
  text += "<details><summary>All settings</summary>" + options_table(shown, settings) + "</details>\n";
  text += "<details><summary>Columns</summary>" + columns_table(shown) + "</details>\n";
  for (std::size_t j = 0; j < targets; ++j) {
    const std::string of = targets == 1 ? "" : escaped(name_of_target(shown, j)) + ": ",
                      number = j == 0 ? "" : fmt::format("-{}", j + 1);
    text +=
        fmt::format("<h2 id=\"good{}\">{}{}</h2>\n", number, of, targets == 1 ? "How good it is" : "how good it is");
    if (targets > 1) text += cards_of(shown, j);
    text += score_table(shown, j) + about_judged_rows(shown) + quality_charts(shown, j);
    text += fmt::format("<h2 id=\"matters{}\">{}{}</h2>\n", number, of,
                        targets == 1 ? "Which inputs matter" : "which inputs matter");
    text += importance_section(shown, target_at(j) + "/importance") + matters_charts(shown, j);
  }
  std::vector<std::string> names;
  for (std::size_t k = 0; k < shown.at("/report/training").size(); ++k)
    names.push_back(fmt::format("{} {}", own ? "start" : "network", k + 1));
  text += "<h2 id=\"training\">Training record</h2>\n" +
          large_charts({page::figure(
              training_panel(
                  shown.at("/report/training"),
                  own || shown.at("/options/method") == "joint" ? "log evidence a row" : "train log-likelihood a row",
                  names),
              "After every epoch.")});
  return text + "<h2 id=\"graph\">The graph</h2>\n" + graph_section(shown);
}

}  // namespace dma::report
