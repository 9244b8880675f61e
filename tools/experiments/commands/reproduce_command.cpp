// dma-lab reproduce: the paper's figures and tables, with its numbers beside ours.
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "engine/support/parallel.h"
#include "engine/support/text.h"
#include "tools/dma/io/interrupt.h"
#include "tools/dma/io/progress.h"
#include "tools/dma/io/standard_streams.h"
#include "tools/experiments/commands/commands.h"
#include "tools/experiments/paper/reproduce.h"

namespace dma {

namespace {

struct ExperimentRequest {
  std::optional<int> seeds;
  std::uint64_t seed = 1;
  int jobs = static_cast<int>(all_processors());
  std::string out = "out/reproduce";
  bool quick = false;
};

void print_claims(const reproduce::Section& section) {
  for (const reproduce::Claim& c : section.claims) {
    fmt::print("{:<12} {:<14} {}  {}: paper {}, ours {}\n", section.name, c.where, c.holds ? "holds  " : "differs",
               c.claim, c.paper, c.ours);
    if (!c.why.empty()) fmt::print("{:>36}{}\n", "", c.why);
  }
}

void run(const std::string& name, const ExperimentRequest& request) {
  constexpr int kQuickSeeds = 4, kSeeds = 20;
  reproduce::Request whole{.name = name, .options = {}, .out = request.out, .command = {}};
  whole.options = {.seeds = request.seeds.value_or(request.quick ? kQuickSeeds : kSeeds),
                   .seed = request.seed,
                   .jobs = request.jobs,
                   .quick = request.quick};
  whole.command = fmt::format("dma-lab reproduce {} --seeds {} --seed {}{}", name, whole.options.seeds, request.seed,
                              request.quick ? " --quick" : "");
  const InterruptWatch interrupt;
  std::optional<reproduce::Report> report;
  {
    ProgressLine line;
    report = reproduce::reproduce(whole, [&](const reproduce::Progress& p) {
      line.show(fmt::format("{} of {} units, {}; about {:.0f} s left", p.done, p.all, p.last, p.seconds_left));
      return !interrupt.requested();
    });
  }
  if (!report) {
    say(fmt::format("interrupted; finished units are in {}/units, and the same command goes on from there",
                    request.out));
    throw Exit{kExitBySignal + interrupt.signal()};
  }
  for (const reproduce::Section& section : report->sections) print_claims(section);
  fmt::print("{} of {} claims of the paper hold; written: {}/report.md, report.html and a CSV file per table\n",
             report->holding(), report->claims(), printable(request.out));
  if (interrupt.requested()) throw Exit{kExitBySignal + interrupt.signal()};  // after the last unit
}

void add_experiment(Command reproduce, const std::string& name, const std::string& title) {
  auto request = std::make_shared<ExperimentRequest>();
  const Command command = reproduce.add_subcommand(name, title);
  command.footer(fmt::format(
      "Example:\n  dma-lab reproduce {} --out out/reproduce\n"
      "Finished parts are kept in FOLDER/units: a run that was stopped goes on; after a change of the program use "
      "another FOLDER.",
      name));
  command.add_option("--seeds", request->seeds, "data sets (default: 20, with --quick 4)").between(1, 10'000);
  command.add_option("--seed", request->seed, "the first of them; pictures show it").capture_default_str();
  command.add_option("--jobs", request->jobs, "threads (default: all processors); the results do not depend on them")
      .between(1, 1024);
  command.add_option("--out", request->out, "folder for report.md, report.html, pictures and tables")
      .value("FOLDER")
      .capture_default_str();
  command.add_flag("--quick", request->quick, "fewer seeds, shorter chains: under two minutes for all");
  command.callback([name, request] { run(name, *request); });
}

}  // namespace

void add_reproduce_command(Command app) {
  const Command command = app.add_subcommand("reproduce", "Reproduce the paper, or a part of it, with its baselines");
  command.footer("Example:\n  dma-lab reproduce all --quick --out out/reproduce");
  add_experiment(command, "all", "Every table and figure");
  for (const reproduce::Experiment& e : reproduce::experiments()) add_experiment(command, e.name, e.title);
  command.require_subcommand();
}

}  // namespace dma
