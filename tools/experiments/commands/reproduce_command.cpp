// dma-lab reproduce: the paper's figures and tables, with its numbers beside ours.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>

#include "engine/support/text.h"
#include "tools/dma/io/interrupt.h"
#include "tools/dma/io/progress.h"
#include "tools/dma/io/standard_streams.h"
#include "tools/dma/io/write_file.h"
#include "tools/experiments/commands/commands.h"
#include "tools/experiments/paper/report.h"

namespace dma {

namespace reproduce {

namespace {

struct ReproduceRequest {
  std::optional<int> seeds;
  Options options = {};
  std::string out = "out/reproduce";
};

void print_claims(const Section& section) {
  for (const Claim& c : section.claims) {
    fmt::print("{:<12} {:<14} {}  {}: paper {}, ours {}\n", section.name, c.where, c.holds ? "holds  " : "differs",
               c.claim, c.paper, c.ours);
    if (!c.why.empty()) fmt::print("{:>36}{}\n", "", c.why);
  }
}

// Runs what `out` does not hold yet. `name`: an experiment, or all.
void run(const std::string& name, const ReproduceRequest& request) {
  constexpr int kQuickSeeds = 4, kSeeds = 20;
  Options options = request.options;
  options.seeds = request.seeds.value_or(options.quick ? kQuickSeeds : kSeeds);
  const std::filesystem::path out = request.out;
  check_writable(out / "report.html");
  const auto start = std::chrono::steady_clock::now();
  const auto is_chosen = [&](const std::string& experiment) { return name == experiment || name == "all"; };
  std::vector<Unit> units;
  // exact first: its units are the longest.
  for (auto e = experiments().rbegin(); e != experiments().rend(); ++e)
    if (is_chosen(e->name)) std::ranges::move(e->units(options), std::back_inserter(units));
  const InterruptWatch interrupt;
  UnitRun finished;
  {
    ProgressLine line;
    finished = run_units(units, out / "units", options.jobs, [&](const Progress& p) {
      line.show(fmt::format("{} of {} units, {}; about {:.0f} s left", p.done, p.all, p.last, p.seconds_left));
      return !interrupt.requested();
    });
  }
  if (finished.interrupted) {
    say(fmt::format("interrupted; finished units are in {}/units, and the same command goes on from there",
                    request.out));
    throw Exit{kExitBySignal + interrupt.signal()};
  }
  Report report{.title = "The paper's experiments, reproduced", .sections = {}, .facts = facts_of_this_machine()};
  for (const Experiment& e : experiments())
    if (is_chosen(e.name)) report.sections.push_back(e.section(options, finished.results));
  if (is_chosen("adam") || is_chosen("large")) report.sections.push_back(measured_times(options, is_chosen("large")));
  report.facts.command = fmt::format("dma-lab reproduce {} --seeds {} --seed {}{}", name, options.seeds, options.seed,
                                     options.quick ? " --quick" : "");
  report.facts.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  write_report(report, out);
  for (const Section& section : report.sections) print_claims(section);
  fmt::print("{} of {} claims of the paper hold; written: {}/report.html, RESULTS.md and pictures\n",
             report.claims(true), report.claims(), printable(request.out));
  if (interrupt.requested()) throw Exit{kExitBySignal + interrupt.signal()};  // after the last unit
}

void add_experiment(Command reproduce, const std::string& name, const std::string& title) {
  auto request = std::make_shared<ReproduceRequest>();
  const Command command = reproduce.add_subcommand(name, title);
  command.footer(fmt::format(
      "Example:\n  dma-lab reproduce {} --out out/reproduce\n"
      "Finished parts are kept in FOLDER/units: a run that was stopped goes on; after a change of the program use "
      "another FOLDER.",
      name));
  command.add_option("--seeds", request->seeds, "data sets (default: 20, with --quick 4)").between(1, 10'000);
  command.add_option("--seed", request->options.seed, "the first of them; pictures show it").capture_default_str();
  command
      .add_option("--jobs", request->options.jobs,
                  "threads (default: all processors); the results do not depend on them")
      .between(1, 1024);
  command.add_option("--out", request->out, "folder for report.html, RESULTS.md and pictures")
      .value("FOLDER")
      .capture_default_str();
  command.add_flag("--quick", request->options.quick, "fewer seeds, shorter chains: under two minutes for all");
  command.callback([name, request] { run(name, *request); });
}

}  // namespace

}  // namespace reproduce

void add_reproduce_command(Command app) {
  const Command command = app.add_subcommand("reproduce", "Reproduce the paper, or a part of it, with its baselines");
  command.footer("Example:\n  dma-lab reproduce all --quick --out out/reproduce");
  reproduce::add_experiment(command, "all", "Every table and figure");
  for (const reproduce::Experiment& e : reproduce::experiments()) reproduce::add_experiment(command, e.name, e.title);
  command.require_subcommand();
}

}  // namespace dma
