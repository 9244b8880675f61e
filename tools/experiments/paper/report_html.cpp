// One page with everything in it: tables, and pictures as inline SVG.
#include <fmt/format.h>

#include "tools/dma/page/html.h"
#include "tools/dma/pictures/svg.h"
#include "tools/experiments/paper/report.h"

namespace dma::reproduce {

namespace {

using page::escaped;
using page::prose;

std::string html_table(const Table& table) {
  page::Table out{.caption = prose(table.caption)};
  for (const std::string& column : table.columns) out.columns.push_back(escaped(column));
  for (const auto& row : table.rows) {
    out.rows.emplace_back();
    for (const std::string& cell : row) out.rows.back().push_back(escaped(cell));
  }
  return page::html(out);
}

std::string html_claims(const Section& section) {
  if (section.claims.empty()) return "";
  page::Table out{.columns = {"where", "claim", "paper", "ours", "holds", "why not"}};
  for (const Claim& c : section.claims)
    out.rows.push_back({escaped(c.where), prose(c.claim), escaped(c.paper), escaped(c.ours),
                        c.holds ? "<span class=\"yes\">yes</span>" : "<span class=\"no\">no</span>", prose(c.why)});
  return page::html(out);
}

}  // namespace

std::string html(const Report& report) {
  std::string body = fmt::format("<h1>{}</h1>\n<p>{} of {} claims of the paper hold.</p>\n<nav>", escaped(report.title),
                                 report.holding(), report.claims());
  std::vector<const Section*> sections;
  for (const Section& s : report.sections) sections.push_back(&s);
  sections.push_back(&report.times);
  for (const Section* s : sections) body += fmt::format("<a href=\"#{}\">{}</a> ", s->name, s->name);
  body +=
      "</nav>\n<p>Numbers in brackets are 95 % bootstrap intervals of the median over our seeds; a claim about a "
      "median holds when the paper's figure lies inside.</p>\n";
  for (const Section* s : sections) {
    body += fmt::format("<h2 id=\"{}\">{}</h2>\n", s->name, escaped(s->title));
    for (const std::string& paragraph : s->text) body += fmt::format("<p>{}</p>\n", prose(paragraph));
    body += html_claims(*s);
    for (const Table& table : s->tables) body += html_table(table);
    for (const Picture& p : s->pictures)
      body += fmt::format("<figure class=\"drawn\">{}<figcaption>{}</figcaption></figure>\n", plot::svg(p.figure),
                          prose(p.caption));
  }
  const RunFacts& f = report.facts;
  body += fmt::format(
      "<h2 id=\"run\">This run</h2>\n<p><code>{}</code>, {}</p>\n<p>dma {}, {}, {} with {} threads; this call {:.0f} "
      "s; all "
      "units, of earlier calls too, {:.0f} s of processor time.</p>\n",
      escaped(f.command), f.date, f.version, escaped(f.compiler), escaped(f.machine), f.threads, f.seconds,
      f.unit_seconds);
  return page::document(report.title, body, false);
}

}  // namespace dma::reproduce
