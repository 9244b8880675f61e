// The report: an HTML page that needs nothing else, and its claims and tables in Markdown.
#pragma once

#include <filesystem>

#include "tools/experiments/paper/writer.h"

namespace dma::reproduce {

// The facts that differ between two runs of one seed.
struct RunFacts {
  std::string command, version, compiler, machine, date;
  std::size_t threads = 1;
  double seconds = 0;
};

struct Report {
  std::string title;
  std::vector<Section> sections;  // times last
  RunFacts facts;

  std::size_t claims(bool only_holding = false) const;  // number of claims of the paper
};

// Claims and tables: a part of tools/experiments/results/RESULTS.md.
std::string results_page(const Report& report);
std::string html(const Report& report);

std::string markdown_row(const std::vector<std::string>& cells);
std::string markdown_header(const std::vector<std::string>& titles);

// Draws every picture and writes every file.
void write_report(const Report& report, const std::filesystem::path& folder);

RunFacts facts_of_this_machine();

}  // namespace dma::reproduce
