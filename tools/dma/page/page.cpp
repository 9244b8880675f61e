// The page of a fit, from its JSON alone.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "engine/support/text.h"
#include "tools/dma/page/chart.h"
#include "tools/dma/page/page_parts.h"
#include "tools/dma/page/pictures.h"
#include "tools/dma/page/report.h"

namespace dma::report {

using page::escaped;

namespace {

std::string target_at(std::size_t j) { return fmt::format("/report/targets/{}", j); }

std::string names_of_targets(const Shown& shown) {
  std::vector<std::string> names;
  for (const Json& target : shown.at("/report/targets")) names.push_back(target.at("name").get<std::string>());
  return joined(names);
}

std::string summary_lines(const Shown& shown) {
  std::string text;
  const auto line = [&](const std::string& sentence) {
    text += fmt::format("<p class=\"lead\">{}</p>\n", escaped(sentence));
  };
  if (shown.has("/summary")) {
    if (const Json& summary = shown.at("/summary"); summary.is_array())
      for (const Json& sentence : summary) line(sentence.get<std::string>());
    else
      line(summary.get<std::string>());
    if (!shown.has("/held_out"))
      text += "<p class=\"soft\">Estimated from the learned rows, each left out in turn.</p>\n";
  }
  if (const auto warning = shown.at("/report/warning").get<std::string>(); !warning.empty())
    text += fmt::format("<p class=\"warning\">Warning: {}</p>\n", escaped(warning));
  if (const auto ignored = shown.at("/report/data/ignored").get<std::string>(); !ignored.empty())
    text += fmt::format("<p class=\"soft\">{}</p>\n", escaped(ignored));
  return text;
}

std::string with_spaces(std::string text) {
  std::ranges::replace(text, '_', ' ');
  return text;
}

std::string option_value(const Shown& shown, const std::string& pointer) {
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
           option_value(shown, pointer + "/" + in_pointer(key));
  return all;
}

// What was made of the columns of the file, where they are not all numbers.
std::string coding_table(const Shown& shown) {
  if (!shown.has("/columns")) return "";
  page::Table table{.columns = {"column of the file", "what was made of it"}};
  for (std::size_t i = 0; i < shown.at("/columns").size(); ++i) {
    const std::string one = fmt::format("/columns/{}", i);
    table.rows.push_back(
        {escaped(shown.at(one + "/name").get<std::string>()), escaped(shown.at(one + "/made").get<std::string>())});
  }
  return page::html(table);
}

std::string name_of_rows(const std::string& judged_by) {
  if (judged_by == "held_out") return "rows kept aside";
  if (judged_by == "left_out") return "learned rows, each left out";
  if (judged_by == "learned") return "rows it learned from";
  return "always the class frequencies";
}

std::string about_judged_rows(const Shown& shown) {
  const auto by = shown.at("/report/judged_by").get<std::string>();
  if (by == "held_out")
    return "<p>Pictures show the <em>rows kept aside</em> (<code>--holdout</code>): nothing was learned from "
           "them.</p>\n";
  if (by == "left_out")
    return "<p>Pictures show the learned rows, <em>each predicted as if it had been left out</em>: what it alone "
           "taught is taken out of the fitted Gaussian again, without a new fit. The noise, the prior's scale and the "
           "place around which the model is linearised have seen the row, so where weights are many and rows few this "
           "flatters; <code>--holdout 0.2</code> keeps rows aside for good.</p>\n";
  return "<p class=\"warning\">Pictures and scores are of the rows that were learned: unseen rows will be predicted "
         "worse. This method knows no left-out rows; --holdout 0.2 keeps some aside.</p>\n";
}

std::string importance_section(const Shown& shown, const std::string& pointer) {
  constexpr std::size_t kMost = 20;
  const std::size_t inputs = shown.at(pointer + "/inputs").size(), all = shown.at("/report/data/inputs").size(),
                    looked_at = shown.at("/report/matters/columns").get<std::size_t>();
  const auto loss = escaped(shown.at("/report/matters/loss").get<std::string>());
  std::string text = fmt::format(
      "<p><em>Permutation importance</em>: how much the {0} of {1} learned rows, predicted by the fitted model, rises "
      "from {2} when one column is handed to other rows; mean and standard deviation of {3} shuffles. These are rows "
      "that were learned: it says what the model looks at, not what would help on unseen rows. Columns that say the "
      "same share their importance.</p>\n",
      loss, shown.whole_number("/report/matters/rows"), shown.number(pointer + "/before"),
      shown.whole_number("/report/matters/shuffles"));
  if (looked_at < all)
    text += fmt::format(
        "<p>Of {} columns, the {} that go most with what is predicted were shuffled: all would have taken too "
        "long.</p>\n",
        all, looked_at);
  text += fmt::format("<figure class=\"half\">{}<figcaption>Rise of the {}.{}</figcaption></figure>\n",
                      importance_picture(shown, pointer, kMost), loss,
                      inputs > kMost ? fmt::format(" The first {} of {}; all are in the JSON.", kMost, inputs) : "");
  return text;
}

std::string columns_table(const Shown& shown) {
  constexpr std::size_t kMost = 60;
  page::Table table{.columns = {"column", "", "lowest", "mean", "highest"}};
  std::size_t left = 0;
  for (const char* kind : {"targets", "inputs"}) {
    const std::string all = fmt::format("/report/data/{}", kind);
    if (!shown.has(all)) continue;
    for (std::size_t i = 0; i < shown.at(all).size(); ++i) {
      const std::string one = fmt::format("{}/{}", all, i);
      if (table.rows.size() >= kMost)
        ++left;
      else
        table.rows.push_back({escaped(shown.at(one + "/name").get<std::string>()), kind[0] == 't' ? "target" : "input",
                              shown.number(one + "/lowest"), shown.number(one + "/mean"),
                              shown.number(one + "/highest")});
    }
  }
  return coding_table(shown) + page::html(table) +
         (left > 0 ? fmt::format("<p class=\"soft\">and {} more</p>\n", left) : "");
}

std::string options_table(const Shown& shown, const std::vector<std::string>& pointers) {
  page::Table table;
  for (const std::string& pointer : pointers)
    for (const auto& [key, value] : shown.at(pointer).items())
      table.rows.push_back({escaped(with_spaces(key)), option_value(shown, pointer + "/" + in_pointer(key))});
  return page::html(table);
}

std::string score_text(const Shown& shown, const std::string& pointer, const ScoreColumn& column) {
  if (!shown.has(pointer)) return "";
  return column.decimals < 0 ? shown.number(pointer) : shown.percent(pointer, column.decimals);
}

std::string cards_of(const Shown& shown, const PageParts& parts, const std::string& target) {
  const auto by = shown.at("/report/judged_by").get<std::string>();
  std::string text = "<div class=\"cards\">\n";
  for (const ScoreColumn& column : parts.scores)
    if (std::ranges::find(parts.cards, column.key) != parts.cards.end())
      text += page::card(score_text(shown, fmt::format("{}/scores/{}/{}", target, by, column.key),
                                    {column.key, column.heading, std::min(column.decimals, 1)}),
                         fmt::format("{}, {}", column.heading, name_of_rows(by)));
  return text + parts.more_cards(shown, target) + "</div>\n";
}

std::string score_table(const Shown& shown, const PageParts& parts, const std::string& target) {
  page::Table table{.columns = {"", "rows"}};
  for (const ScoreColumn& column : parts.scores) table.columns.push_back(column.heading);
  for (const char* by : {"held_out", "left_out", "learned", "frequencies"}) {
    const std::string s = fmt::format("{}/scores/{}", target, by);
    if (!shown.has(s)) continue;
    table.rows.push_back({name_of_rows(by), shown.whole_number(s + "/rows")});
    for (const ScoreColumn& column : parts.scores)
      table.rows.back().push_back(score_text(shown, s + "/" + column.key, column));
  }
  return page::html(table);
}

std::string target_sections(const Shown& shown, const PageParts& parts) {
  const std::size_t targets = shown.at("/report/targets").size();
  std::string text;
  for (std::size_t j = 0; j < targets; ++j) {
    const std::string target = target_at(j), name = name_at(shown, target + "/name"),
                      number = j == 0 ? "" : fmt::format("-{}", j + 1);
    const auto heading = [&](const char* id, const char* alone, const char* beside) {
      text += fmt::format("<h2 id=\"{}{}\">{}</h2>\n", id, number,
                          targets == 1 ? alone : fmt::format("{}: {}", name, beside));
    };
    heading("good", "How good it is", "how good it is");
    if (targets > 1) text += cards_of(shown, parts, target);
    text += score_table(shown, parts, target) + about_judged_rows(shown) + parts.quality(shown, target);
    heading("matters", "Which inputs matter", "which inputs matter");
    text += importance_section(shown, target + "/importance") + parts.dependence(shown, target);
  }
  return text;
}

std::string body_of(const Shown& shown, PageParts parts) {
  std::string text;
  if (shown.at("/report/targets").size() == 1) text += cards_of(shown, parts, target_at(0));
  parts.learned.rows.push_back({"rows", shown.whole_number("/report/data/rows") + " learned, " +
                                            shown.whole_number("/report/data/held_out_rows") + " kept aside"});
  parts.learned.rows.push_back({"seed", shown.whole_number("/options/seed")});
  text += "<h2 id=\"learned\">What was learned</h2>\n" + page::html(parts.learned);
  text += "<details><summary>All settings</summary>" + options_table(shown, parts.settings) + "</details>\n";
  text += "<details><summary>Columns</summary>" + columns_table(shown) + "</details>\n";
  text += target_sections(shown, parts);
  std::vector<std::string> names;
  for (std::size_t k = 0; k < shown.at("/report/training").size(); ++k) names.push_back(parts.name_of_curve(k));
  text += "<h2 id=\"training\">Training record</h2>\n" +
          large_charts({page::figure(training_panel(shown.at("/report/training"), parts.quantity, names),
                                     "After every epoch.")});
  return text + "<h2 id=\"graph\">The graph</h2>\n" + parts.graph;
}

}  // namespace

std::string charts(const std::vector<std::string>& figures) {
  return fmt::format("<div class=\"charts\">\n{}</div>\n", joined(figures, ""));
}
std::string large_charts(const std::vector<std::string>& figures) {
  return fmt::format("<div class=\"charts two\">\n{}</div>\n", joined(figures, ""));
}

std::string name_at(const Shown& shown, const std::string& pointer) {
  return escaped(shown.at(pointer).get<std::string>());
}

std::string noise_of_what(const Shown& shown, const std::string& target) {
  if (!shown.has("/log_targets")) return "";
  const Json &all = shown.at("/log_targets"), &name = shown.at(target + "/name");
  return std::ranges::find(all, name) != all.end() ? " of the logarithm" : "";
}

std::string averaged_sentence(const Shown& shown) {
  return fmt::format(
      "averaged over {} learned rows, whose column has the value below while their other columns stay as they are",
      shown.whole_number("/report/matters/averaged_rows"));
}

std::string page_of(const Json& whole) {
  const Shown shown(whole);
  const std::string file = std::filesystem::path(shown.at("/report/data/file").get<std::string>()).filename().string();
  const std::string title = fmt::format("{} from {}", names_of_targets(shown), file);
  std::string body = fmt::format("<h1>{}</h1>\n", escaped(title));
  body += summary_lines(shown);
  body += "<nav>";
  for (const auto& [id, name] :
       std::initializer_list<std::pair<const char*, const char*>>{{"learned", "What was learned"},
                                                                  {"good", "How good it is"},
                                                                  {"matters", "Which inputs matter"},
                                                                  {"training", "Training"},
                                                                  {"graph", "The graph"},
                                                                  {"again", "Do it again"}})
    body += fmt::format("<a href=\"#{}\">{}</a> ", id, name);
  body += "</nav>\n";
  body += body_of(shown, parts_of(shown));
  body += fmt::format(
      "<h2 id=\"again\">Do it again</h2>\n<pre>{}</pre>\n<p class=\"soft\">{}; one seed gives one model and one "
      "report. All numbers "
      "of this page, and more, are JSON in its last element, as <code>--json</code> prints them.</p>\n",
      escaped(shown.at("/report/command").get<std::string>()), escaped(shown.at("/report/made_by").get<std::string>()));
  return page::document(title, body + page::json_element("report", whole), true);
}

}  // namespace dma::report
