#include "tools/dma/commands/series_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>
#include <unordered_map>

#include "engine/support/text.h"
#include "tools/dma/fit/mixed_table.h"
#include "tools/dma/io/csv_text.h"

namespace dma {

namespace {

std::optional<double> value_of(double cell) { return std::isnan(cell) ? std::nullopt : std::optional(cell); }

// The values of two rows of one step, as rounding of times makes them, are averaged.
void place_values(const Eigen::VectorXd& cells, std::span<const std::size_t> steps, SeriesTable& table) {
  table.values.resize(steps.empty() ? 0 : steps.back() + 1);
  double count = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto value = value_of(cells[static_cast<Eigen::Index>(i)]);
    std::optional<double>& now = table.values[steps[i]];
    count = now ? count : 0;
    if (value) now = now.value_or(0) + (*value - now.value_or(0)) / ++count;
  }
}

// Steps without a row have no value, so their inputs do not matter and are 0.
void place_inputs(const std::string& where, const Eigen::MatrixXd& cells, std::span<const std::size_t> steps,
                  SeriesTable& table) {
  for (std::size_t j = 0; j < table.inputs.size(); ++j) {
    table.inputs[j].values.resize(table.values.size());
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const double cell = cells(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j));
      if (std::isnan(cell))
        fail("{}, row {}: the input '{}' is missing; fill it in, or delete the row", where, i + 1,
             table.inputs[j].name);
      table.inputs[j].values[steps[i]] = cell;
    }
  }
  while (!table.inputs.empty() && !table.values.empty() && !table.values.back()) {
    table.values.pop_back();
    ++table.ahead;
  }
}

bool begins_with_date(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string header, line;
  return std::getline(in, header) && std::getline(in, line) &&
         is_date(unquoted(line.substr(0, line.find_first_of(",;\t"))));
}

// Columns that are read, each for one use.
struct UsedColumns {
  const CsvReader& reader;
  std::vector<std::size_t> places;
  std::vector<std::string> uses;

  void add(std::size_t place, const std::string& use) {
    const auto other = std::ranges::find(places, place);
    if (other != places.end())
      fail("'{}': the column '{}' is given both as {} and as {}; name another{}", reader.path().string(),
           reader.names()[place], uses[static_cast<std::size_t>(other - places.begin())], use,
           use == "the values" ? " with --column" : "");
    places.push_back(place);
    uses.push_back(use);
  }
};

// The rows of a key.
struct KeyedRows {
  std::string key;
  std::vector<Eigen::Index> rows;
};

std::vector<KeyedRows> rows_by_key(const MixedTable& cells) {
  std::vector<KeyedRows> groups;
  std::unordered_map<std::string, std::size_t> place_of;
  for (std::size_t i = 0; i < cells.rows(); ++i) {
    const std::string& key = cells.cells[0][i];
    if (key.empty())
      fail("'{}', row {}: the key '{}' is missing; fill it in, or delete the row", cells.path.string(), i + 1,
           cells.names[0]);
    const auto [place, is_new] = place_of.try_emplace(key, groups.size());
    if (is_new) groups.push_back({key, {}});
    groups[place->second].rows.push_back(static_cast<Eigen::Index>(i));
  }
  return groups;
}

}  // namespace

std::vector<SeriesTable> read_series(const std::filesystem::path& file, const SeriesColumns& named) {
  const TableSource source(file);
  const CsvReader reader = source.open();
  UsedColumns used{reader, {}, {}};
  const std::size_t last = reader.names().size() - 1;
  const std::size_t place = named.values.empty() ? last : reader.column(named.values);
  const bool has_key = !named.key.empty();
  const bool has_time = !named.time.empty() || (place != 0 && begins_with_date(file));
  if (has_key) used.add(reader.column(named.key), "the key");
  if (has_time) used.add(named.time.empty() ? 0 : reader.column(named.time), "the time");
  used.add(place, "the values");
  SeriesTable empty;
  empty.name = reader.names()[place];
  for (const std::string& input : named.inputs) {
    used.add(reader.column(input), "an input");
    empty.inputs.push_back({input, {}});
  }
  empty.has_unread_columns = named.values.empty() && used.places.size() < reader.names().size();
  const MixedTable cells = source.read(used.places, has_key);

  const std::size_t time_place = has_key, first = time_place + has_time;
  const Eigen::VectorXd values = cells.numbers_of(first);
  Eigen::MatrixXd inputs(cells.numbers.rows(), std::ssize(named.inputs));
  for (std::size_t j = 0; j < named.inputs.size(); ++j)
    inputs.col(static_cast<Eigen::Index>(j)) = cells.numbers_of(first + 1 + j);
  TableColumn times;
  Eigen::VectorXd numbers;
  double number = 0;
  if (has_time) {
    times = cells.column(time_place);
    empty.time_name = cells.names[time_place];
    if (times.cells.empty() || parse_number(times.cells[0], number)) numbers = cells.numbers_of(time_place);
  }

  std::vector<KeyedRows> groups(1);
  if (has_key) {
    groups = rows_by_key(cells);
  } else {
    groups[0].rows.resize(cells.rows());
    std::iota(groups[0].rows.begin(), groups[0].rows.end(), Eigen::Index{0});
  }
  std::vector<SeriesTable> all;
  for (const auto& [key, rows] : groups) {
    SeriesTable& table = all.emplace_back(empty);
    table.key = key;
    const std::string where =
        fmt::format("'{}'{}", file.string(), has_key ? fmt::format(", {} '{}'", named.key, shown(key)) : std::string());
    std::vector<std::size_t> steps(rows.size());
    std::iota(steps.begin(), steps.end(), std::size_t{0});
    if (numbers.size() > 0) {
      const Eigen::VectorXd own = numbers(rows);
      table.time = SeriesTime::of_numbers(where, {own.data(), rows.size()}, steps);
    } else if (has_time && !rows.empty()) {
      std::vector<std::string> own;
      for (const Eigen::Index row : rows) own.push_back(times.cells[static_cast<std::size_t>(row)]);
      table.time = SeriesTime::of_dates(where, own, steps);
    }
    place_values(values(rows), steps, table);
    place_inputs(where, inputs(rows, Eigen::all), steps, table);
  }
  return all;
}

std::size_t SeriesTable::missing() const {
  return static_cast<std::size_t>(std::ranges::count_if(values, [](const auto& value) { return !value; }));
}

}  // namespace dma
