// dma-lab compare: the message methods side by side.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "engine/support/error.h"
#include "engine/support/json.h"
#include "factors/standard_registry.h"
#include "tools/experiments/commands/commands.h"
#include "tools/experiments/compare/measure.h"
#include "tools/experiments/paper/paper_run.h"

namespace dma {

namespace {

struct CompareRequest {
  int seeds = 20;
  std::uint64_t seed = 1;
  bool json = false, networks = true;
};

std::string moments(const Gaussian& g) {
  if (g.is_uniform()) return "uniform";
  return g.is_point() ? fmt::format("= {:.3f}", g.tau) : fmt::format("N({:.3f}, {:.3f}^2)", g.mean(), g.sd());
}

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(fmt::format("{}", value)); }

void compare_cases(const Registry& registry, bool print, Json& json) {
  for (const compare::Case& c : compare::cases()) {
    const Gaussian exact = compare::exact_marginal(c);
    if (print)
      fmt::print("{}: {}\n  {:<12}{:>22}{:>22}{:>12}{:>9}{:>10}{:>8}{:>9}\n  {:<12}{:>22}{:>22}\n", c.name, c.what,
                 "method", "message", "marginal", "KL, nats", "refused", "replaced", "sweeps", "us", "exact", "",
                 moments(exact));
    for (const std::string& method : compare::solvers()) {
      const compare::Measurement m = compare::measure(c, method, registry);
      if (print)
        fmt::print("  {:<12}{:>22}{:>22}{:>12.4g}{:>9}{:>10}{:>8}{:>9.2f}\n", method,
                   method == "joint" ? "-" : moments(m.message), moments(m.marginal), m.kl, m.refused, m.replaced,
                   m.sweeps, m.microseconds);
      json["cases"][c.name][method] = {{"marginal_mean", number(m.marginal.mean())},
                                       {"marginal_sd", number(m.marginal.sd())},
                                       {"kl", number(m.kl)},
                                       {"refused", m.refused},
                                       {"replaced", m.replaced},
                                       {"sweeps", m.sweeps},
                                       {"microseconds", m.microseconds}};
    }
    if (print) fmt::print("\n");
  }
}

void compare_habits(const Registry& registry, bool print, Json& json) {
  if (print)
    fmt::print(
        "measured on product and leaky_relu towards their inputs (the paper's Table 1):\n  "
        "{:<12}{:>12}{:>10}{:>10}{:>11}{:>18}\n",
        "method", "sends back", "divides", "iterates", "collapses", "improper messages");
  const auto word = [](bool b) { return b ? "yes" : "no"; };
  for (const std::string& method : compare::methods()) {
    const compare::Habits h = compare::habits_of(method, registry);
    if (print)
      fmt::print("  {:<12}{:>12}{:>10}{:>10}{:>11}{:>17.1f}%\n", method, word(h.sends_back), word(h.divides),
                 word(h.iterates), word(h.collapses), 100 * h.improper_fraction);
    json["habits"][method] = {{"sends_back", h.sends_back},
                              {"divides", h.divides},
                              {"iterates", h.iterates},
                              {"collapses", h.collapses},
                              {"improper_share", h.improper_fraction}};
  }
  if (print) fmt::print("\n");
}

// The paper's regression tasks with every method that learns: medians over the seeds.
void compare_networks(const CompareRequest& request, Json& json) {
  struct Task {
    const char* name;
    validation::PaperTask (*make)(std::uint64_t);
    double low, high;
    std::size_t batches;
    int seeds;
  };
  const Task tasks[] = {{"8-6-5-1", &validation::small_task, -2.5, 1.5, 10, request.seeds},
                        {"6-6-12-48-24-4", &validation::large_task, -4, 4, 100, std::max(1, request.seeds / 10)}};
  for (const Task& task : tasks) {
    if (!request.json)
      fmt::print(
          "{}, median over {} seeds (interquartile range of the extrapolation NLL):\n  "
          "{:<12}{:>8}{:>11}{:>22}{:>20}{:>14}{:>10}{:>11}{:>9}\n",
          task.name, task.seeds, "method", "epochs", "train NLL", "extrapolation NLL", "coverage deviation",
          "95 % coverage", "refused", "replaced", "s");
    for (const char* method : {"dma", "linearised", "ep", "hybrid"}) {
      // EP through the product is one quadrature per weight: the small network only.
      if (std::string_view(method) == "ep" && task.seeds != request.seeds) continue;
      std::vector<validation::PaperRun> runs;
      for (int s = 0; s < task.seeds; ++s) {
        const auto seed = request.seed + static_cast<std::uint64_t>(s);
        LearnOptions fit{.batches = task.batches, .epochs = 100, .tolerance = 0.1};
        if (std::string_view(method) == "ep") fit.epochs = 3;
        runs.push_back(validation::run_paper_task(task.make(seed), task.low, task.high, method, seed, fit));
      }
      const auto of = [&](double validation::PaperRun::*value, double p) {
        std::vector<double> values;
        for (const auto& r : runs) values.push_back(r.*value);
        return validation::quantile(values, p);
      };
      using Run = validation::PaperRun;
      const double nll = of(&Run::extrapolation_nll, 0.5);
      const double iqr = of(&Run::extrapolation_nll, 0.75) - of(&Run::extrapolation_nll, 0.25);
      if (!request.json)
        fmt::print("  {:<12}{:>8.0f}{:>11.2f}{:>22}{:>20.2f}{:>14.2f}{:>10.0f}{:>11.0f}{:>9.3f}\n", method,
                   of(&Run::epochs, 0.5), of(&Run::train_nll, 0.5), fmt::format("{:.2f} ({:.2f})", nll, iqr),
                   of(&Run::coverage_deviation, 0.5), of(&Run::coverage_95, 0.5), of(&Run::refused, 0.5),
                   of(&Run::replaced, 0.5), of(&Run::seconds, 0.5));
      json["networks"][task.name][method] = {{"epochs", of(&Run::epochs, 0.5)},
                                             {"train_nll", of(&Run::train_nll, 0.5)},
                                             {"extrapolation_nll", nll},
                                             {"extrapolation_nll_iqr", iqr},
                                             {"coverage_deviation", of(&Run::coverage_deviation, 0.5)},
                                             {"coverage_95", of(&Run::coverage_95, 0.5)},
                                             {"refused", of(&Run::refused, 0.5)},
                                             {"replaced", of(&Run::replaced, 0.5)},
                                             {"seconds", of(&Run::seconds, 0.5)}};
    }
    if (!request.json) fmt::print("\n");
  }
}

void run(const CompareRequest& request) {
  const Registry registry = standard_registry();
  Json json;
  compare_cases(registry, !request.json, json);
  compare_habits(registry, !request.json, json);
  if (request.networks) compare_networks(request, json);
  if (request.json) fmt::print("{}\n", json_text(json, 2));
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
  command.add_flag("--json", request->json, "Machine-readable results on standard output");
  command.footer("Example:\n  dma-lab compare --seeds 20");
  command.callback([request] { run(*request); });
}

}  // namespace dma
