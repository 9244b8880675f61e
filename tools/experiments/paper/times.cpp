#include "tools/experiments/paper/times.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/experiments/paper/summary.h"
#include "tools/experiments/paper/thread_seconds.h"

namespace dma::reproduce {

namespace {

// A curve has converged when it comes, and stays, this close to its end.
constexpr double kNear = 0.02;

std::size_t epochs_to_convergence(const std::vector<double>& curve) {
  std::size_t at = curve.size();
  while (at > 0 && std::abs(curve[at - 1] - curve.back()) < kNear) --at;
  return std::min(curve.size(), at + 1);
}

// The fastest of some fits: the one that was disturbed least.
Json timed(const std::string& task_name, const std::string& name, const Options& options, int repeats) {
  const Task task = make_task(task_name, options.seed);
  double least = INFINITY;
  Fitted fitted;
  for (int i = 0; i < repeats; ++i) {
    const double start = thread_seconds();
    fitted = method(name).fit(task, options.seed, options.effort());
    least = std::min(least, thread_seconds() - start);
  }
  const auto epochs = static_cast<double>(fitted.curve.size());
  return {{"method", method(name).title},
          {"epochs", epochs},
          {"converged", epochs_to_convergence(fitted.curve)},
          {"seconds", least},
          {"epoch_ms", 1000 * least / epochs}};
}

std::string milliseconds(const Json& row) { return fmt::format("{:.3g} ms", row.at("epoch_ms").get<double>()); }

double seconds_until_converged(const Json& row) {
  return row.at("epoch_ms").get<double>() / 1000 * row.at("converged").get<double>();
}

void add_claims(Section& s, const Json& rows, bool large) {
  const Json &dma = rows.at("dma"), &adam = rows.at(large ? "adam-0.01" : "adam-0.1");
  const double per_epoch = dma.at("epoch_ms").get<double>() / adam.at("epoch_ms").get<double>();
  const double ours = dma.at("seconds").get<double>();
  const double theirs = large ? adam.at("seconds").get<double>() : seconds_until_converged(adam);
  const std::string where = large ? "G" : "E.2";
  const double products = large ? 1932.0 * 1500 : 83.0 * 200;  // weights x examples
  const auto nanoseconds = [&](double epoch_ms) { return 1e6 * epoch_ms / products; };
  const std::string fast = fmt::format(
      "Per weight and example this Adam takes {:.1f} ns, its training NLL after every epoch included (the authors' "
      "{:.1f}), DMA {:.1f} (the authors' {:.1f}).",
      nanoseconds(adam.at("epoch_ms")), nanoseconds(large ? 17 : 0.45), nanoseconds(dma.at("epoch_ms")),
      nanoseconds(large ? 67 : 0.80));
  s.claims.push_back(claim(where, fmt::format("an epoch of DMA costs {} times one of Adam", large ? "4" : "1.8"),
                           large ? "67 ms / 17 ms" : "0.80 ms / 0.45 ms",
                           fmt::format("{} / {}: {:.1f} times", milliseconds(dma), milliseconds(adam), per_epoch),
                           per_epoch < (large ? 6 : 3), fast));
  s.claims.push_back(claim(
      where,
      large ? "DMA needs less than half of Adam's time in all" : "DMA needs a fifth of Adam's time until convergence",
      large ? "0.72 s / 1.7 s" : "5 times less", fmt::format("{:.1f} ms / {:.1f} ms", 1000 * ours, 1000 * theirs),
      ours < (large ? 0.5 : 0.3) * theirs, fast));
}

}  // namespace

Json measure_times(const Options& options, bool large) {
  Json measured;
  const int repeats = options.quick ? 2 : 5;
  for (const std::string& name : own_and({"adam-0.1", "adamw-0.1-1"}))
    measured["small"][name] = timed("small", name, options, repeats);
  if (large)
    for (const std::string name : {"dma", "adam-0.01", "adamw-0.1-0.1"})
      measured["large"][name] = timed("large", name, options, options.quick ? 1 : 2);
  return measured;
}

Section times_section(const Json& measured) {
  Section s{"times", "Times"};
  s.text.push_back(
      "Processor time of one thread, measured in one run, one fit after the other; the fastest of several. Adam's time "
      "holds the training NLL after every epoch, as DMA's does.");
  Table table{"Time of an epoch and of a fit.",
              {"network", "method", "epochs", "epochs until within 0.02 nats of the end", "one epoch", "whole fit"},
              {}};
  for (const auto& [task, rows] : measured.items()) {
    for (const auto& [name, row] : rows.items())
      table.rows.push_back({task, row.at("method"), fmt::format("{:g}", row.at("epochs").get<double>()),
                            fmt::format("{}", row.at("converged").get<int>()), milliseconds(row),
                            fmt::format("{:.1f} ms", 1000 * row.at("seconds").get<double>())});
    add_claims(s, rows, task == "large");
  }
  s.tables.push_back(std::move(table));
  return s;
}

}  // namespace dma::reproduce
