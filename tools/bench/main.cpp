// dma_bench: every promise about speed and memory, measured in one run. Takes Google Benchmark's options.
#include <fmt/format.h>

#include "tools/bench/comparison.h"
#include "tools/bench/paper_medians.h"

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  dma::bench::Table table;
  dma::bench::register_smoother(table);
  dma::bench::register_chain(table);
  dma::bench::register_regression(table);
  dma::bench::register_plates(table);
  dma::bench::register_network(table);
  dma::bench::register_joint(table);
  dma::bench::register_rating(table);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  // Twenty seeds, as the paper has, and enough that chance has left the quartiles.
  fmt::print("\n{}\n{}\n{}", dma::bench::paper_medians(20), dma::bench::paper_medians(400), table.text());
  return 0;
}
