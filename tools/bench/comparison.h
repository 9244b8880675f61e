// The engine next to plain code that does the same work, timed in turns: machines are noisy, but two neighbouring runs
// meet the same noise, so the median of their ratios is stable where neither time is.
#pragma once

#include <benchmark/benchmark.h>

#include <functional>
#include <string>
#include <vector>

namespace dma::bench {

using Work = std::function<void()>;

// One line of the final table. Times in nanoseconds.
struct Row {
  std::string name;
  double engine = 0, plain = 0;  // medians; 0: not timed
  double value = 0;              // the quantity that is bounded: the ratio of the two unless it has a unit of its own
  double bound = 0;              // 0: none, shown for comparison
  std::string unit = "x";
  double messages = 0;  // computed by one run of the engine; 0: not counted
};

// All rows of one execution, in the order in which they were first set.
class Table {
 public:
  void set(Row row);  // replaces the row of that name: a benchmark is called again with more iterations
  std::string text() const;

 private:
  std::vector<Row> rows_;
};

// Runs both in turns once per iteration and sets the row; the benchmark's own time is the engine's.
void compare(benchmark::State& state, Table& table, Row row, const Work& engine, const Work& plain);

// A time limit without plain code beside it. The time of `clean_up` is not counted.
void time_alone(benchmark::State& state, Table& table, Row row, const Work& engine, const Work& clean_up);

// Registers a benchmark that measures itself; 0 iterations: as many as the library wants.
void add(Table& table, const std::string& name, const std::function<void(benchmark::State&, Table&)>& body,
         int iterations = 0);

// The groups of benchmarks, each in the file of that name.
void register_smoother(Table& table);
void register_regression(Table& table);
void register_plates(Table& table);
void register_joint(Table& table);
void register_growing(Table& table);

}  // namespace dma::bench
