#include "tools/experiments/commands/classes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/learn/gaussian/learner.h"
#include "engine/support/text.h"
#include "factors/standard_registry.h"
#include "models/graphs/expressions.h"
#include "tools/dma/fit/read_rows.h"
#include "tools/dma/io/csv.h"
#include "tools/experiments/paper/thread_seconds.h"

namespace dma::classify {

namespace fs = std::filesystem;

Table read_table(const fs::path& path, const std::string& target) {
  std::vector<std::string> names = CsvReader(path).names();
  const std::string classes = target.empty() ? names.back() : target;
  std::erase(names, classes);
  const TrainingData data = read_training_data(
      {.path = path, .targets = {classes}, .features = names, .target_cells = TargetCells::names, .as_it_is = true});
  return {printable(path.stem().string()), data.inputs, data.labels()};
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

constexpr std::size_t kFilter = 3, kField = 2;

// A picture of side x side pixels: results of filters in (side - 2)^2 places, means over fields of 2 x 2 of them.
struct Convolution {
  Graph graph;
  VariableId x, y;
  std::vector<VariableId> filters, biases;  // biases: of the logits

  Convolution(std::size_t side, std::size_t count, std::size_t classes) {
    const std::size_t places = side - kFilter + 1, fields = places / kField;
    Graph& g = graph;
    std::vector<std::uint32_t> weight, pixel, own_bias, field;
    const auto add_to = [](std::vector<std::uint32_t>& table, std::size_t at) {
      table.push_back(static_cast<std::uint32_t>(at));
    };
    for (std::size_t f = 0; f < count; ++f)
      for (std::size_t place = 0; place < places * places; ++place) {
        for (std::size_t i = 0; i < kFilter * kFilter; ++i) {
          add_to(weight, f * kFilter * kFilter + i);
          add_to(pixel, (place / places + i / kFilter) * side + place % places + i % kFilter);
        }
        add_to(own_bias, f);
      }
    for (std::size_t f = 0; f < count; ++f)
      for (std::size_t at = 0; at < fields * fields; ++at)
        for (std::size_t i = 0; i < kField * kField; ++i)
          add_to(field, f * places * places + (at / fields * kField + i / kField) * places + at % fields * kField +
                            i % kField);
    const double fan = kFilter * kFilter + 1, features = static_cast<double>(count * fields * fields + 1);
    x = g.observed("x", side * side);
    filters = {gaussian_prior(g, g.shared("filters", count * kFilter * kFilter), 0.0, 1 / fan),
               gaussian_prior(g, g.shared("offsets", count), 0.0, 1 / fan)};
    const VariableId moved = sum_rows(g, product(g, gather(filters[0], weight), gather(x, pixel)), own_bias.size());
    const VariableId bent = leaky_relu(g, add(g, moved, gather(filters[1], own_bias)), 0.1);
    const VariableId means = g.variable("means", count * fields * fields);
    const double part = 1.0 / (kField * kField);
    g.factor("sum", {gather(bent, field), means}, {{"coefficients", std::vector<double>(kField * kField, part)}});
    const std::size_t logits = classes == 2 ? 1 : classes;
    biases = {gaussian_prior(g, g.shared("biases", logits), 0.0, 25.0)};
    const VariableId last = gaussian_prior(g, g.shared("last", logits * g[means].size), 0.0, 1 / features);
    y = logits == 1 ? g.observed("y") : g.observed("y", 1, fmt::format("categorical({})", classes));
    g.factor(logits == 1 ? "logistic" : "softmax", {add(g, matrix_product(g, last, means), biases[0]), y});
  }
};

// The probabilities that it gives to new rows.
Eigen::MatrixXd by_filters(const Eigen::MatrixXd& inputs, const ClassLabels& labels, const Eigen::MatrixXd& new_inputs,
                           std::size_t filters, const ClassifierOptions& options, TableReport& report) {
  const auto side = static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(inputs.cols()))));
  if (static_cast<Eigen::Index>(side * side) != inputs.cols() || side < kFilter + kField - 1)
    fail("--filters: {} columns are no square picture of at least 16 pixels", inputs.cols());
  const std::size_t classes = labels.names.size();
  const Convolution net(side, filters, classes);
  // One unit for all pixels, so that a filter sees the same everywhere.
  const double mean = inputs.mean(), sd = std::sqrt((inputs.array() - mean).square().mean());
  const auto values = [&](const Eigen::MatrixXd& given) {
    const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> x = (given.array() - mean) / sd;
    return std::vector<double>(x.data(), x.data() + x.size());
  };
  GaussianLearner learner(net.graph, standard_registry(), {net.y},
                          {.epochs = options.epochs,
                           .learn_scale = true,
                           .unscaled = net.biases,
                           .anchored = net.filters,
                           .starts = std::max<std::size_t>(1, options.members),
                           .seed = options.seed});
  const std::vector<double> x = values(inputs), new_x = values(new_inputs),
                            y(labels.of_rows.begin(), labels.of_rows.end());
  learner.fit({{net.x, x}, {net.y, y}});
  const auto by_class = [&](const Eigen::MatrixXd& p) {
    if (p.cols() > 1) return p;
    Eigen::MatrixXd both(p.rows(), 2);
    both << (1 - p.array()).matrix(), p;
    return both;
  };
  report.left_out_classes = class_scores_of(by_class(learner.left_out().mean), labels.of_rows);
  return by_class(learner.predict({{net.x, new_x}}).mean);
}

// Scores of one fold; its rows of `all` get their probabilities.
SplitScores run_fold(const Table& table, const std::vector<std::size_t>& folds, std::size_t fold,
                     const CrossValidationOptions& options, Eigen::MatrixXd& all) {
  const std::size_t scored_fold = options.held_out ? (fold + 1) % options.folds : fold;
  std::vector<Eigen::Index> learned, scored;
  ClassLabels labels{table.labels.names, {}}, others = labels;
  for (std::size_t n = 0; n < folds.size(); ++n) {
    if (folds[n] != scored_fold && folds[n] == fold) continue;
    (folds[n] == scored_fold ? scored : learned).push_back(static_cast<Eigen::Index>(n));
    (folds[n] == scored_fold ? others : labels).of_rows.push_back(table.labels.of_rows[n]);
  }
  check_classes(labels, fmt::format("'{}' without fold {} of {}", table.name, fold + 1, options.folds));
  const double start = thread_seconds();
  ClassifierOptions own = options.classifier;
  own.seed += fold;
  const Eigen::MatrixXd inputs = table.inputs(learned, Eigen::all), new_inputs = table.inputs(scored, Eigen::all);
  TableReport report;
  Eigen::MatrixXd probabilities;
  if (options.filters > 0) {
    probabilities = by_filters(inputs, labels, new_inputs, options.filters, own, report);
  } else {
    Classifier classifier(own);
    report = classifier.fit(inputs, labels);
    probabilities = classifier.predict(new_inputs);
  }
  const double seconds = thread_seconds() - start;
  double worst_row = 0;
  for (std::size_t n = 0; n < scored.size(); ++n)
    worst_row = std::min(worst_row, std::log(probabilities(static_cast<Eigen::Index>(n), others.of_rows[n])));
  const ClassScores scores = class_scores_of(probabilities, others.of_rows);
  all(scored, Eigen::all) = probabilities;
  return {scores.accuracy, scores.log_loss,
          worst_row,       report.left_out_classes->log_loss,
          report.graphs,   report.neighbours.empty() ? 0 : report.neighbours[0],
          seconds};
}

}  // namespace

std::vector<ScoreColumn> columns() {
  using Shows = ScoreColumn::Shows;
  return {{"accuracy", 3, Shows::mean_and_error},
          {"log-loss", 3, Shows::mean_and_error},
          {"worst row", 1, Shows::least},
          {"log-loss by left-out rows", 4},
          {"fraction of networks beside the linear model", 2},
          {"of neighbours", 2},
          {"CPU s per fold", 2}};
}

CrossValidated cross_validate(const Table& table, const CrossValidationOptions& options) {
  const auto counts = table.labels.counts();
  const std::size_t fewest = std::ranges::min(counts);
  if (options.folds < 2) fail("--folds: {} is given; at least 2 is expected", options.folds);
  if (options.folds > fewest)
    fail("--folds: {} is given, but a class of '{}' has {} rows; at most that many are expected", options.folds,
         table.name, fewest);
  const std::vector<std::size_t> folds = stratified_folds(table.labels, options.folds);
  Eigen::MatrixXd all(table.inputs.rows(), static_cast<Eigen::Index>(counts.size()));
  CrossValidated result;
  result.folds = run_splits(table.name, options.folds, options.jobs,
                            [&](std::size_t fold) { return run_fold(table, folds, fold, options, all); });
  result.calibration_error = class_scores_of(all, table.labels.of_rows).calibration_error;
  return result;
}

}  // namespace dma::classify
