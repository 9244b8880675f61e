// The frame of the paper's experiments: a row of experiments() says which methods are fitted to which task, and its
// function writes a section of the report: claims beside the paper's, tables and pictures.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/support/parallel.h"
#include "tools/dma/pictures/figure.h"
#include "tools/experiments/paper/methods.h"
#include "tools/experiments/paper/statistics.h"

namespace dma::reproduce {

struct Options {
  int seeds = 20;
  std::uint64_t seed = 1;  // the first of them
  int jobs = static_cast<int>(all_processors());
  bool quick = false;

  Effort effort() const;
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
  std::vector<std::vector<std::string>> rows = {};
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

// One value per seed whose fit stayed finite and did not diverge.
struct Summary {
  std::string title;
  std::vector<double> epochs = {}, train = {}, nll = {}, noisy = {}, deviation = {}, coverage_95 = {};
  int runs = 0, diverged = 0;
};

// A fit counts as diverged when its training NLL is worse than this: hundreds of standard deviations of the noise away
// from the data.
inline constexpr double kDivergedNll = 1e4;

// The paper's median and interquartile range of a method, as it prints them.
struct PaperRow {
  std::string method, median, iqr;
};

class Writer;

// A row of the table of experiments.
struct Experiment {
  std::string name, title, heading;  // heading: of its section
  void (*write)(Writer&) = nullptr;
  std::string task = {};                                         // empty: no fits
  std::vector<std::string> methods = {};                         // fitted with every seed
  std::vector<Unit> (*more_units)(const Options&) = nullptr;     // beside the fits
  std::size_t most_seeds = 1'000'000, quick_seeds = most_seeds;  // limits, of a quick run too
  std::vector<std::string> not_quick = {};                       // methods that a quick run leaves out

  std::vector<std::uint64_t> seeds(const Options& options) const;
  std::vector<Unit> units(const Options& options) const;
  Section section(const Options& options, const Results& results) const;
};
const std::vector<Experiment>& experiments();  // in the order of the report

// Writes the section of an experiment from the results of its fits.
class Writer {
 public:
  Writer(const Experiment& experiment, const Options& options, const Results& results);

  const Options& options;
  const Results& results;
  const std::vector<std::uint64_t> seeds;
  const Task task;  // with the data of the first seed
  Section section;
  std::string why_not = {};  // reason of claims that give none

  // The results of one fit, by default of the first seed; one of their numbers for every seed; the scores of all seeds.
  const Json& result(const std::string& method, std::uint64_t seed) const;
  const Json& result(const std::string& method) const { return result(method, options.seed); }
  std::vector<double> each(const std::string& method, const char* key) const;
  std::vector<double> each(const std::string& method, const char* where, const char* key) const;
  const Summary& runs(const std::string& method);

  void text(std::string paragraph) { section.text.push_back(std::move(paragraph)); }
  void claim(std::string where, std::string text, std::string paper, std::string ours, bool holds,
             std::string why = {});
  // Holds when the paper's figure lies inside the bootstrap interval of our median.
  void median_claim(std::string where, std::string text, double paper, const std::vector<double>& ours,
                    std::string why);
  void picture(std::string name, std::string caption, plot::Figure figure);
  // Median with bootstrap interval, IQR and mean of the extrapolation NLL, the expected score against noisy targets,
  // coverage: one row per method, with the paper's numbers where it has any.
  void score_table(std::string caption, const std::vector<std::string>& methods,
                   const std::vector<PaperRow>& paper = {});

  // Data, true function (dashed), mean and two standard deviations of the first seed; verticals at the ends of the
  // data. The figure has such a panel for each method.
  plot::Panel predictive(const std::string& method, const std::string& title, std::size_t output = 0) const;
  plot::Figure predictives(const std::string& title, const std::vector<std::string>& methods) const;
  // Training NLL against epochs of the first seed, clipped where curves cannot be told apart.
  plot::Panel training(const std::vector<std::string>& methods) const;
  // Coverage against level inside or outside the data, with the diagonal.
  plot::Panel coverage(const std::string& title, const std::vector<std::string>& methods, const char* where) const;

 private:
  std::map<std::string, Summary> runs_;
};

std::string two_digits(double value);    // "0.97"
plot::Colour colour(std::size_t index);  // one per line of a panel, in a fixed order
// "dma" and the other own methods, then those given.
std::vector<std::string> own_and(const std::vector<std::string>& others);

// Times of fits, measured one after the other: App. E.2's and, with `large`, G's claims about speed. They alone differ
// between two runs of one seed.
Section measured_times(const Options& options, bool large);

}  // namespace dma::reproduce
