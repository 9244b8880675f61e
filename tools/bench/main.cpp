// dma_bench: every promise about speed and memory, measured in one run. Takes Google Benchmark's options, and
//   --networks    only the table of networks
//   --sizes       networks from 2 thousand weights to 2 million
//   --epochs NAME [COUNT [WAY]]  3 or COUNT epochs of one network, by the fused plan or the WAY unfused, hand or adam:
//                                to count instructions or to profile
#include <fmt/format.h>

#include <exception>
#include <string>
#include <string_view>

#include "tools/bench/comparison.h"
#include "tools/bench/networks.h"

namespace {

using namespace dma::bench;

void everything(bool is_part) {
  Table table;
  register_smoother(table);
  register_regression(table);
  register_plates(table);
  register_joint(table);
  register_growing(table);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  if (is_part) return fmt::print("\n{}", table.text());
  fmt::print("\n{}\n{}\n{}", table.text(), networks(), sizes());
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string_view option = argc > 1 ? argv[1] : "";
  if (option == "--networks") {
    fmt::print("{}", networks());
  } else if (option == "--sizes") {
    fmt::print("{}", sizes());
  } else if (option == "--epochs" && argc > 2) {
    run_epochs(argv[2], argc > 3 ? std::stoi(argv[3]) : 3, argc > 4 ? argv[4] : "fused");
  } else {
    const bool is_part = option.starts_with("--benchmark_filter");  // then nothing but that is wanted
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
    everything(is_part);
  }
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "dma_bench: {}\n", error.what());
  return 1;
}
