#include "tools/dma/fit/shared_table.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "models/table/deal_rows.h"
#include "tools/dma/fit/read_rows.h"
#include "tools/dma/fit/redundant_columns.h"

namespace dma {

namespace {

// The number of rows per process.
std::vector<std::size_t> counts_of(std::size_t own, const ProcessGroup& group, WorkerTeam& team) {
  std::vector<double> counts(group.size()), all(group.size());
  counts[group.rank()] = static_cast<double>(own);
  team.sum(counts, all);
  return {all.begin(), all.end()};
}

bool a_target_is_constant(const Eigen::MatrixXd& targets, WorkerTeam& team) {
  const auto columns = static_cast<std::size_t>(targets.cols());
  std::vector<double> extremes(2 * columns, -std::numeric_limits<double>::infinity());
  for (std::size_t j = 0; j < columns && targets.rows() > 0; ++j) {
    const auto column = targets.col(static_cast<Eigen::Index>(j));
    extremes[j] = column.maxCoeff(), extremes[columns + j] = -column.minCoeff();
  }
  team.largest(extremes);
  for (std::size_t j = 0; j < columns; ++j)
    if (!(-extremes[columns + j] < extremes[j])) return true;
  return false;
}

// Whole numbers modulo 2^64, in pieces whose sums a double holds exactly.
std::uint64_t sum_of(std::uint64_t own, WorkerTeam& team) {
  std::vector<double> pieces, all(4);
  for (int k = 0; k < 4; ++k) pieces.push_back(static_cast<double>(own >> (16 * k) & 0xffff));
  team.sum(pieces, all);
  std::uint64_t sum = 0;
  for (int k = 0; k < 4; ++k) sum += static_cast<std::uint64_t>(all[static_cast<std::size_t>(k)]) << (16 * k);
  return sum;
}

// A row's place among those to learn from, or among those kept aside.
struct RowPlace {
  std::size_t place = 0;
  bool is_held_out = false;
};

std::vector<RowPlace> places_of(const std::vector<std::size_t>& counts, std::size_t rank, Eigen::Index held_out,
                                std::uint64_t seed) {
  const auto all = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  const auto first =
      std::accumulate(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(rank), std::size_t{0});
  const std::vector<Eigen::Index> order = split_rows(static_cast<Eigen::Index>(all), held_out, seed);
  const std::size_t learned = all - static_cast<std::size_t>(held_out);
  std::vector<RowPlace> own(counts[rank]);
  for (std::size_t i = 0; i < all; ++i)
    if (const auto row = static_cast<std::size_t>(order[i]); row >= first && row < first + own.size())
      own[row - first] = i < learned ? RowPlace{i, false} : RowPlace{i - learned, true};
  return own;
}

// Rows of [place, numbers...] in the order of `sorted`, as inputs and outputs.
struct Received {
  std::size_t width;  // bytes of a record
  std::vector<double> numbers;
  std::size_t rows() const { return numbers.size() / width; }
  std::size_t place(std::size_t record) const { return static_cast<std::size_t>(numbers[record * width]); }
  void take(const std::vector<std::size_t>& sorted, std::size_t inputs, Eigen::MatrixXd& x, Eigen::MatrixXd& y) const {
    x.resize(static_cast<Eigen::Index>(sorted.size()), static_cast<Eigen::Index>(inputs));
    y.resize(x.rows(), static_cast<Eigen::Index>(width - 1 - inputs));
    for (std::size_t n = 0; n < sorted.size(); ++n) {
      const double* const row = &numbers[sorted[n] * width + 1];
      for (Eigen::Index j = 0; j < x.cols(); ++j) x(static_cast<Eigen::Index>(n), j) = row[j];
      for (Eigen::Index j = 0; j < y.cols(); ++j) y(static_cast<Eigen::Index>(n), j) = row[x.cols() + j];
    }
  }
};

}  // namespace

std::optional<TrainingData> read_shared_table(const FitRequest& request, const ProcessGroup& group,
                                              const std::function<void(double)>& fraction_read) {
  if (request.numbers_are_classes || !request.weights.empty() || !(request.holdout >= 0 && request.holdout < 1))
    return {};
  const auto team = group.team(group.size());
  const TableSource source(request.data);
  CsvReader reader = source.open();
  reader.watch(fraction_read);
  const auto [columns, targets, has_weights, unnamed] =
      table_columns(source, {.path = request.data, .targets = request.targets, .features = request.features});
  if (has_weights || !unnamed.empty() || reader.has(kIndexName)) return {};  // columns that may be left out
  std::optional<Eigen::MatrixXd> shard = reader.read_shard(columns, group.rank(), group.size());
  if (team->any(!shard)) return {};
  Eigen::MatrixXd& values = *shard;
  const std::vector<std::size_t> counts = counts_of(static_cast<std::size_t>(values.rows()), group, *team);
  const auto rows = static_cast<Eigen::Index>(std::accumulate(counts.begin(), counts.end(), std::size_t{0}));
  if (rows < 2 || a_target_is_constant(values.leftCols(static_cast<Eigen::Index>(targets)), *team)) return {};

  TrainingData data;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < columns.size(); ++i)
    (i < targets ? data.targets : names).push_back(reader.names()[columns[i]]);
  const RedundantColumns idle =
      redundant_columns(values.rightCols(values.cols() - static_cast<Eigen::Index>(targets)), names, team);
  if (idle.kept.empty()) return {};
  data.ignored = idle.text;
  for (const Eigen::Index column : idle.kept) data.features.push_back(names[static_cast<std::size_t>(column)]);
  const Eigen::Index held_out = count_held_out(request.holdout, rows);
  const auto learned = static_cast<std::size_t>(rows - held_out);
  const NetworkSettings model = network_settings(request.settings, data.features.size(), targets, learned);
  if (model.network.is_joint()) return {};

  const std::vector<RowPlace> places = places_of(counts, group.rank(), held_out, request.settings.seed);
  const std::size_t workers = request.settings.workers.value_or(1), each = workers / group.size();
  if (each * group.size() != workers) return {};  // refused when the team is made
  const std::vector<std::size_t> worker_of = workers_of_rows(learned, workers, model.network.seed);
  const std::size_t inputs = data.features.size(), width = 1 + inputs + targets;
  std::vector<std::vector<double>> to_learn(group.size()), to_keep(group.size());
  std::uint64_t sum = 0;
  std::vector<double> record(width);
  for (std::size_t n = 0; n < places.size(); ++n) {
    record[0] = static_cast<double>(places[n].place);
    for (std::size_t j = 0; j < inputs; ++j)
      record[1 + j] = values(static_cast<Eigen::Index>(n), static_cast<Eigen::Index>(targets) + idle.kept[j]);
    for (std::size_t j = 0; j < targets; ++j)
      record[1 + inputs + j] = values(static_cast<Eigen::Index>(n), static_cast<Eigen::Index>(j));
    sum += TrainingData::fingerprint_of_row(places[n].place, places[n].is_held_out, std::span(record).subspan(1));
    auto& to = places[n].is_held_out ? to_keep[0] : to_learn[worker_of[places[n].place] / each];
    to.insert(to.end(), record.begin(), record.end());
  }
  values.resize(0, 0);
  data.known_fingerprint = data.fingerprint_of(learned, sum_of(sum, *team));

  const auto sorted_by = [](const Received& received, const auto& key) {
    std::vector<std::size_t> sorted(received.rows());
    std::iota(sorted.begin(), sorted.end(), std::size_t{0});
    std::ranges::sort(sorted, {}, key);
    return sorted;
  };
  const Received own{width, group.exchange(to_learn)};
  own.take(sorted_by(own, [&](std::size_t r) { return std::pair(worker_of[own.place(r)], own.place(r)); }), inputs,
           data.inputs, data.outputs);
  const Received kept{width, group.exchange(to_keep)};
  kept.take(sorted_by(kept, [&](std::size_t r) { return kept.place(r); }), inputs, data.held_out_inputs,
            data.held_out_outputs);
  data.rows_elsewhere = learned - own.rows();
  return data;
}

}  // namespace dma
