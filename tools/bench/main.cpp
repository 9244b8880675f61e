// dma_bench: every promise about speed and memory, measured in one run. Takes Google Benchmark's options, and
//   --networks    only the table of networks
//   --sizes       networks from 2 thousand weights to 2 million
//   --start-up    how long dma --help and dma predict take
//   --gate FILE   the table compared with a committed baseline: returns 1 if something got worse by more than its
//   tolerance
//   --epochs NAME [COUNT [WAY]]  3 or COUNT epochs of one network, by the fused plan or the WAY unfused, hand or adam:
//                                to count instructions or to profile
#include <fmt/format.h>

#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>

#include "engine/support/json.h"
#include "tools/bench/comparison.h"
#include "tools/bench/network_table.h"
#include "tools/bench/reports.h"

namespace {

using namespace dma::bench;

std::vector<NetworkRow> measure_networks() {
  const PeakRates peaks = measure_peaks();
  std::vector<NetworkRow> rows;
  for (const std::string& name : network_names()) rows.push_back(measure_network(name, peaks, 1));
  return rows;
}

int gate(const std::string& file) {
  std::ifstream stream(file);
  if (!stream) {
    fmt::print(stderr, "dma_bench: cannot read the baseline '{}'\n", file);
    return 2;
  }
  const dma::Json baseline = dma::parse_json(std::string(std::istreambuf_iterator(stream), {}));
  const std::vector<NetworkRow> rows = measure_networks();
  const std::vector<std::string> worse = worse_than(baseline, rows);
  fmt::print("{}", text(rows));
  for (const std::string& line : worse) fmt::print(stderr, "worse: {}\n", line);
  return worse.empty() ? 0 : 1;
}

void run_epochs(const std::string& name, int count, const std::string& way) {
  using Way = NetworkEpochs::Way;
  const NetworkCase network = network_case(name);
  NetworkEpochs epochs(network);
  for (int i = 0; i < count; ++i)
    epochs.run(way == "hand" ? Way::hand : way == "unfused" ? Way::unfused : way == "adam" ? Way::adam : Way::fused);
}

// dma is built next to this program.
std::string beside(const char* self) { return std::filesystem::path(self).replace_filename("dma"); }

void everything(const std::string& program, bool is_part) {
  Table table;
  register_smoother(table);
  register_chain(table);
  register_regression(table);
  register_plates(table);
  register_joint(table);
  register_growing(table);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  if (is_part) return fmt::print("\n{}", table.text());
  fmt::print("\n{}\n{}\n{}\n{}", table.text(), text(measure_networks()), to_the_end(), sizes());
  if (std::filesystem::exists(program)) fmt::print("\n{}", start_up(program));
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string_view option = argc > 1 ? argv[1] : "";
  if (option == "--gate") return gate(argc > 2 ? argv[2] : "tools/bench/baseline.json");
  if (option == "--networks") return fmt::print("{}\n{}", text(measure_networks()), to_the_end()), 0;
  if (option == "--sizes") return fmt::print("{}", sizes()), 0;
  if (option == "--start-up") return fmt::print("{}", start_up(beside(argv[0]))), 0;
  if (option == "--epochs" && argc > 2)
    return run_epochs(argv[2], argc > 3 ? std::stoi(argv[3]) : 3, argc > 4 ? argv[4] : "fused"), 0;
  const bool is_part = option.starts_with("--benchmark_filter");  // then nothing but that is wanted
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  everything(beside(argv[0]), is_part);
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "dma_bench: {}\n", error.what());
  return 1;
}
