// Smoothed series as text, a table, JSON, a page and a picture.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/support/json.h"
#include "models/series/series_choice.h"
#include "tools/dma/commands/series_table.h"
#include "tools/dma/pictures/figure.h"

namespace dma {

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
// A page with the picture, models, inputs, unusual steps and forecast of each series.
std::string series_page(std::span<const SmoothedTable> all, const std::string& command);
// With the name of a key, each series has its value above it.
void print_series(std::span<const SmoothedTable> all, const std::string& key);
// With the name of a key, series by its values; otherwise the only one.
Json series_json(std::span<const SmoothedTable> all, const std::string& key);
plot::Figure series_figure(std::span<const SmoothedTable> all);

}  // namespace dma
