#include "tools/experiments/commands/score_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>

#include "engine/support/parallel.h"
#include "tools/dma/io/progress.h"
#include "tools/dma/io/write_file.h"
#include "tools/experiments/paper/report.h"
#include "tools/experiments/paper/statistics.h"

namespace dma {

namespace {

std::string cell_of(const ScoreColumn& column, std::size_t at, const std::vector<SplitScores>& splits) {
  using Shows = ScoreColumn::Shows;
  const auto number = [&](double value) { return fmt::format("{:.{}f}", value, column.digits); };
  std::vector<double> values;
  for (const SplitScores& split : splits) values.push_back(split[at]);
  const double mean = mean_of(splits, at), count = static_cast<double>(values.size());
  double squares = 0;
  for (const double value : values) squares += std::pow(value - mean, 2);
  switch (column.shows) {
    case Shows::mean:
      return number(mean);
    case Shows::mean_and_error:
      return fmt::format("{} ± {}", number(mean), number(count > 1 ? std::sqrt(squares / (count - 1) / count) : 0));
    case Shows::least:
      return number(*std::ranges::min_element(values));
    case Shows::median:
      return number(reproduce::median(values));
    case Shows::median_and_range:
      return fmt::format("{} ({})", number(reproduce::median(values)), number(reproduce::interquartile_range(values)));
  }
  return {};
}

}  // namespace

double mean_of(const std::vector<SplitScores>& splits, std::size_t column) {
  double mean = 0;
  for (const SplitScores& split : splits) mean += split[column] / static_cast<double>(splits.size());
  return mean;
}

std::vector<SplitScores> run_splits(const std::string& set, std::size_t splits, std::size_t jobs,
                                    const std::function<SplitScores(std::size_t split)>& run) {
  std::vector<SplitScores> scores(splits);
  ProgressLine line;
  std::atomic<std::size_t> done = 0;
  parallel_for(splits, jobs, [&](std::size_t split) {
    scores[split] = run(split);
    line.show(fmt::format("{}: {} of {}", set, ++done, splits));
  });
  return scores;
}

ScoreTable::ScoreTable(std::string caption, std::vector<std::string> facts, std::vector<ScoreColumn> columns,
                       std::vector<std::string> notes)
    : header_(std::move(caption) + "\n\n"), columns_(std::move(columns)) {
  std::vector<std::string> titles = std::move(facts);
  for (const ScoreColumn& column : columns_) titles.push_back(column.title);
  titles.insert(titles.end(), notes.begin(), notes.end());
  header_ += reproduce::markdown_header(titles);
}

void ScoreTable::add(std::vector<std::string> facts, const std::vector<SplitScores>& splits,
                     std::vector<std::string> notes) {
  std::vector<std::string> cells = std::move(facts);
  for (std::size_t c = 0; c < columns_.size(); ++c) cells.push_back(cell_of(columns_[c], c, splits));
  cells.insert(cells.end(), notes.begin(), notes.end());
  if (text_.empty()) print(header_);
  print(reproduce::markdown_row(cells));
}

void ScoreTable::print(const std::string& text) {
  fmt::print("{}", text);
  std::fflush(stdout);
  text_ += text;
}

void ScoreTable::write(const std::filesystem::path& file) const {
  if (!file.empty()) write_file(file, text_);
}

}  // namespace dma
