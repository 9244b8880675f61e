#include "tools/experiments/paper/seed_blocks.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tools/experiments/paper/scores.h"
#include "tools/experiments/paper/summary.h"

namespace dma::reproduce {

namespace {

constexpr int kBlocks = 20, kSeeds = 20;
constexpr const char* kName = "small.seed-blocks";

// Mean extrapolation NLL and coverage of 95 % intervals outside the data.
Json block(const std::string& name, int index) {
  std::vector<double> nll, covered;
  for (int k = 1; k <= kSeeds; ++k) {
    const auto seed = static_cast<std::uint64_t>(index * kSeeds + k);
    const Task task = make_task("small", seed);
    const std::vector<double> x = task.outside(kExtrapolationPoints);
    const Prediction prediction = method(name).fit(task, seed, {}).predict(task.features(x));
    nll.push_back(-prediction.log_density(task.truth(x)).mean());
    covered.push_back(coverage(prediction.cumulative(task.truth(x)), 0.95));
  }
  return {{"nll", json_number(mean(nll))}, {"coverage", json_number(mean(covered))}};
}

}  // namespace

Unit seed_blocks_unit() {
  return {kName, fmt::format("{} blocks of {}", kBlocks, kSeeds), [] {
            Json rows = Json::array();
            for (int b = 0; b < kBlocks; ++b)
              rows.push_back({{"joint", block("joint-one", b)}, {"linear", block("joint-linear", b)}});
            return rows;
          }};
}

SeedBlocks seed_blocks(const Results& results) {
  SeedBlocks blocks;
  for (const Json& row : results.at(kName)) {
    blocks.joint_nll.push_back(value_of(row.at("joint"), "nll"));
    blocks.joint_coverage.push_back(value_of(row.at("joint"), "coverage"));
    blocks.linear_nll.push_back(value_of(row.at("linear"), "nll"));
    blocks.linear_coverage.push_back(value_of(row.at("linear"), "coverage"));
  }
  return blocks;
}

Table seed_blocks_table(const SeedBlocks& blocks) {
  Table table{
      "exact_blocks",
      "How much twenty seeds leave to chance: joint learning (one start) and a network with slopes 1 under the "
      "data's prior, means over twenty seeds each.",
      {"seeds", "joint: mean extrapolation NLL", "95 % coverage", "slopes 1: mean extrapolation NLL", "95 % coverage"},
      {}};
  for (std::size_t b = 0; b < blocks.joint_nll.size(); ++b)
    table.rows.push_back({fmt::format("{} to {}", b * kSeeds + 1, (b + 1) * kSeeds),
                          fmt::format("{:.2f}", blocks.joint_nll[b]), fmt::format("{:.2f}", blocks.joint_coverage[b]),
                          fmt::format("{:.2f}", blocks.linear_nll[b]),
                          fmt::format("{:.2f}", blocks.linear_coverage[b])});
  return table;
}

}  // namespace dma::reproduce
