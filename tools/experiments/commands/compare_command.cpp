// dma-lab compare: the message methods side by side.
#include <fmt/format.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "factors/standard_registry.h"
#include "tools/experiments/commands/commands.h"
#include "tools/experiments/compare/measure.h"
#include "tools/experiments/paper/fit_network.h"
#include "tools/experiments/paper/scores.h"
#include "tools/experiments/paper/statistics.h"
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
  return g.is_point() ? fmt::format("= {:.3f}", g.tau) : fmt::format("N({:.3f}, {:.3f}^2)", g.mean(), g.sd());
}

void compare_cases(const Registry& registry) {
  for (const compare::Case& c : compare::cases()) {
    fmt::print(
        "{}: {}\n\n| method | message | marginal | KL, nats | refused | replaced | sweeps | us |\n"
        "|---|---|---|---|---|---|---|---|\n| exact | | {} | | | | | |\n",
        c.name, c.what, moments(compare::exact_marginal(c)));
    for (const std::string& method : compare::solvers()) {
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
  fmt::print(
      "medians over seeds (interquartile range of the extrapolation NLL):\n\n"
      "| network | seeds | method | epochs | train NLL | extrapolation NLL | coverage deviation | 95 % coverage "
      "| refused | replaced | s |\n|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (const std::string name : {"small", "large"}) {
    const int seeds = name == "small" ? request.seeds : std::max(1, request.seeds / 10);
    for (const std::string method : {"dma", "linearised", "ep", "hybrid"}) {
      if (method == "ep" && name == "large") continue;  // one quadrature per weight
      std::map<std::string, std::vector<double>> values;
      for (std::uint64_t seed = request.seed; seed < request.seed + static_cast<std::uint64_t>(seeds); ++seed) {
        reproduce::Task task = reproduce::make_task(name, seed);
        if (method == "ep") task.fit.epochs = 3;
        const double start = thread_seconds();
        const reproduce::Fitted fitted = reproduce::fit_network(task, seed, {}, {.method = method});
        values["seconds"].push_back(thread_seconds() - start);
        values["epochs"].push_back(static_cast<double>(fitted.curve.size()));
        for (const char* key : {"refused", "replaced"}) values[key].push_back(fitted.more.at(key).get<double>());
        const Json score = reproduce::score(task, fitted.predict, false);
        for (const char* key : {"train_nll", "extrapolation_nll"}) values[key].push_back(json_number(score.at(key)));
        for (const char* key : {"deviation", "coverage_95"})
          values[key].push_back(json_number(score.at("outside").at(key)));
      }
      const auto of = [&](const char* key) { return reproduce::median(values.at(key)); };
      fmt::print("| {} | {} | {} | {:.0f} | {:.2f} | {:.2f} ({:.2f}) | {:.2f} | {:.2f} | {:.0f} | {:.0f} | {:.3f} |\n",
                 name == "small" ? "8-6-5-1" : "6-6-12-48-24-4", seeds, method, of("epochs"), of("train_nll"),
                 of("extrapolation_nll"), reproduce::interquartile_range(values.at("extrapolation_nll")),
                 of("deviation"), of("coverage_95"), of("refused"), of("replaced"), of("seconds"));
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
