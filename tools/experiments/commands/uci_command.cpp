// dma-lab uci: the standard protocol on folders of the UCI regression layout.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "engine/support/parallel.h"
#include "tools/dma/io/write_file.h"
#include "tools/experiments/commands/commands.h"
#include "tools/experiments/commands/uci.h"

namespace dma {

namespace {

struct UciRequest {
  std::filesystem::path folder, out;
  std::size_t splits = 20, jobs = all_processors();
  uci::FitChanges changes = {};
  std::uint64_t seed = 1;
  bool held_out = false;
};

void run(const UciRequest& request) {
  check_outputs({{"--out", request.out}}, {{"folder", request.folder}});
  ScoreTable scores(
      fmt::format("Scores of the {} rows, mean and standard error over the splits; the least log density of a row; "
                  "RMSE / log-likelihood as published.",
                  request.held_out ? "held-back training" : "test"),
      {"set", "splits"}, uci::columns(), uci::published_systems());
  for (const auto& folder : uci::data_folders(request.folder)) {
    uci::DataFolder data = uci::read_data_folder(folder, request.splits);
    if (request.held_out) uci::hold_back(data);
    const std::size_t splits = data.train.size();
    scores.add(
        {data.name, fmt::to_string(splits)},
        run_splits(data.name, splits, request.jobs,
                   [&](std::size_t split) { return uci::run_split(data, split, request.seed, request.changes); }),
        uci::published(data.name));
  }
  scores.write(request.out);
}

}  // namespace

void add_uci_command(Command app) {
  auto request = std::make_shared<UciRequest>();
  const Command command =
      app.add_subcommand("uci", "The standard protocol on UCI regression data: RMSE, log-likelihood, coverage");
  command.add_option("folder", request->folder, "A folder with data.txt and index files, or a folder of such folders")
      .value("FOLDER")
      .required();
  command.add_option("--splits", request->splits, "How many of the splits").capture_default_str().between(1, 1000);
  command
      .add_option("--jobs", request->jobs,
                  "Splits at the same time (default: all processors); the results do not depend on it")
      .between(1, 256);
  command.add_flag("--no-neighbours", request->changes.no_neighbours, "Networks and linear model alone");
  command.add_flag("--no-log-inputs", request->changes.no_log_inputs, "All inputs as they are, none by its logarithm");
  command.add_option("--method", request->changes.method, "Instead of the default, joint: dma, linearised, hybrid, ...")
      .value("joint|METHOD");
  command.add_option("--out", request->out, "File for the table of scores, Markdown");
  command.add_option("--seed", request->seed, "Fixes everything").capture_default_str();
  command.add_flag("--held-back", request->held_out, "Score on every tenth training row instead of the test rows");
  command.footer("Example:\n  dma-lab uci data/uci --splits 20");
  command.callback([request] { run(*request); });
}

}  // namespace dma
