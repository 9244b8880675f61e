// dma-lab classify: how well classes of unseen rows are predicted, by folds of tables whose classes are known.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "engine/support/parallel.h"
#include "tools/dma/io/write_file.h"
#include "tools/experiments/commands/classes.h"
#include "tools/experiments/commands/commands.h"

namespace dma {

namespace {

struct ClassifyRequest {
  std::filesystem::path data, out;
  std::string target;
  classify::CrossValidationOptions options = {.folds = 10, .jobs = all_processors()};
};

void classify_tables(const ClassifyRequest& request) {
  const classify::CrossValidationOptions& options = request.options;
  check_outputs({{"--out", request.out}}, {{"data", request.data}});
  ScoreTable scores(fmt::format("Scores of {}, mean and standard error over the folds; the least log probability of a "
                                "class; expected calibration error of all rows together, ten bins.",
                                options.held_out ? "held-back training rows" : "unseen rows"),
                    {"table", "rows", "inputs", "classes", "folds"}, classify::columns(), {"calibration error"});
  for (const auto& path : classify::tables_in(request.data)) {
    const classify::Table table = classify::read_table(path, request.target);
    const classify::CrossValidated result = classify::cross_validate(table, options);
    scores.add({table.name, fmt::to_string(table.inputs.rows()), fmt::to_string(table.inputs.cols()),
                fmt::to_string(table.labels.names.size()), fmt::to_string(options.folds)},
               result.folds, {fmt::format("{:.4f}", result.calibration_error)});
  }
  scores.write(request.out);
}

}  // namespace

void add_classify_command(Command app) {
  auto request = std::make_shared<ClassifyRequest>();
  classify::CrossValidationOptions& options = request->options;
  const Command command =
      app.add_subcommand("classify", "Score classifiers on tables with known classes, by stratified folds");
  command.footer(
      "Example:\n"
      "  dma-lab classify tables --folds 10\n"
      "A table is a CSV file with a header; its last column names the class of each row, all others are numbers. A "
      "row's fold is its\n"
      "number within its class, modulo the number of folds. Scores are of rows that the classifier has not seen.");
  command.add_option("data", request->data, "CSV file, or a folder of them").required();
  command.add_option("--target", request->target, "column of the classes (default: the last)");
  command.add_option("--folds", options.folds, "number of folds").capture_default_str();
  command.add_list("--hidden", options.classifier.hidden,
                   "widths of the hidden layers: 20, or 20,10, or none (default: as wide as is quick)", true);
  command.add_option("--filters", options.filters,
                     "the columns are a square picture: number of filters of 3 x 3 weights, in place of hidden layers");
  command.add_option("--members", options.classifier.members,
                     "networks that are mixed (default: 1 to 4, as many as are quick)");
  command.add_flag("--held-back", options.held_out, "predict the next fold instead, by the rest: to choose settings");
  command.add_option("--seed", options.classifier.seed, "decides the draws that networks start from")
      .capture_default_str();
  command
      .add_option("--jobs", options.jobs,
                  "folds at the same time (default: all processors); the results do not depend on it")
      .above_zero();
  command.add_option("--out", request->out, "file for the table of scores, Markdown");
  command.callback([request] { classify_tables(*request); });
}

}  // namespace dma
