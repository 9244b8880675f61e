#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "engine/support/text.h"
#include "tools/dma/page/html.h"
#include "tools/dma/page/page_parts.h"
#include "tools/dma/page/report.h"

namespace dma::report {

namespace {

using page::escaped;

std::string names_of_targets(const Shown& shown) {
  if (shown.has("/target")) return shown.at("/target").get<std::string>();
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
      text += "<p class=\"soft\">So foretold by the learned rows, each left out in turn.</p>\n";
  }
  if (const auto warning = shown.at("/report/warning").get<std::string>(); !warning.empty())
    text += fmt::format("<p class=\"warning\">Warning: {}</p>\n", escaped(warning));
  if (const auto ignored = shown.at("/report/data/ignored").get<std::string>(); !ignored.empty())
    text += fmt::format("<p class=\"soft\">{}</p>\n", escaped(ignored));
  return text;
}

}  // namespace

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
  body += shown.at("/report/kind") == "classifier" ? classifier_body(shown) : regression_body(shown);
  body += fmt::format(
      "<h2 id=\"again\">Do it again</h2>\n<pre>{}</pre>\n<p class=\"soft\">{}; one seed gives one model and one "
      "report. All numbers "
      "of this page, and more, are JSON in its last element, as <code>--json</code> prints them.</p>\n",
      escaped(shown.at("/report/command").get<std::string>()), escaped(shown.at("/report/made_by").get<std::string>()));
  return page::document(title, body + page::json_element("report", whole), true);
}

}  // namespace dma::report
