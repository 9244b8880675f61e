// The report in all its forms: Markdown, one HTML page that needs nothing else, a CSV file per table.
#pragma once

#include <filesystem>

#include "tools/experiments/paper/experiment.h"

namespace dma::reproduce {

// What differs between two runs of one seed.
struct RunFacts {
  std::string command, version, compiler, machine, date;
  std::size_t threads = 1;
  double seconds = 0;
};

struct Report {
  std::string title;
  std::vector<Section> sections;  // times last
  RunFacts facts;

  std::size_t claims() const, holding() const;  // of the paper
};

// With links to the pictures and tables beside it.
std::string markdown(const Report& report);
// Claims and tables alone: a part of tools/experiments/results/RESULTS.md.
std::string results_page(const Report& report);
std::string html(const Report& report);
std::string csv(const Table& table);

// Draws every picture and writes every file.
void write_report(const Report& report, const std::filesystem::path& folder);

RunFacts facts_of_this_machine();

}  // namespace dma::reproduce
