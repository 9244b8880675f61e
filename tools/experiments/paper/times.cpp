// Times of fits, measured one after the other: App. E.2's and G's claims about speed.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/experiments/paper/thread_seconds.h"
#include "tools/experiments/paper/writer.h"

namespace dma::reproduce {

namespace {

struct Timed {
  std::string method;
  double epochs = 0, seconds = INFINITY;  // seconds: of the fastest fit, which was disturbed least
  std::size_t converged = 0;              // epochs until the curve came, and stayed, near its end

  double epoch_ms() const { return 1000 * seconds / epochs; }
  std::string epoch_text() const { return fmt::format("{:.3g} ms", epoch_ms()); }
};

Timed timed(const std::string& task_name, const std::string& name, const Options& options, int repeats) {
  constexpr double kNear = 0.02;
  const Task task = make_task(task_name, options.seed);
  Timed row{name};
  std::vector<double> curve;
  for (int i = 0; i < repeats; ++i) {
    const double start = thread_seconds();
    curve = method(name).fit(task, options.seed, options.effort()).curve;
    row.seconds = std::min(row.seconds, thread_seconds() - start);
  }
  row.epochs = static_cast<double>(curve.size());
  std::size_t at = curve.size();
  while (at > 0 && std::abs(curve[at - 1] - curve.back()) < kNear) --at;
  row.converged = std::min(curve.size(), at + 1);
  return row;
}

void add_claims(Section& s, const std::vector<Timed>& rows, bool large) {
  const auto find = [&](const char* name) { return *std::ranges::find(rows, name, &Timed::method); };
  const Timed dma = find("dma"), adam = find(large ? "adam-0.01" : "adam-0.1");
  const double per_epoch = dma.epoch_ms() / adam.epoch_ms(), ours = 1000 * dma.seconds;
  const double theirs =
      large ? 1000 * adam.seconds : adam.epoch_ms() * static_cast<double>(adam.converged);  // until convergence
  const auto nanoseconds = [&](double epoch_ms) { return 1e6 * epoch_ms / (large ? 1932.0 * 1500 : 83.0 * 200); };
  const std::string why = fmt::format(
      "Per weight and example this Adam takes {:.1f} ns, its training NLL after every epoch included (the authors' "
      "{:.1f}), DMA {:.1f} (the authors' {:.1f}).",
      nanoseconds(adam.epoch_ms()), nanoseconds(large ? 17 : 0.45), nanoseconds(dma.epoch_ms()),
      nanoseconds(large ? 67 : 0.80));
  const auto claim = [&](std::string text, const char* paper, std::string measured, bool holds) {
    s.claims.push_back({large ? "G" : "E.2", std::move(text), paper, std::move(measured), holds, holds ? "" : why});
  };
  claim(fmt::format("an epoch of DMA costs {} times one of Adam", large ? "4" : "1.8"),
        large ? "67 ms / 17 ms" : "0.80 ms / 0.45 ms",
        fmt::format("{} / {}: {:.1f} times", dma.epoch_text(), adam.epoch_text(), per_epoch),
        per_epoch < (large ? 6 : 3));
  claim(large ? "DMA needs less than half of Adam's time in all" : "DMA needs a fifth of Adam's time until convergence",
        large ? "0.72 s / 1.7 s" : "5 times less", fmt::format("{:.1f} ms / {:.1f} ms", ours, theirs),
        ours < (large ? 0.5 : 0.3) * theirs);
}

}  // namespace

Section measured_times(const Options& options, bool large) {
  Section s{"times", "Times"};
  s.text.push_back(
      "Processor time of one thread, measured in one run, one fit after the other; the fastest of several. Adam's time "
      "holds the training NLL after every epoch, as DMA's does.");
  s.tables.push_back(
      {"Time of an epoch and of a fit.",
       {"network", "method", "epochs", "epochs until within 0.02 nats of the end", "one epoch", "whole fit"}});
  const auto measure = [&](const std::string& task, const std::vector<std::string>& names, int repeats) {
    std::vector<Timed> rows;
    for (const std::string& name : names) {
      const Timed& row = rows.emplace_back(timed(task, name, options, repeats));
      s.tables[0].rows.push_back({task, method(name).title, fmt::format("{:g}", row.epochs),
                                  fmt::format("{}", row.converged), row.epoch_text(),
                                  fmt::format("{:.1f} ms", 1000 * row.seconds)});
    }
    add_claims(s, rows, task == "large");
  };
  measure("small", own_and({"adam-0.1", "adamw-0.1-1"}), options.quick ? 2 : 5);
  if (large) measure("large", {"dma", "adam-0.01", "adamw-0.1-0.1"}, options.quick ? 1 : 2);
  return s;
}

}  // namespace dma::reproduce
