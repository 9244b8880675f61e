// dma reproduce: the paper's figures and tables, with its numbers beside ours.
#include <fmt/format.h>

#include <memory>

#include "tools/dma/commands.h"
#include "tools/dma/standard_streams.h"
#include "tools/validation/appendix_c.h"

namespace dma {

namespace {

struct Request {
  std::string out;
  validation::AppendixOptions options;
};

void add_validation(Command reproduce) {
  auto request = std::make_shared<Request>();
  const Command command = reproduce.add_subcommand("validation", "Appendix C: how good the message approximations are");
  command.footer("Example:\n  dma reproduce validation --out validation");
  command.add_option("--out", request->out, "folder for pictures, CSV files and validation.md").required();
  command.add_option("--samples", request->options.samples, "samples of each importance-sampling reference")
      .above_zero()
      .capture_default_str();
  command.add_option("--seed", request->options.seed, "seed of the samples").capture_default_str();
  command.callback([request] {
    const validation::Findings findings = validation::appendix_c(request->out, request->options);
    for (const validation::Claim& c : findings.claims)
      fmt::print("{:<5} {}  {}: paper {}, ours {}\n", c.figure, c.holds ? "holds" : "FAILS", c.claim, c.paper, c.ours);
    for (const std::string& reason : findings.skipped) say(reason);
    fmt::print("written: {}/validation.md and {} other files\n", request->out, findings.files.size() - 1);
  });
}

}  // namespace

void add_reproduce_command(Command app) {
  const Command command = app.add_subcommand("reproduce", "Reproduce a part of the paper");
  command.require_subcommand();
  add_validation(command);
}

}  // namespace dma
