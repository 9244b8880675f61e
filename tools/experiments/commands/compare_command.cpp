// dma-lab compare: the message methods side by side.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "factors/standard_registry.h"
#include "tools/experiments/commands/commands.h"
#include "tools/experiments/commands/compare.h"
#include "tools/experiments/commands/score_table.h"
#include "tools/experiments/paper/methods.h"
#include "tools/experiments/paper/scores.h"
#include "tools/experiments/paper/thread_seconds.h"

namespace dma {

namespace {

struct CompareRequest {
  int seeds = 20;
  std::uint64_t seed = 1;
  bool networks = true;
};

std::string moments(const Gaussian& g) {
  if (g.is_uniform()) return "uniform";
  if (g.rho < 0) return "negative precision";
  return g.is_point() ? fmt::format("= {:.3f}", g.tau) : fmt::format("N({:.3f}, {:.3f}^2)", g.mean(), g.sd());
}

void compare_cases(const Registry& registry) {
  for (const compare::Case& c : compare::cases()) {
    fmt::print(
        "{}: {}\n\n| method | message | marginal | KL, nats | refused | replaced | sweeps | us |\n"
        "|---|---|---|---|---|---|---|---|\n| exact | | {} | | | | | |\n",
        c.name, c.what, moments(compare::exact_marginal(c)));
    std::vector<std::string> solvers = compare::methods();
    solvers.emplace_back("joint");
    for (const std::string& method : solvers) {
      const compare::Measurement m = compare::measure(c, method, registry);
      fmt::print("| {} | {} | {} | {:.4g} | {} | {} | {} | {:.2f} |\n", method,
                 method == "joint" ? "-" : moments(m.message), moments(m.marginal), m.kl, m.refused, m.replaced,
                 m.sweeps, m.microseconds);
    }
    fmt::print("\n");
  }
}

void compare_habits(const Registry& registry) {
  fmt::print(
      "measured on product and leaky_relu towards their inputs (the paper's Table 1):\n\n"
      "| method | sends back | divides | iterates | collapses | improper messages |\n|---|---|---|---|---|---|\n");
  const auto word = [](bool b) { return b ? "yes" : "no"; };
  for (const std::string& method : compare::methods()) {
    const compare::Habits h = compare::habits_of(method, registry);
    fmt::print("| {} | {} | {} | {} | {} | {:.1f} % |\n", method, word(h.sends_back), word(h.divides), word(h.iterates),
               word(h.collapses), 100 * h.improper_fraction);
  }
  fmt::print("\n");
}

// The paper's networks by every method that learns.
void compare_networks(const CompareRequest& request) {
  using Shows = ScoreColumn::Shows;
  ScoreTable table("Medians over seeds.", {"network", "seeds", "method"},
                   {{"epochs", 0, Shows::median},
                    {"train NLL", 2, Shows::median},
                    {"extrapolation NLL", 2, Shows::median_and_range},
                    {"coverage deviation", 2, Shows::median},
                    {"95 % coverage", 2, Shows::median},
                    {"refused", 0, Shows::median},
                    {"replaced", 0, Shows::median},
                    {"s", 3, Shows::median}},
                   {});
  for (const std::string name : {"small", "large"}) {
    const int seeds = name == "small" ? request.seeds : std::max(1, request.seeds / 10);
    for (const std::string method : {"dma", "linearised", "ep", "hybrid"}) {
      if (method == "ep" && name == "large") continue;  // one quadrature per weight
      const auto scores = run_splits(method, static_cast<std::size_t>(seeds), 1, [&](std::size_t split) {
        reproduce::Task task = reproduce::make_task(name, request.seed + split);
        if (method == "ep") task.fit.epochs = 3;
        const double start = thread_seconds();
        const reproduce::Fitted fitted = reproduce::fit_network(task, request.seed + split, {}, {.method = method});
        const double seconds = thread_seconds() - start;
        const Json score = reproduce::score(task, fitted.predict, false), &outside = score.at("outside");
        return SplitScores{static_cast<double>(fitted.curve.size()),   json_number(score.at("train_nll")),
                           json_number(score.at("extrapolation_nll")), json_number(outside.at("deviation")),
                           json_number(outside.at("coverage_95")),     fitted.more.at("refused").get<double>(),
                           fitted.more.at("replaced").get<double>(),   seconds};
      });
      table.add({name == "small" ? "8-6-5-1" : "6-6-12-48-24-4", fmt::to_string(seeds), method}, scores, {});
    }
  }
}

void run(const CompareRequest& request) {
  const Registry registry = standard_registry();
  compare_cases(registry);
  compare_habits(registry);
  if (request.networks) compare_networks(request);
}

}  // namespace

void add_compare_command(Command app) {
  auto request = std::make_shared<CompareRequest>();
  const Command command =
      app.add_subcommand("compare", "The message methods side by side: marginals, KL, refusals, time");
  command.add_option("--seeds", request->seeds, "Data sets for the networks").capture_default_str().between(1, 1000);
  command.add_option("--seed", request->seed, "The first of them").capture_default_str();
  command.add_flag("--networks,!--no-networks", request->networks,
                   "Also fit the paper's two networks with every method");
  command.footer("Example:\n  dma-lab compare --seeds 20");
  command.callback([request] { run(*request); });
}

}  // namespace dma
