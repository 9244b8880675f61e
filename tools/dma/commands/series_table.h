// Series from a table, step by step, and their smoothed values as a table, JSON, a page and a picture.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/support/json.h"
#include "models/series/series_choice.h"
#include "tools/dma/io/series_time.h"
#include "tools/dma/pictures/figure.h"

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

// Quantiles of 2.5 %, 50 % and 97.5 % of the value at each step.
struct SeriesBand {
  std::vector<double> low, middle, high;
};

struct SmoothedTable {
  SeriesTable table;
  SeriesChoice choice;
  Smoothed found;
  SeriesBand band;

  SmoothedTable(SeriesTable series, SeriesChoice chosen, std::size_t forecast);
};

// With the name of a key, its column is the first; the columns of states, which depend on the model, are left out.
std::string series_csv(std::span<const SmoothedTable> all, const std::string& key);
Json series_json(const SmoothedTable& series);
// A page with the picture, models, inputs, unusual steps and forecast of each series.
std::string series_page(std::span<const SmoothedTable> all, const std::string& command);
plot::Figure series_figure(std::span<const SmoothedTable> all);

}  // namespace dma
