// One table of scores for every protocol: a data set is cut into splits, each is fitted and scored by itself, and the
// set is a row of a Markdown table.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace dma {

using SplitScores = std::vector<double>;  // one per column

struct ScoreColumn {
  // The range is that between the quartiles.
  enum class Shows { mean, mean_and_error, least, median, median_and_range };
  std::string title;
  int digits = 2;
  Shows shows = Shows::mean;
};

double mean_of(const std::vector<SplitScores>& splits, std::size_t column);

// Runs `splits` splits of a set, `jobs` at a time, and shows progress on a terminal. The scores are in the order of the
// splits, whatever the number of jobs.
std::vector<SplitScores> run_splits(const std::string& set, std::size_t splits, std::size_t jobs,
                                    const std::function<SplitScores(std::size_t split)>& run);

// Prints each row as soon as it is known. Scores stand between the facts about a set, its name first, and notes.
class ScoreTable {
 public:
  ScoreTable(std::string caption, std::vector<std::string> facts, std::vector<ScoreColumn> columns,
             std::vector<std::string> notes);

  void add(std::vector<std::string> facts, const std::vector<SplitScores>& splits, std::vector<std::string> notes);
  // The whole table, to a file unless its name is empty.
  void write(const std::filesystem::path& file) const;

 private:
  void print(const std::string& text);

  std::string header_, text_;
  std::vector<ScoreColumn> columns_;
};

}  // namespace dma
