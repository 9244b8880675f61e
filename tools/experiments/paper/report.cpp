#include "tools/experiments/paper/report.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <fstream>

#include "engine/support/parallel.h"
#include "engine/support/text.h"
#include "tools/dma/help/version.h"
#include "tools/dma/io/write_file.h"
#include "tools/dma/pictures/svg.h"

namespace dma::reproduce {

namespace {

template <class F>
void for_each_section(const Report& report, const F& visit) {
  for (const Section& section : report.sections) visit(section);
  visit(report.times);
}

std::string quoted_cell(const std::string& cell) {
  if (cell.find_first_of(",\"\n") == cell.npos) return cell;
  std::string out = "\"";
  for (const char c : cell) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string csv_row(const std::vector<std::string>& cells) {
  std::vector<std::string> quoted;
  for (const std::string& cell : cells) quoted.push_back(quoted_cell(cell));
  return fmt::format("{}\n", joined(quoted, ","));
}

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

std::string markdown_table(const Table& table) {
  std::string text = markdown_row(table.columns) + "|";
  for (std::size_t i = 0; i < table.columns.size(); ++i) text += "---|";
  text += "\n";
  for (const auto& row : table.rows) text += markdown_row(row);
  return text;
}

Table section_claims(const Section& section) {
  Table table{section.name + "_claims", "", {"where", "claim", "paper", "ours", "holds", "why not"}, {}};
  for (const Claim& c : section.claims)
    table.rows.push_back({c.where, c.claim, c.paper, c.ours, c.holds ? "yes" : "**no**", c.why});
  return table;
}

// Without pictures it is a part of a longer document: headings one level lower, no links to files beside it.
std::string section_markdown(const Section& section, bool pictures) {
  std::string text = fmt::format("{} {}\n\n", pictures ? "##" : "###", section.title);
  for (const std::string& paragraph : section.text) text += paragraph + "\n\n";
  if (!section.claims.empty()) text += markdown_table(section_claims(section)) + "\n";
  for (const Table& table : section.tables)
    text += fmt::format("{}{}\n\n{}\n", table.caption, pictures ? fmt::format(" ([{0}.csv]({0}.csv))", table.name) : "",
                        markdown_table(table));
  if (pictures)
    for (const Picture& p : section.pictures) text += fmt::format("![{}]({}.svg)\n\n", p.caption, p.name);
  return text;
}

}  // namespace

std::size_t Report::claims() const {
  std::size_t count = 0;
  for_each_section(*this, [&](const Section& s) {
    count += static_cast<std::size_t>(std::ranges::count(s.claims, true, &Claim::of_the_paper));
  });
  return count;
}

std::size_t Report::holding() const {
  std::size_t count = 0;
  for_each_section(*this, [&](const Section& s) {
    count += static_cast<std::size_t>(
        std::ranges::count_if(s.claims, [](const Claim& c) { return c.of_the_paper() && c.holds; }));
  });
  return count;
}

std::string csv(const Table& table) {
  std::string text = csv_row(table.columns);
  for (const auto& row : table.rows) text += csv_row(row);
  return text;
}

Table claims_table(const Report& report) {
  Table table{"claims",
              "Every claim, the paper's figure and ours.",
              {"experiment", "where", "claim", "paper", "ours", "holds", "why not"},
              {}};
  for (const Section& s : report.sections)
    for (const Claim& c : s.claims)
      table.rows.push_back({s.name, c.where, c.claim, c.paper, c.ours, c.holds ? "yes" : "no", c.why});
  return table;
}

std::string markdown(const Report& report, bool pictures) {
  std::string text = pictures ? fmt::format("# {}\n\n", report.title) : "";
  text +=
      "Numbers in brackets are 95 % bootstrap intervals of the median over our seeds; a claim about a median holds "
      "when the paper's figure lies "
      "inside. The authors' seeds differ from ours, and theirs carry the same uncertainty. NLL is a mean negative log "
      "density in nats; "
      "*noisy targets* is the expected score against targets with noise, which does not reward a band for being too "
      "narrow.\n\n";
  for (const Section& section : report.sections) text += section_markdown(section, pictures);
  // From here on everything depends on the machine and the hour.
  text += section_markdown(report.times, pictures);
  const RunFacts& f = report.facts;
  text += fmt::format(
      "{} This run\n\n`{}`, {}\n\ndma {}, {}, {} with {} threads; this call {:.0f} s; all units, of earlier calls too, "
      "{:.0f} s of processor "
      "time.\n\n{} of {} claims of the paper hold.\n",
      pictures ? "##" : "###", f.command, f.date, f.version, f.compiler, f.machine, f.threads, f.seconds,
      f.unit_seconds, report.holding(), report.claims());
  return text;
}

std::string readme_summary(const Report& report) {
  const auto section = std::ranges::find(report.sections, "exact", &Section::name);
  if (section == report.sections.end()) return "";
  const auto table = [&](const char* name) { return *std::ranges::find(section->tables, name, &Table::name); };
  const Table all = table("exact"), same_prior = table("exact_prior");
  const std::vector<std::size_t> kept = {0, 1, 3, 4, 6, 10, 12};
  const auto shortened = [&](const std::vector<std::string>& row) {
    std::vector<std::string> few;
    for (const std::size_t i : kept) few.push_back(row[i]);
    return few;
  };
  Table few{"summary", "", shortened(all.columns), {}};
  for (const auto& row : all.rows) few.rows.push_back(shortened(row));
  for (const auto& row : same_prior.rows)
    if (row[0].starts_with("joint")) few.rows.push_back(shortened(row));
  return fmt::format(
      "`{}`, {}, {}: {} of {} claims of the paper hold as stated; every one, with the reason where it does not, is in "
      "[tools/experiments/results/RESULTS.md](tools/experiments/results/RESULTS.md). Outside the data of the paper's "
      "83-weight task:\n\n{}\n"
      "![DMA, the default, joint learning under the data's prior, and the exact posterior](tools/pictures/exact.svg)\n",
      report.facts.command, report.facts.date, report.facts.machine, report.holding(), report.claims(),
      markdown_table(few));
}

void write_report(const Report& report, const std::filesystem::path& folder) {
  for_each_section(report, [&](const Section& section) {
    for (const Table& table : section.tables) write_file(folder / (table.name + ".csv"), csv(table));
    for (const Picture& picture : section.pictures)
      plot::draw_picture(picture.figure, folder / (picture.name + ".svg"));
  });
  write_file(folder / "claims.csv", csv(claims_table(report)));
  write_file(folder / "report.md", markdown(report, true));
  write_file(folder / "report.html", html(report));
  write_file(folder / "RESULTS.md", markdown(report, false));
  if (const std::string summary = readme_summary(report); !summary.empty()) write_file(folder / "summary.md", summary);
}

RunFacts facts_of_this_machine() {
  RunFacts facts;
  facts.version = version();
  facts.compiler = "compiler " __VERSION__;
  facts.machine = "unknown processor";
  std::ifstream info("/proc/cpuinfo");
  // x86 names its processors; ARM gives the numbers of implementer and part.
  std::string implementer;
  for (std::string line; std::getline(info, line);) {
    const auto value = [&] { return line.substr(std::min(line.size(), line.find(':') + 2)); };
    if (line.starts_with("model name")) facts.machine = value();
    if (line.starts_with("CPU implementer")) implementer = value();
    if (line.starts_with("CPU part"))
      facts.machine = implementer == "0x41" && value() == "0xd40"   ? "Neoverse-V1"
                      : implementer == "0x41" && value() == "0xd0c" ? "Neoverse-N1"
                      : implementer == "0x41" && value() == "0xd4f" ? "Neoverse-V2"
                                                                    : "ARM processor " + implementer + "/" + value();
  }
  facts.threads = static_cast<int>(all_processors());
  const std::time_t now = std::time(nullptr);
  facts.date = fmt::format("{:%Y-%m-%d}", fmt::gmtime(now));
  return facts;
}

}  // namespace dma::reproduce
