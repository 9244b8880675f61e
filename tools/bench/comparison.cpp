#include "tools/bench/comparison.h"

#include <fmt/format.h>

#include "engine/support/shuffle.h"
#include "tools/experiments/paper/thread_seconds.h"

namespace dma::bench {

namespace {

double now() { return 1e9 * thread_seconds(); }

double nanoseconds(const Work& work) {
  const double start = now();
  work();
  benchmark::ClobberMemory();
  return now() - start;
}

std::string time_text(double nanoseconds) {
  if (nanoseconds == 0) return "-";
  if (nanoseconds < 1e3) return fmt::format("{:.1f} ns", nanoseconds);
  if (nanoseconds < 1e6) return fmt::format("{:.1f} us", nanoseconds / 1e3);
  return fmt::format("{:.2f} ms", nanoseconds / 1e6);
}

}  // namespace

void Table::set(Row row) {
  const auto found = std::ranges::find(rows_, row.name, &Row::name);
  if (found == rows_.end())
    rows_.push_back(std::move(row));
  else
    *found = std::move(row);
}

std::string Table::text() const {
  std::string text =
      fmt::format("{:<44}{:>11}{:>11}{:>14}{:>12}{:>12}\n", "", "engine", "plain", "messages/s", "result", "bound");
  for (const Row& row : rows_) {
    const std::string rate = row.messages > 0 ? fmt::format("{:.1f} M", row.messages / row.engine * 1e3) : "-";
    const std::string bound = row.bound > 0 ? fmt::format("{:g} {}", row.bound, row.unit) : "-";
    const char* const verdict = row.bound == 0 ? "" : row.value <= row.bound ? "holds" : "MISSED";
    text += fmt::format("{:<44}{:>11}{:>11}{:>14}{:>12}{:>12}  {}\n", row.name, time_text(row.engine),
                        time_text(row.plain), rate, fmt::format("{:.2f} {}", row.value, row.unit), bound, verdict);
  }
  return text;
}

void compare(benchmark::State& state, Table& table, Row row, const Work& engine, const Work& plain) {
  std::vector<double> engine_times, plain_times, ratios;
  for (const auto unused : state) {
    (void)unused;
    engine_times.push_back(nanoseconds(engine));
    plain_times.push_back(nanoseconds(plain));
    ratios.push_back(engine_times.back() / plain_times.back());
    state.SetIterationTime(engine_times.back() * 1e-9);
  }
  row.engine = median(engine_times);
  row.plain = median(plain_times);
  row.value = median(ratios);
  state.counters["plain_ns"] = row.plain;
  state.counters["ratio"] = row.value;
  table.set(std::move(row));
}

void time_alone(benchmark::State& state, Table& table, Row row, const Work& engine, const Work& clean_up) {
  std::vector<double> times;
  for (const auto unused : state) {
    (void)unused;
    times.push_back(nanoseconds(engine));
    state.SetIterationTime(times.back() * 1e-9);
    clean_up();
  }
  row.engine = median(times);
  row.value = row.engine * 1e-6;
  row.unit = "ms";
  table.set(std::move(row));
}

void add(Table& table, const std::string& name, const std::function<void(benchmark::State&, Table&)>& body,
         int iterations) {
  auto* const one = benchmark::RegisterBenchmark(name.c_str(), [body, &table](benchmark::State& s) { body(s, table); });
  one->UseManualTime();
  if (iterations > 0) one->Iterations(iterations);
}

}  // namespace dma::bench
