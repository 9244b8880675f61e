#include "tools/experiments/tables/cross_validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "engine/support/error.h"
#include "engine/support/parallel.h"
#include "engine/support/text.h"
#include "tools/dma/io/csv.h"
#include "tools/experiments/paper/thread_seconds.h"

namespace dma::classify {

namespace fs = std::filesystem;

Table read_table(const fs::path& path, const std::string& target) {
  CsvReader reader(path);
  const std::size_t count = reader.names().size(), last = target.empty() ? count - 1 : reader.column(target);
  if (count < 2)
    fail("'{}' has one column; the classes and at least one column of numbers are expected", path.string());
  std::vector<std::size_t> columns;
  for (std::size_t i = 0; i < count; ++i)
    if (i != last) columns.push_back(i);
  columns.push_back(last);
  CsvReader::ClassColumn classes{last, true};
  const Eigen::MatrixXd values = reader.read(columns, CsvReader::Missing::is_error, &classes);
  Table table{printable(path.stem().string()), values.leftCols(values.cols() - 1), ClassLabels::of(classes.cells)};
  check_classes(table.labels, fmt::format("'{}', column '{}'", path.string(), reader.names()[last]));
  return table;
}

std::vector<fs::path> tables_in(const fs::path& path) {
  if (!fs::is_directory(path)) return {path};
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(path))
    if (entry.path().extension() == ".csv") found.push_back(entry.path());
  std::ranges::sort(found);
  if (found.empty())
    fail("'{}' holds no .csv file; tables with a header and the class in the last column are expected", path.string());
  return found;
}

std::vector<std::size_t> stratified_folds(const ClassLabels& labels, std::size_t folds) {
  std::vector<std::size_t> seen(labels.names.size(), 0), fold;
  for (const Eigen::Index of_row : labels.of_rows) fold.push_back(seen[static_cast<std::size_t>(of_row)]++ % folds);
  return fold;
}

namespace {

struct Scored {
  FoldResult result;
  std::vector<Eigen::Index> rows;
  Eigen::MatrixXd probabilities;
};

Scored run_fold(const Table& table, const std::vector<std::size_t>& folds, std::size_t fold,
                const CrossValidationOptions& options) {
  const std::size_t scored_fold = options.held_out ? (fold + 1) % options.folds : fold;
  std::vector<Eigen::Index> learned;
  Scored scored;
  ClassLabels labels{table.labels.names, {}}, others = labels;
  for (std::size_t n = 0; n < folds.size(); ++n) {
    if (folds[n] != scored_fold && folds[n] == fold) continue;
    (folds[n] == scored_fold ? scored.rows : learned).push_back(static_cast<Eigen::Index>(n));
    (folds[n] == scored_fold ? others : labels).of_rows.push_back(table.labels.of_rows[n]);
  }
  check_classes(labels, fmt::format("'{}' without fold {} of {}", table.name, fold + 1, options.folds));
  const double start = thread_seconds();
  ClassifierOptions own = options.classifier;
  own.seed += fold;
  Classifier classifier(own);
  scored.result.report = classifier.fit(table.inputs(learned, Eigen::all), labels);
  scored.probabilities = classifier.predict(table.inputs(scored.rows, Eigen::all));
  scored.result.seconds = thread_seconds() - start;
  scored.result.fold = fold;
  scored.result.scores = class_scores_of(scored.probabilities, others.of_rows);
  return scored;
}

}  // namespace

TableResult cross_validate(const Table& table, const CrossValidationOptions& options) {
  const auto counts = table.labels.counts();
  const std::size_t fewest = std::ranges::min(counts);
  if (options.folds < 2) fail("--folds: {} is given; at least 2 is expected", options.folds);
  if (options.folds > fewest)
    fail("--folds: {} is given, but a class of '{}' has {} rows; at most that many are expected", options.folds,
         table.name, fewest);
  const std::vector<std::size_t> folds = stratified_folds(table.labels, options.folds);
  std::vector<Scored> scored(options.folds);
  std::mutex reporting;
  parallel_for(scored.size(), options.jobs, [&](std::size_t fold) {
    scored[fold] = run_fold(table, folds, fold, options);
    const std::lock_guard lock(reporting);
    if (options.on_fold) options.on_fold(scored[fold].result);
  });
  TableResult result{table.name, table.inputs.rows(), table.inputs.cols(), counts.size(), {}, {}};
  Eigen::MatrixXd all(table.inputs.rows(), static_cast<Eigen::Index>(counts.size()));
  for (Scored& one : scored) {
    all(one.rows, Eigen::all) = one.probabilities;
    result.folds.push_back(std::move(one.result));
  }
  result.scores = class_scores_of(all, table.labels.of_rows);
  return result;
}

}  // namespace dma::classify
