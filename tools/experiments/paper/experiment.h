// An experiment: units of work, and a section of the report made of their results.
#pragma once

#include <string>
#include <vector>

#include "engine/support/parallel.h"
#include "tools/dma/pictures/figure.h"
#include "tools/experiments/paper/methods.h"

namespace dma::reproduce {

struct Options {
  int seeds = 20;
  std::uint64_t seed = 1;  // the first of them
  int jobs = static_cast<int>(all_processors());
  bool quick = false;

  Effort effort() const;
  std::vector<std::uint64_t> all_seeds() const;
  // The large network's task takes seconds per fit; the paper has one seed of it.
  std::vector<std::uint64_t> large_seeds() const;
};

// One line of the table of claims.
struct Claim {
  std::string where;  // section or table of the paper: "E.3, Table 3"
  std::string claim;
  std::string paper, ours;
  bool holds = false;
  std::string why = {};  // it does not hold: the reason

  bool of_the_paper() const { return where != kOurs; }
  static constexpr const char* kOurs = "(ours)";
};

// Cells as text, the same in both forms of the report.
struct Table {
  std::string caption;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
};

struct Picture {
  std::string name;  // name of its file
  std::string caption;
  plot::Figure figure = {};
};

struct Section {
  std::string name, title;
  std::vector<std::string> text = {};  // paragraphs
  std::vector<Claim> claims = {};
  std::vector<Table> tables = {};
  std::vector<Picture> pictures = {};
};

struct Experiment {
  std::string name, title;
  std::vector<Unit> (*units)(const Options&);
  Section (*report)(const Options&, const Results&);
};

// In the order of the report.
const std::vector<Experiment>& experiments();

// Each in its own file.
std::vector<Unit> regression_units(const Options&), adam_units(const Options&), adamw_units(const Options&),
    ivon_units(const Options&), laplace_units(const Options&), calibration_units(const Options&),
    ep_units(const Options&), mismatch_units(const Options&), large_units(const Options&),
    coverage_units(const Options&), exact_units(const Options&), validation_units(const Options&);
Section regression_report(const Options&, const Results&), adam_report(const Options&, const Results&),
    adamw_report(const Options&, const Results&), ivon_report(const Options&, const Results&),
    laplace_report(const Options&, const Results&), calibration_report(const Options&, const Results&),
    ep_report(const Options&, const Results&), mismatch_report(const Options&, const Results&),
    large_report(const Options&, const Results&), coverage_report(const Options&, const Results&),
    exact_report(const Options&, const Results&), validation_report(const Options&, const Results&);

}  // namespace dma::reproduce
