// dma-lab uci: the standard protocol on folders of the UCI regression layout.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "engine/support/json.h"
#include "engine/support/parallel.h"
#include "engine/support/text.h"
#include "tools/dma/io/standard_streams.h"
#include "tools/dma/io/write_file.h"
#include "tools/dma/pictures/svg.h"
#include "tools/experiments/commands/commands.h"
#include "tools/experiments/tables/uci_report.h"

namespace dma {

namespace fs = std::filesystem;

namespace {

struct UciRequest {
  fs::path folder, out = "out/uci";
  std::size_t splits = 20, jobs = all_processors(), members = 0;
  int epochs = 0;
  double tempering = 0;
  bool learn_prior = false, no_neighbours = false, no_log_inputs = false;
  std::string method;
  std::uint64_t seed = 1;
  bool held_out = false, json = false, quiet = false;
};

void run(const UciRequest& request) {
  const auto folders = uci::data_folders(request.folder);
  check_writable(request.out / "uci.md");
  const bool terminal = isatty(STDERR_FILENO) != 0 && !request.quiet;
  std::vector<uci::SetResult> results;
  for (const fs::path& folder : folders) {
    uci::DataFolder data = uci::read_data_folder(folder, request.splits);
    if (request.held_out) uci::hold_back(data);
    uci::ProtocolOptions options;
    options.jobs = request.jobs;
    const bool messages = request.tempering > 0 || request.learn_prior;
    options.method = request.method.empty() && messages ? "hybrid" : request.method;
    options.adjust = [&](RegressionSettings& s) {
      if (request.members > 0) s.network.members = request.members;
      if (request.epochs > 0) s.fit.epochs = request.epochs;
      if (request.tempering > 0) set_tempering(s.fit, request.tempering);
      s.network.learn_prior |= request.learn_prior;
      s.network.neighbours &= !request.no_neighbours;
      s.network.log_inputs &= !request.no_log_inputs;
    };
    std::size_t done = 0;
    options.on_split = [&](const uci::SplitResult&) {
      if (terminal) show(fmt::format("\r{}: {} of {} splits", data.name, ++done, data.train.size()));
    };
    results.push_back({data.name, uci::run_protocol(data, request.seed, options)});
    if (terminal) show("\r\033[K");
    if (!request.json) fmt::print("{}\n", uci::line(results.back()));
  }
  const std::string tables = uci::markdown(results, request.held_out ? "held-back training" : "test");
  write_file(request.out / "uci.md", tables);
  write_file(request.out / "uci.csv", uci::csv(results));
  plot::draw_picture(uci::figure(results), request.out / "uci.svg");
  if (request.json) {
    fmt::print("{}\n", json_text(uci::json(results), 2, JsonBytes::replaced));
    return;
  }
  fmt::print("\n{}\n", tables);
  fmt::print("written: {0}/uci.md, {0}/uci.csv, {0}/uci.svg\n", printable(request.out.string()));
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
  command.add_option("--members", request->members,
                     "Networks whose predictions are mixed (default: as the method has it)");
  command.add_option("--epochs", request->epochs, "Instead of the default number");
  command.add_option("--tempering", request->tempering,
                     "Instead of the default: times that each row's evidence counts");
  command.add_flag("--learn-prior", request->learn_prior,
                   "Also learn one factor on the prior variances of every layer");
  command.add_flag("--no-neighbours", request->no_neighbours, "Networks and linear model alone");
  command.add_flag("--no-log-inputs", request->no_log_inputs, "All inputs as they are, none by its logarithm");
  command.add_option("--method", request->method, "Instead of the default, joint: dma, linearised, hybrid, ...")
      .value("joint|METHOD");
  command.add_option("--out", request->out, "Where Markdown, CSV and pictures go")
      .value("FOLDER")
      .capture_default_str();
  command.add_option("--seed", request->seed, "Fixes everything").capture_default_str();
  command.add_flag("--held-back", request->held_out, "Score on every tenth training row instead of the test rows");
  command.add_flag("--json", request->json, "Machine-readable results on standard output");
  command.add_flag("--quiet", request->quiet, "No progress");
  command.footer("Example:\n  dma-lab uci data/uci --splits 20 --out out/uci");
  command.callback([request] { run(*request); });
}

}  // namespace dma
