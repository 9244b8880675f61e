// dma-lab choices: the default's settings beside their runner-ups, on rows no setting was chosen by.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "engine/support/error.h"
#include "engine/support/parallel.h"
#include "tools/experiments/commands/commands.h"
#include "tools/experiments/tables/choices.h"
#include "tools/experiments/tables/data_folder.h"
#include "tools/experiments/tables/honesty_tables.h"

namespace dma {

namespace {

struct ChoicesRequest {
  std::filesystem::path folder;
  std::size_t splits = 3, jobs = all_processors();
  std::uint64_t seed = 101;
  std::vector<std::string> only, tables;
};

using Splits = std::vector<uci::ScoredTable>;

bool wanted(const std::vector<std::string>& names, const std::string& name) {
  return names.empty() || std::ranges::find(names, name) != names.end();
}

std::vector<Splits> tables_of(const ChoicesRequest& request) {
  std::vector<Splits> all;
  if (request.folder.empty()) {
    for (const std::string& name : validation::honesty_names()) {
      if (!wanted(request.tables, name)) continue;
      all.emplace_back();
      for (std::size_t k = 0; k < request.splits; ++k) {
        const validation::HonestyTable t = validation::honesty_table(name, request.seed + k);
        all.back().push_back({name, t.inputs, t.targets, t.test_inputs, t.test_targets});
      }
    }
    return all;
  }
  for (const auto& folder : uci::data_folders(request.folder)) {
    uci::DataFolder data = uci::read_data_folder(folder, request.splits);
    if (!wanted(request.tables, data.name)) continue;
    uci::hold_back(data);
    all.emplace_back();
    for (std::size_t k = 0; k < data.train.size(); ++k)
      all.back().push_back({data.name, data.inputs(data.train[k], Eigen::all), data.targets(data.train[k], Eigen::all),
                            data.inputs(data.test[k], Eigen::all), data.targets(data.test[k], Eigen::all)});
  }
  return all;
}

void run(const ChoicesRequest& request) {
  uci::ChoiceScores found;
  for (const uci::Choice& choice : uci::choices())
    if (choice.name == "default" || wanted(request.only, choice.name)) found.tried.push_back(choice);
  const std::size_t choices = found.tried.size();
  const std::vector<Splits> tables = tables_of(request);
  if (tables.empty()) fail("no table has one of the names given with --tables");
  for (const Splits& splits : tables) {
    uci::ChoiceScores one{{splits.at(0).name}, found.tried, {{}}};
    one.scores[0].assign(splits.size(), std::vector<uci::ChoiceScore>(choices));
    parallel_for(splits.size() * choices, request.jobs, [&](std::size_t i) {
      const std::size_t split = i / choices, choice = i % choices;
      one.scores[0][split][choice] = uci::score_choice(one.tried[choice], splits[split], request.seed + split);
    });
    uci::add_selections(one);
    fmt::print("{}", uci::choices_text(one));
    std::fflush(stdout);
  }
}

}  // namespace

void add_choices_command(Command app) {
  auto request = std::make_shared<ChoicesRequest>();
  const Command command =
      app.add_subcommand("choices", "The settings of the default beside their runner-ups, never on test rows of a folder");
  command.add_option("folder", request->folder,
                     "UCI layout: every tenth training row is scored, test rows are not looked at; without one: made tables").value("FOLDER");
  command.add_option("--splits", request->splits, "splits of a folder, or made tables of every kind").capture_default_str().between(1, 1000);
  command.add_option("--jobs", request->jobs, "fits at the same time (default: all processors); the results do not depend on it").between(1, 256);
  command.add_option("--seed", request->seed, "of the first fit, and of the first made table").capture_default_str();
  command.add_option("--only", request->only, "one of the choices; may be given several times (default: all)").allow_extra_args(false);
  command.add_option("--tables", request->tables, "one of the tables; may be given several times (default: all)").allow_extra_args(false);
  command.footer("Example:\n  dma-lab choices data/uci --splits 3");
  command.callback([request] { run(*request); });
}

}  // namespace dma
