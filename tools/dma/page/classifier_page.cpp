#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/support/text.h"
#include "tools/dma/page/chart.h"
#include "tools/dma/page/html.h"
#include "tools/dma/page/page_parts.h"
#include "tools/dma/page/pictures.h"

namespace dma::report {

namespace {

using page::escaped;

std::string class_cards(const Shown& shown) {
  const auto by = shown.at("/report/judged_by").get<std::string>();
  const std::string scores = "/report/scores/" + by, where = ", " + name_of_rows(by);
  return "<div class=\"cards\">\n" + card(shown.percent(scores + "/accuracy"), "accuracy" + where) +
         card(shown.number(scores + "/log_loss"), "log-loss" + where) +
         card(shown.percent(scores + "/calibration_error"), "calibration error" + where) +
         card(shown.percent("/report/scores/frequencies/accuracy"), "of the rows are of the most frequent class") +
         "</div>\n";
}

std::string learned_classes_section(const Shown& shown) {
  page::Table table;
  const auto row = [&](const std::string& what, const std::string& html) { table.rows.push_back({what, html}); };
  row("choice", escaped(shown.at("/reason").get<std::string>()));
  if (shown.has("/log_inputs")) row("scale", scale_of_inputs(shown));
  for (std::size_t k = 0; shown.has(fmt::format("/parts/{}", k)); ++k) {
    const std::string part = fmt::format("/parts/{}", k);
    const auto hidden = shown.at(part + "/hidden").get<std::vector<std::size_t>>();
    row(escaped(shown.at(part + "/model").get<std::string>()),
        fmt::format("{}{} weights, {} of the mixture",
                    hidden.empty() ? ""
                                   : fmt::format("{} hidden unit{}, ", joined(hidden, " – "),
                                                 hidden == std::vector<std::size_t>{1} ? "" : "s"),
                    shown.whole_number(part + "/weights"), shown.percent(part + "/share")));
  }
  if (json_number(shown.at("/shares/neighbours")) > 0)
    row("neighbours", shown.percent("/shares/neighbours") + " of the mixture: the classes of the nearest rows");
  row("class frequencies", shown.percent("/shares/frequencies") + " of the mixture");
  std::string classes;
  for (std::size_t k = 0; k < shown.at("/report/classes").size(); ++k)
    classes +=
        fmt::format("{}{} ({} row{})", k > 0 ? ", " : "", escaped(shown.at("/report/classes")[k].get<std::string>()),
                    shown.whole_number(fmt::format("/report/rows_of_classes/{}", k)),
                    shown.at("/report/rows_of_classes")[k] == 1 ? "" : "s");
  row("classes", classes);
  if (shown.at("/training/interrupted").get<bool>()) row("training", "<span class=\"no\">interrupted</span>");
  row("rows", shown.whole_number("/report/data/rows") + " learned, " +
                  shown.whole_number("/report/data/held_out_rows") + " kept aside");
  row("seed", shown.whole_number("/options/seed"));
  return page::html(table);
}

std::string class_score_table(const Shown& shown) {
  page::Table table{.columns = {"", "rows", "accuracy", "log-loss", "calibration error"}};
  for (const char* by : {"held_out", "left_out", "frequencies"}) {
    const std::string s = fmt::format("/report/scores/{}", by);
    if (!shown.has(s)) continue;
    table.rows.push_back({name_of_rows(by), shown.whole_number(s + "/rows"), shown.percent(s + "/accuracy", 2),
                          shown.number(s + "/log_loss"),
                          std::string_view(by) == "frequencies" ? "" : shown.percent(s + "/calibration_error", 2)});
  }
  return page::html(table);
}

std::string confusion_table(const Shown& shown) {
  constexpr std::size_t kMost = 30;
  const Json& counts = shown.at("/report/confusion");
  if (counts.size() > kMost)
    return fmt::format(
        "<p class=\"soft\">The confusion matrix of {} classes is in the JSON: too large to be read here.</p>\n",
        counts.size());
  page::Table table{
      .caption = "Rows of every class (down) by the class that was most probable (across); shaded by its fraction.",
      .columns = {""},
      .css_class = "confusion"};
  for (const Json& name : shown.at("/report/classes")) table.columns.push_back(escaped(name.get<std::string>()));
  for (std::size_t k = 0; k < counts.size(); ++k) {
    double rows = 0;
    for (const Json& count : counts[k]) rows += count.get<double>();
    table.rows.push_back({escaped(shown.at("/report/classes")[k].get<std::string>())});
    for (std::size_t l = 0; l < counts.size(); ++l)
      table.rows.back().push_back(fmt::format("<span class=\"share\" style=\"--part:{:.3f}\">{}</span>",
                                              rows > 0 ? counts[k][l].get<double>() / rows : 0,
                                              shown.whole_number(fmt::format("/report/confusion/{}/{}", k, l))));
  }
  return page::html(table);
}

std::string class_graph(const Shown& shown) {
  std::vector<std::size_t> layers = {shown.at("/report/data/inputs").size()};
  double most = -1;
  std::vector<std::size_t> hidden;
  for (std::size_t k = 0; shown.has(fmt::format("/parts/{}", k)); ++k)
    if (const double fraction = json_number(shown.at(fmt::format("/parts/{}/share", k))); fraction > most) {
      most = fraction;
      hidden = shown.at(fmt::format("/parts/{}/hidden", k)).get<std::vector<std::size_t>>();
    }
  layers.insert(layers.end(), hidden.begin(), hidden.end());
  const std::size_t classes = shown.at("/report/classes").size();
  layers.push_back(classes == 2 ? 1 : classes);  // of two classes one logit says all
  return "<figure class=\"full\">" +
         graph_picture({.layers = layers,
                        .likelihood = classes == 2 ? "logistic" : "softmax",
                        .observed = fmt::format("one of {} classes", classes)}) +
         "<figcaption>One row of the table, in the part with the largest fraction of the mixture: variables are round, "
         "factors square, observed "
         "variables have a double line.</figcaption></figure>\n";
}

}  // namespace

std::string classifier_body(const Shown& shown) {
  const auto target = shown.at("/target").get<std::string>();
  std::string text = class_cards(shown);
  text += "<h2 id=\"learned\">What was learned</h2>\n" + learned_classes_section(shown);
  text += "<details><summary>All settings</summary>" + options_table(shown, {"/options"}) + "</details>\n";
  text += "<details><summary>Columns</summary>" + columns_table(shown) + "</details>\n";
  text += "<h2 id=\"good\">How good it is</h2>\n" + class_score_table(shown) + about_judged_rows(shown);
  text += large_charts(
      {page::figure(
           reliability_panel(shown.at("/report/calibration")),
           "Rows in ten bins by the probability of their most probable class. Below the dashed line it is too sure."),
       "<figure><h4>Confusion matrix</h4>" + confusion_table(shown) + "</figure>\n"});
  text += "<h2 id=\"matters\">Which inputs matter</h2>\n" + importance_section(shown, "/report/importance");
  std::vector<std::string> figures;
  for (const auto& panel : class_dependence_panels(shown.at("/report/dependence"), target))
    figures.push_back(page::figure(panel, ""));
  const std::size_t classes = shown.at("/report/classes").size(), curves = shown.at("/report/dependence").size();
  text += fmt::format(
      "<p><em>Partial dependence</em>: the mean probability of {}, {}. What is not known of the weights is part of "
      "these "
      "probabilities already: it draws them together.</p>\n",
      curves < classes ? fmt::format("the {} most frequent classes", curves) : "every class", averaged_sentence(shown));
  text += charts(figures);
  std::vector<std::string> names;
  for (std::size_t k = 0; k < shown.at("/report/training").size(); ++k)
    names.push_back(k == 0 ? "linear model" : fmt::format("network {}", k));
  text += "<h2 id=\"training\">Training record</h2>\n" +
          large_charts({page::figure(training_panel(shown.at("/report/training"), "log evidence a row", names),
                                     "After every epoch.")});
  return text + "<h2 id=\"graph\">The graph</h2>\n" + class_graph(shown);
}

}  // namespace dma::report
