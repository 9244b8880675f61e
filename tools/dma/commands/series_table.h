// Series from a table, step by step.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "models/series/state_space.h"
#include "tools/dma/io/series_time.h"

namespace dma {

struct SeriesTable {
  std::string key;   // value of the key column; empty: all rows are one series
  std::string name;  // name of the column of values
  std::string time_name = "step";
  SeriesTime time;                            // times of the steps
  std::vector<std::optional<double>> values;  // one per step; none: missing
  std::vector<SeriesInput> inputs;            // inputs of each step, and of `ahead` more
  std::size_t ahead = 0;                      // rows after the last value, which have inputs alone

  bool has_unread_columns = false;  // the last column was taken, and there are others

  std::size_t missing() const;
};

// Names of columns.
struct SeriesColumns {
  std::string values = {};  // empty: the last one
  std::string time = {};    // empty: the first one if it holds dates, otherwise none
  std::string key = {};     // rows with equal cells are one series; empty: all rows are
  std::vector<std::string> inputs = {};
};

// One series, or one per key in the order of their first rows. Rows are one step apart or, with a column of times, as
// many steps as those say: steps without a row have no value.
std::vector<SeriesTable> read_series(const std::filesystem::path& file, const SeriesColumns& named);

}  // namespace dma
