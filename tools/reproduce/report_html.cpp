// One page with everything in it: styles, tables, pictures as inline SVG. It loads nothing.
#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "tools/reproduce/report.h"

namespace dma::reproduce {

namespace {

constexpr const char* kStyle =
    R"(body{font:15px/1.5 system-ui,sans-serif;max-width:1100px;margin:2em auto;padding:0 1em;color:#222}
h1,h2{line-height:1.2}h2{margin-top:2.2em;border-bottom:1px solid #ddd}table{border-collapse:collapse;font-size:13px;margin:1em 0}
th,td{border:1px solid #ddd;padding:3px 8px;text-align:left;vertical-align:top}th{background:#f4f4f4}.wide{overflow-x:auto}
.yes{color:#00603f}.no{color:#a33b00;font-weight:600}figure{margin:1.5em 0}figure svg{max-width:100%;height:auto}
figcaption,caption{color:#555;text-align:left;caption-side:top}nav a{margin-right:1em})";

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

// Markdown's marks in our own texts: `code` and *emphasis*.
std::string prose(std::string_view text) {
  std::string out;
  bool code = false, emphasis = false;
  for (const char c : escaped(text)) {
    if (c == '`')
      out += code ? "</code>" : "<code>", code = !code;
    else if (c == '*' && !code)
      out += emphasis ? "</em>" : "<em>", emphasis = !emphasis;
    else
      out += c;
  }
  return out;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size()) text.replace(at, from.size(), to);
}

// The picture's element alone, its identifiers made its own: several pictures of gnuplot in one page would share them.
std::string inline_svg(const std::filesystem::path& file, std::size_t number) {
  std::ifstream stream(file);
  std::ostringstream all;
  all << stream.rdbuf();
  std::string svg = all.str();
  const auto begin = svg.find("<svg");
  if (begin == svg.npos) return "";
  svg = svg.substr(begin);
  for (const char* const name : {"gnuplot_", "gpDot", "gpPt", "textbox", "greybox"}) {
    for (const char* const before : {"id='", "id=\"", "'#", "\"#", "(#"})
      replace_all(svg, fmt::format("{}{}", before, name), fmt::format("{}p{}_{}", before, number, name));
  }
  return svg;
}

std::string html_table(const Table& table) {
  std::string text = "<div class=\"wide\"><table>";
  if (!table.caption.empty()) text += fmt::format("<caption>{}</caption>", prose(table.caption));
  text += "<thead><tr>";
  for (const std::string& column : table.columns) text += fmt::format("<th>{}</th>", escaped(column));
  text += "</tr></thead>\n<tbody>";
  for (const auto& row : table.rows) {
    text += "<tr>";
    for (const std::string& cell : row) text += fmt::format("<td>{}</td>", escaped(cell));
    text += "</tr>\n";
  }
  return text + "</tbody></table></div>\n";
}

std::string html_claims(const Section& section) {
  if (section.claims.empty()) return "";
  std::string text =
      "<div "
      "class=\"wide\"><table><thead><tr><th>where</th><th>claim</th><th>paper</th><th>ours</th><th>holds</th><th>why "
      "not</th></tr></thead>\n<tbody>";
  for (const Claim& c : section.claims)
    text += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td class=\"{}\">{}</td><td>{}</td></tr>\n",
                        escaped(c.where), prose(c.claim), escaped(c.paper), escaped(c.ours), c.holds ? "yes" : "no",
                        c.holds ? "yes" : "no", prose(c.why));
  return text + "</tbody></table></div>\n";
}

}  // namespace

std::string html(const Report& report, const std::filesystem::path& folder) {
  std::string body = fmt::format("<h1>{}</h1>\n<p>{} of {} claims of the paper hold.</p>\n<nav>", escaped(report.title),
                                 report.holding(), report.claims());
  std::vector<const Section*> sections;
  for (const Section& s : report.sections) sections.push_back(&s);
  sections.push_back(&report.times);
  for (const Section* s : sections) body += fmt::format("<a href=\"#{}\">{}</a> ", s->name, s->name);
  body +=
      "</nav>\n<p>Numbers in brackets are 95 % bootstrap intervals of the median over our seeds; a claim about a "
      "median holds when the paper's figure lies inside.</p>\n";
  std::size_t picture = 0;
  for (const Section* s : sections) {
    body += fmt::format("<h2 id=\"{}\">{}</h2>\n", s->name, escaped(s->title));
    for (const std::string& paragraph : s->text) body += fmt::format("<p>{}</p>\n", prose(paragraph));
    body += html_claims(*s);
    for (const Table& table : s->tables) body += html_table(table);
    for (const Picture& p : s->pictures) {
      const std::string svg = inline_svg(folder / (p.name + ".svg"), ++picture);
      body += fmt::format("<figure>{}<figcaption>{}</figcaption></figure>\n",
                          svg.empty() ? "<p>not drawn: gnuplot is missing</p>" : svg, prose(p.caption));
    }
  }
  const RunFacts& f = report.facts;
  body += fmt::format(
      "<h2 id=\"run\">This run</h2>\n<p><code>{}</code>, {}</p>\n<p>dma {}, {}, {} with {} threads; this call {:.0f} "
      "s; all "
      "units, of earlier calls too, {:.0f} s of processor time.</p>\n",
      escaped(f.command), f.date, f.version, escaped(f.compiler), escaped(f.machine), f.threads, f.seconds,
      f.unit_seconds);
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><link rel=\"icon\" "
      "href=\"data:,\"><title>{}</title>\n<style>{}</style></head>\n<body>\n{}</body></html>\n",
      escaped(report.title), kStyle, body);
}

}  // namespace dma::reproduce
