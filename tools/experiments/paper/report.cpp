#include "tools/experiments/paper/report.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <span>

#include "engine/support/parallel.h"
#include "engine/support/text.h"
#include "tools/dma/help/version.h"
#include "tools/dma/io/write_file.h"
#include "tools/dma/page/html.h"
#include "tools/dma/pictures/svg.h"

namespace dma::reproduce {

namespace {

using page::escaped;
using page::prose;

constexpr const char* kHowToRead =
    "Numbers in brackets are 95 % bootstrap intervals of the median over our seeds; a claim about a median holds if "
    "the paper's figure lies inside. NLL is a mean negative log density in nats; *noisy targets* is the expected score "
    "against targets with noise, which does not reward a band for being too narrow.";

Table claims_of(std::span<const Section> sections) {
  Table table{"", {"where", "claim", "paper", "ours", "holds", "why not"}};
  for (const Section& section : sections) {
    std::string last;
    for (const Claim& c : section.claims) {
      table.rows.push_back({c.where, c.claim, c.paper, c.ours, c.holds ? "yes" : "**no**",
                            !c.why.empty() && c.why == last ? "as above" : c.why});
      last = c.why;
    }
  }
  return table;
}

std::string markdown(const Table& table) {
  std::string text = markdown_header(table.columns);
  for (const auto& row : table.rows) text += markdown_row(row);
  return text;
}

std::string run_text(const Report& report) {
  const RunFacts& f = report.facts;
  return fmt::format("`{}`, {}\n\ndma {}, {}, {} with {} threads; {:.0f} s.\n\n{} of {} claims of the paper hold.\n",
                     f.command, f.date, f.version, f.compiler, f.machine, f.threads, f.seconds, report.claims(true),
                     report.claims());
}

std::string html(const Table& table) {
  page::Table out{.caption = prose(table.caption)};
  for (const std::string& column : table.columns) out.columns.push_back(escaped(column));
  for (const auto& row : table.rows) {
    out.rows.emplace_back();
    for (const std::string& cell : row)
      out.rows.back().push_back(cell == "**no**" ? "<span class=\"no\">no</span>" : prose(cell));
  }
  return page::html(out);
}

}  // namespace

// A pipe would end the cell.
std::string markdown_row(const std::vector<std::string>& cells) {
  std::string row = "|";
  for (const std::string& cell : cells) {
    row += ' ';
    for (const char c : cell) row += c == '|' ? std::string("\\|") : std::string(1, c);
    row += " |";
  }
  return row + "\n";
}

std::string markdown_header(const std::vector<std::string>& titles) {
  std::string text = markdown_row(titles) + "|";
  for (std::size_t i = 0; i < titles.size(); ++i) text += "---|";
  return text + "\n";
}

std::size_t Report::claims(bool only_holding) const {
  std::size_t count = 0;
  for (const Section& section : sections)
    for (const Claim& c : section.claims) count += c.of_the_paper() && (c.holds || !only_holding);
  return count;
}

std::string results_page(const Report& report) {
  std::string text =
      fmt::format("{} `report.html` has pictures and notes.\n\n{}\n", kHowToRead, markdown(claims_of(report.sections)));
  for (const Section& section : report.sections)
    for (const Table& table : section.tables) text += fmt::format("{}\n\n{}\n", table.caption, markdown(table));
  return text + run_text(report);
}

std::string html(const Report& report) {
  std::string body = fmt::format("<h1>{}</h1>\n<p>{} of {} claims of the paper hold.</p>\n<nav>", escaped(report.title),
                                 report.claims(true), report.claims());
  for (const Section& s : report.sections) body += fmt::format("<a href=\"#{0}\">{0}</a> ", s.name);
  body += fmt::format("</nav>\n<p>{}</p>\n", prose(kHowToRead));
  for (const Section& s : report.sections) {
    body += fmt::format("<h2 id=\"{}\">{}</h2>\n", s.name, escaped(s.title));
    for (const std::string& paragraph : s.text) body += fmt::format("<p>{}</p>\n", prose(paragraph));
    if (!s.claims.empty()) body += html(claims_of({&s, 1}));
    for (const Table& table : s.tables) body += html(table);
    for (const Picture& p : s.pictures)
      body += fmt::format("<figure class=\"drawn\">{}<figcaption>{}</figcaption></figure>\n", plot::svg(p.figure),
                          prose(p.caption));
  }
  return page::document(report.title, body + fmt::format("<h2>This run</h2>\n<p>{}</p>\n", prose(run_text(report))));
}

void write_report(const Report& report, const std::filesystem::path& folder) {
  for (const Section& section : report.sections)
    for (const Picture& p : section.pictures) plot::draw_picture(p.figure, folder / (p.name + ".svg"));
  write_file(folder / "report.html", html(report));
  write_file(folder / "RESULTS.md", results_page(report));
}

RunFacts facts_of_this_machine() {
  RunFacts facts;
  facts.version = version();
  facts.compiler = "compiler " __VERSION__;
  facts.machine = "unknown processor";
  std::ifstream info("/proc/cpuinfo");
  // x86 names its processors; ARM gives a number.
  for (std::string line; std::getline(info, line);) {
    const std::string value = line.substr(std::min(line.size(), line.find(':') + 2));
    if (line.starts_with("model name")) facts.machine = value;
    if (line.starts_with("CPU part")) facts.machine = value == "0xd40" ? "Neoverse-V1" : "ARM processor " + value;
  }
  facts.threads = all_processors();
  facts.date = fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)));
  return facts;
}

}  // namespace dma::reproduce
