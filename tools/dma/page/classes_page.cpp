// Parts of the page that show a target of classes.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/support/text.h"
#include "tools/dma/page/chart.h"
#include "tools/dma/page/page_parts.h"
#include "tools/dma/page/pictures.h"

namespace dma::report {

namespace {

using page::escaped;

constexpr const char* kTarget = "/report/targets/0";

std::string confusion_table(const Shown& shown) {
  constexpr std::size_t kMost = 30;
  const Json &counts = shown.at(fmt::format("{}/confusion", kTarget)),
             &classes = shown.at(fmt::format("{}/classes", kTarget));
  if (counts.size() > kMost)
    return fmt::format(
        "<p class=\"soft\">The confusion matrix of {} classes is in the JSON: too large to be read here.</p>\n",
        counts.size());
  page::Table table{
      .caption = "Rows of every class (down) by the class that was most probable (across); shaded by its fraction.",
      .columns = {""},
      .css_class = "confusion"};
  for (const Json& name : classes) table.columns.push_back(escaped(name.get<std::string>()));
  for (std::size_t k = 0; k < counts.size(); ++k) {
    double rows = 0;
    for (const Json& count : counts[k]) rows += count.get<double>();
    table.rows.push_back({escaped(classes[k].get<std::string>())});
    for (std::size_t l = 0; l < counts.size(); ++l)
      table.rows.back().push_back(fmt::format("<span class=\"share\" style=\"--part:{:.3f}\">{}</span>",
                                              rows > 0 ? counts[k][l].get<double>() / rows : 0,
                                              shown.whole_number(fmt::format("{}/confusion/{}/{}", kTarget, k, l))));
  }
  return page::html(table);
}

std::string class_charts(const Shown& shown, const std::string& target) {
  return large_charts(
      {page::figure(
           reliability_panel(shown.at(target + "/calibration")),
           "Rows in ten bins by the probability of their most probable class. Below the dashed line it is too sure."),
       "<figure><h4>Confusion matrix</h4>" + confusion_table(shown) + "</figure>\n"});
}

std::string class_dependence(const Shown& shown, const std::string& target) {
  const Json& curves = shown.at(target + "/dependence");
  std::vector<std::string> figures;
  for (const auto& panel : class_dependence_panels(curves, shown.at(target + "/name").get<std::string>()))
    figures.push_back(page::figure(panel, ""));
  return fmt::format(
             "<p><em>Partial dependence</em>: the mean probability of {}, {}. The uncertainty of the weights is part "
             "of these probabilities: it draws them together.</p>\n",
             curves.size() < shown.at(target + "/classes").size()
                 ? fmt::format("the {} most frequent classes", curves.size())
                 : "every class",
             averaged_sentence(shown)) +
         charts(figures);
}

}  // namespace

PageParts parts_of_classes() {
  return {
      .scores = {{"accuracy", "accuracy", 2}, {"log_loss", "log-loss"}, {"calibration_error", "calibration error", 2}},
      .cards = {"accuracy", "log_loss", "calibration_error"},
      .more_cards =
          [](const Shown& json, const std::string& target) {
            return page::card(json.percent(target + "/scores/frequencies/accuracy"),
                              "of the rows are of the most frequent class");
          },
      .quality = class_charts,
      .dependence = class_dependence};
}

}  // namespace dma::report
