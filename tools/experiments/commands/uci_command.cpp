// dma-lab uci: the standard protocol on folders of the UCI regression layout.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "engine/support/parallel.h"
#include "tools/dma/io/progress.h"
#include "tools/dma/io/standard_streams.h"
#include "tools/dma/io/write_file.h"
#include "tools/experiments/commands/commands.h"
#include "tools/experiments/tables/uci_report.h"

namespace dma {

namespace {

struct UciRequest {
  std::filesystem::path folder, out;
  std::size_t splits = 20, jobs = all_processors();
  std::string method;
  std::uint64_t seed = 1;
  bool no_neighbours = false, no_log_inputs = false, held_out = false;
};

void run(const UciRequest& request) {
  check_outputs({{"--out", request.out}}, {{"folder", request.folder}});
  std::vector<uci::SetResult> results;
  for (const auto& folder : uci::data_folders(request.folder)) {
    uci::DataFolder data = uci::read_data_folder(folder, request.splits);
    if (request.held_out) uci::hold_back(data);
    uci::ProtocolOptions options{.jobs = request.jobs, .method = request.method};
    options.adjust = [&](RegressionSettings& s) {
      s.network.neighbours &= !request.no_neighbours;
      s.network.log_inputs &= !request.no_log_inputs;
    };
    std::size_t done = 0;
    options.on_split = [&](const uci::SplitResult&) {
      if (isatty(STDERR_FILENO)) show(fmt::format("\r{}: {} of {} splits", data.name, ++done, data.train.size()));
    };
    results.push_back({data.name, uci::run_protocol(data, request.seed, options)});
    if (isatty(STDERR_FILENO)) show(kClearLine);
  }
  const std::string table = uci::markdown(results, request.held_out ? "held-back training" : "test");
  if (!request.out.empty()) write_file(request.out, table);
  fmt::print("{}", table);
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
  command.add_flag("--no-neighbours", request->no_neighbours, "Networks and linear model alone");
  command.add_flag("--no-log-inputs", request->no_log_inputs, "All inputs as they are, none by its logarithm");
  command.add_option("--method", request->method, "Instead of the default, joint: dma, linearised, hybrid, ...")
      .value("joint|METHOD");
  command.add_option("--out", request->out, "File for the table of scores, Markdown");
  command.add_option("--seed", request->seed, "Fixes everything").capture_default_str();
  command.add_flag("--held-back", request->held_out, "Score on every tenth training row instead of the test rows");
  command.footer("Example:\n  dma-lab uci data/uci --splits 20");
  command.callback([request] { run(*request); });
}

}  // namespace dma
