#include "tools/dma/page/page_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/support/text.h"
#include "tools/dma/page/html.h"
#include "tools/dma/page/pictures.h"

namespace dma::report {

using page::escaped;

namespace {

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
    table.rows.push_back({escaped(shown.at(one + "/name").get<std::string>()),
                          escaped(shown.at(one + "/made").get<std::string>())});
  }
  return page::html(table);
}

}  // namespace

std::string card(const std::string& number, const std::string& what) {
  return fmt::format("<div class=\"card\"><b>{}</b><span>{}</span></div>\n", number, what);
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
           "taught is taken out of the "
           "fitted Gaussian again, without a new fit. The noise, the prior's scale and the place around which the "
           "model is linearised "
           "have seen the row, so where weights are many and rows few this flatters; <code>--holdout 0.2</code> keeps "
           "rows aside for "
           "good.</p>\n";
  return "<p class=\"warning\">Pictures and scores are of the rows that were learned: unseen rows will be predicted "
         "worse. This method knows no "
         "left-out rows; --holdout 0.2 keeps some aside.</p>\n";
}

std::string charts(const std::vector<std::string>& figures) {
  return fmt::format("<div class=\"charts\">\n{}</div>\n", joined(figures, ""));
}
std::string large_charts(const std::vector<std::string>& figures) {
  return fmt::format("<div class=\"charts two\">\n{}</div>\n", joined(figures, ""));
}

std::string scale_of_inputs(const Shown& shown) {
  return escaped(fmt::format("logarithmic for {}", joined(shown.at("/log_inputs").get<std::vector<std::string>>())));
}

std::string importance_section(const Shown& shown, const std::string& pointer) {
  constexpr std::size_t kMost = 20;
  const std::size_t inputs = shown.at(pointer + "/inputs").size(), all = shown.at("/report/data/inputs").size();
  const auto loss = escaped(shown.at("/report/matters/loss").get<std::string>());
  std::string text = fmt::format(
      "<p><em>Permutation importance</em>: how much the {0} of {1} learned rows, predicted by the fitted model, rises "
      "from {2} when one "
      "column is handed to other rows; mean and standard deviation of {3} shuffles. These are rows that were learned: "
      "it says what the "
      "model looks at, not what would help on unseen rows. Columns that say the same share their importance.</p>\n",
      loss, shown.whole_number("/report/matters/rows"), shown.number(pointer + "/before"),
      shown.whole_number("/report/matters/shuffles"));
  if (inputs < all)
    text += fmt::format(
        "<p>Of {} columns, the {} that go most with what is predicted were shuffled: all would have taken too "
        "long.</p>\n",
        all, inputs);
  text += fmt::format("<figure class=\"half\">{}<figcaption>Rise of the {}.{}</figcaption></figure>\n",
                      importance_picture(shown, pointer, kMost), loss,
                      inputs > kMost ? fmt::format(" The first {} of {}; all are in the JSON.", kMost, inputs) : "");
  return text;
}

std::string averaged_sentence(const Shown& shown) {
  return fmt::format(
      "averaged over {} learned rows, whose column has the value below while their other columns stay as they are",
      shown.whole_number("/report/matters/averaged_rows"));
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

}  // namespace dma::report
