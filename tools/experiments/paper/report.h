// The report in all its forms: Markdown, one HTML page that needs nothing else, a CSV file per table.
#pragma once

#include <filesystem>

#include "tools/experiments/paper/experiment.h"

namespace dma::reproduce {

// What differs between two runs of one seed.
struct RunFacts {
  std::string command, version, compiler, machine, date;
  int threads = 1;
  double seconds = 0, unit_seconds = 0;  // of this call, and of all units that this folder holds
};

struct Report {
  std::string title;
  std::vector<Section> sections;  // those that one seed decides
  Section times;
  RunFacts facts;

  std::size_t claims() const, holding() const;  // of the paper
};

// With `pictures` a document with links to the files beside it; without, a part of another.
std::string markdown(const Report& report, bool pictures);
std::string html(const Report& report);
std::string csv(const Table& table);
Table claims_table(const Report& report);

// Draws every picture and writes every file.
void write_report(const Report& report, const std::filesystem::path& folder);

// The part of the README that a full run writes: the main picture and one table.
std::string readme_summary(const Report& report);

RunFacts facts_of_this_machine();

}  // namespace dma::reproduce
