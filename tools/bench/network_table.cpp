#include "tools/bench/network_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/experiments/paper/thread_seconds.h"

namespace dma::bench {

namespace {

using Way = NetworkEpochs::Way;
constexpr std::array kWays{Way::fused, Way::hand, Way::unfused, Way::adam};

double middle(std::vector<double> values) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, at);
  return *at;
}

double middle_ratio(const std::vector<double>& above, const std::vector<double>& below) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < above.size(); ++i) ratios.push_back(above[i] / below[i]);
  return middle(ratios);
}

}  // namespace

NetworkRow measure_network(const std::string& name, const PeakRates& peaks, double seconds) {
  const NetworkCase network = network_case(name);
  NetworkEpochs epochs(network);
  for (const Way way : kWays) epochs.run(way);
  NetworkRow row{name, network.weights(), network.rows(), 0, 0, 0, 0, 0, 0, 0, 0, epochs.difference(Way::fused)};
  std::map<Way, std::vector<double>> times;
  const double start = thread_seconds();
  for (int turn = 0; turn < 3 || thread_seconds() - start < 4 * seconds; ++turn)
    for (const Way way : kWays) {
      const double before = thread_seconds();
      epochs.run(way);
      times[way].push_back(1e9 * (thread_seconds() - before) / network.weights_times_rows());
    }
  row.fused = middle(times[Way::fused]), row.unfused = middle(times[Way::unfused]);
  row.hand = middle(times[Way::hand]), row.adam = middle(times[Way::adam]);
  row.least = least_time(peaks, network.task.layers);
  row.fused_by_hand = middle_ratio(times[Way::fused], times[Way::hand]);
  row.unfused_by_fused = middle_ratio(times[Way::unfused], times[Way::fused]);
  row.fused_by_adam = middle_ratio(times[Way::fused], times[Way::adam]);
  return row;
}

std::string text(const std::vector<NetworkRow>& rows) {
  std::string out = "ns for each weight and row of an epoch, one thread\n";
  out += fmt::format("{:<16}{:>9}{:>6}{:>9}{:>9}{:>9}{:>9}{:>9}{:>12}{:>15}{:>12}{:>12}\n", "network", "weights", "rows", "fused",
                     "unfused", "by hand", "Adam", "bound", "fused/hand", "unfused/fused", "fused/Adam", "difference");
  for (const NetworkRow& r : rows)
    out += fmt::format("{:<16}{:>9}{:>6}{:>9.2f}{:>9.2f}{:>9.2f}{:>9.2f}{:>9.2f}{:>12.2f}{:>15.2f}{:>12.2f}{:>12.1e}\n", r.name,
                       r.weights, r.rows, r.fused, r.unfused, r.hand, r.adam, r.least, r.fused_by_hand, r.unfused_by_fused,
                       r.fused_by_adam, r.difference);
  return out;
}

nlohmann::json to_json(const std::vector<NetworkRow>& rows) {
  nlohmann::json all = nlohmann::json::array();
  for (const NetworkRow& r : rows) {
    nlohmann::json one{{"network", r.name}, {"weights", r.weights}, {"rows", r.rows}, {"difference", r.difference}};
    one["ns"] = {{"fused", r.fused}, {"unfused", r.unfused}, {"hand", r.hand}, {"adam", r.adam}, {"bound", r.least}};
    for (const NetworkRatio& ratio : kNetworkRatios) one["ratios"][ratio.name] = r.*ratio.value;
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace dma::bench
