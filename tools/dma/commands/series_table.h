// A series from a table, step by step, and what was found of it as a table, JSON and a picture.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "models/files/readable_json.h"
#include "models/series/state_space.h"
#include "tools/dma/pictures/gnuplot.h"

namespace dma {

struct SeriesTable {
  std::string name;  // of the column
  std::string time_name = "step";
  double first_time = 1, step = 1;            // time of value t: first_time + t step
  std::vector<std::optional<double>> values;  // one for each step; none: missing

  double time(std::size_t t) const { return first_time + step * static_cast<double>(t); }
};

// Rows are one step apart or, with a column of times, as far as those say: steps that have no row have no value. The
// values are those of `column`, or of the last one.
SeriesTable read_series(const std::filesystem::path& file, const std::string& column, const std::string& time);

std::string series_csv(const SeriesTable& table, const Smoothed& found);
Json series_json(const SeriesTable& table, const StateSpace& model, const Smoothed& found);
plot::Figure series_figure(const SeriesTable& table, const Smoothed& found);

// Bounds of the central 95 % interval of a value.
struct Interval {
  double low = 0, high = 0;
};
Interval interval_at(const Smoothed& found, std::size_t t);

}  // namespace dma
