// The page of a fit, from its JSON alone: fit.html has its text, this file its pictures.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "engine/support/text.h"
#include "tools/dma/page/chart.h"
#include "tools/dma/page/graph_page.h"
#include "tools/dma/page/html.h"
#include "tools/dma/page/pictures.h"
#include "tools/dma/page/report.h"
#include "tools/dma/page/skeleton.h"
#include "tools/dma/pictures/graphviz.h"

namespace dma::report {

namespace {

using page::escaped;

constexpr std::string_view kFitPage =
#include <fit.html>
    ;

std::string text_at(const Shown& shown, const std::string& pointer) { return shown.at(pointer).get<std::string>(); }

std::string setting(const Shown& shown, const std::string& pointer) {
  const Json& value = shown.at(pointer);
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_string()) return escaped(value.get<std::string>());
  if (value.is_number_integer()) return shown.whole_number(pointer);
  if (value.is_number()) return shown.number(pointer);
  if (value.is_null()) return "not given";
  if (value.empty()) return "none";
  std::string all;
  for (const auto& [key, element] : value.items())
    all += (all.empty() ? "" : ", ") + (value.is_object() ? escaped(key) + " " : "") +
           setting(shown, pointer + "/" + in_pointer(key));
  return all;
}

std::string name_of_rows(std::string_view judged_by) {
  if (judged_by == "held_out") return "rows kept aside";
  if (judged_by == "left_out") return "learned rows, each left out";
  if (judged_by == "learned") return "rows it learned from";
  return "always the class frequencies";
}

std::string cards(const Shown& shown, const std::string& target) {
  const std::string by = text_at(shown, "/report/judged_by"), scores = target + "/scores/" + by + "/";
  std::string text;
  const auto add = [&](const std::string& value, std::string_view what) {
    text += page::card(value, fmt::format("{}, {}", what, name_of_rows(by)));
  };
  if (shown.has(target + "/classes")) {
    add(shown.percent(scores + "accuracy"), "accuracy");
    add(shown.number(scores + "log_loss"), "log-loss");
    add(shown.percent(scores + "calibration_error"), "calibration error");
    text += page::card(shown.percent(target + "/scores/frequencies/accuracy"), "rows in the most frequent class");
  } else {
    add(shown.number(scores + "rmse"), "RMSE");
    add(shown.percent(scores + "explained"), "variance explained");
    add(shown.percent(scores + "coverage_95"), "inside 95 % intervals");
    const bool is_log =
        shown.has("/log_targets") &&
        std::ranges::find(shown.at("/log_targets"), shown.at(target + "/name")) != shown.at("/log_targets").end();
    if (!shown.at(target + "/noise").is_null())
      text += page::card(shown.number(target + "/noise"), is_log ? "standard deviation of the noise of the logarithm"
                                                                 : "standard deviation of the noise");
  }
  return "<div class=\"cards\">\n" + text + "</div>\n";
}

std::string confusion_table(const Shown& shown, const std::string& target) {
  constexpr std::size_t kMost = 30;
  const Json &counts = shown.at(target + "/confusion"), &classes = shown.at(target + "/classes");
  if (counts.size() > kMost)
    return fmt::format("<p class=\"soft\">{} classes are too many for a table; the JSON has their counts.</p>\n",
                       counts.size());
  page::Table table{
      .caption = "Rows of every class (down) by the class that was most probable (across); shaded by its fraction.",
      .columns = {""},
      .css_class = "confusion"};
  for (const Json& name : classes) table.columns.push_back(escaped(name.get<std::string>()));
  for (std::size_t k = 0; k < counts.size(); ++k) {
    double rows = 0;
    for (const Json& count : counts[k]) rows += count.get<double>();
    table.rows.push_back({table.columns[k + 1]});
    for (std::size_t l = 0; l < counts.size(); ++l)
      table.rows.back().push_back(fmt::format("<span class=\"share\" style=\"--part:{:.3f}\">{}</span>",
                                              rows > 0 ? counts[k][l].get<double>() / rows : 0,
                                              shown.whole_number(fmt::format("{}/confusion/{}/{}", target, k, l))));
  }
  return page::html(table);
}

std::string dependence_charts(const Shown& shown, const std::string& target) {
  const Json& curves = shown.at(target + "/dependence");
  const std::string name = text_at(shown, target + "/name");
  std::string text;
  for (const plot::Panel& panel :
       shown.has(target + "/classes") ? class_dependence_panels(curves, name) : dependence_panels(curves, name))
    text += page::figure(panel, "");
  return text;
}

std::string training_chart(const Shown& shown, const std::string& pointer) {
  const bool is_graph = text_at(shown, "/report/kind") == "graph";
  const bool is_joint = is_graph || !shown.has("/options/method") || text_at(shown, "/options/method") == "joint";
  std::vector<std::string> names;
  for (std::size_t k = 0; k < shown.at(pointer).size(); ++k)
    names.push_back(fmt::format("{} {}", is_graph ? "start" : "network", k + 1));
  return page::chart(
      training_panel(shown.at(pointer), is_joint ? "log evidence per row" : "train log-likelihood per row", names));
}

// The picture that Graphviz draws, if it is installed.
std::string drawn_graph(const Shown& shown, const std::string& pointer) {
  std::string why;
  const std::string drawn = plot::graph_picture(text_at(shown, pointer), "svg", why);
  return drawn.empty() ? no_picture(why) : fmt::format("<figure class=\"drawn\">{}</figure>\n", embedded(drawn));
}

// The chart that a panel of the JSON at the place makes.
Drawing chart_of(plot::Panel (*panel)(const Json&)) {
  return [panel](const Shown& shown, const std::string& pointer) { return page::chart(panel(shown.at(pointer))); };
}
Drawing chart_of_points(plot::Panel (*panel)(const Json&, const std::string& target)) {
  return [panel](const Shown& shown, const std::string& target) {
    return page::chart(panel(shown.at(target + "/points"), text_at(shown, target + "/name")));
  };
}

}  // namespace

std::string page_of(const Json& whole) {
  std::vector<std::string> names;
  for (const Json& target : whole.at("report").at("targets")) names.push_back(target.at("name").get<std::string>());
  const std::filesystem::path file = whole.at("report").at("data").at("file").get<std::string>();
  const std::string title = fmt::format("{} from {}", joined(names), file.filename().string());
  const Drawings drawings = {
      {"title", [&](const Shown&, const std::string&) { return escaped(title); }},
      {"rows", [](const Shown&, const std::string& at) { return name_of_rows(at.substr(at.rfind('/') + 1)); }},
      {"cards", cards},
      {"setting", setting},
      {"reliability", chart_of(reliability_panel)},
      {"coverage", chart_of(coverage_panel)},
      {"calibration", chart_of(calibration_panel)},
      {"agreement", chart_of_points(agreement_panel)},
      {"residuals", chart_of_points(residual_panel)},
      {"confusion", confusion_table},
      {"importance", importance_picture},
      {"dependence", dependence_charts},
      {"training", training_chart},
      {"graph", drawn_graph}};
  return page::document(title, filled(kFitPage, whole, drawings) + page::json_element("report", whole));
}

}  // namespace dma::report
