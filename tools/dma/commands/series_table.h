// A series from a table, step by step, and what was found of it as a table, JSON and a picture.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "engine/support/json.h"
#include "models/series/series_choice.h"
#include "tools/dma/io/series_time.h"
#include "tools/dma/pictures/figure.h"

namespace dma {

struct SeriesTable {
  std::string name;  // of the column
  std::string time_name = "step";
  SeriesTime time;                            // of the steps
  std::vector<std::optional<double>> values;  // one for each step; none: missing
  std::vector<SeriesInput> inputs;            // of each step, and of `ahead` more
  std::size_t ahead = 0;                      // rows after the last value, which say what inputs will be

  bool has_unread_columns = false;            // the last column was taken, and there are others

  std::size_t missing() const;
};

// Rows are one step apart or, with a column of times, as far as those say: steps that have no row have no value. The
// values are those of `column`, or of the last one. Without `time`, a first column of dates is the time.
SeriesTable read_series(const std::filesystem::path& file, const std::string& column, const std::string& time,
                        const std::vector<std::string>& inputs);

// What a value is not below with a probability of 97.5 %, 50 % and 2.5 %, at every step.
struct SeriesBand {
  std::vector<double> low, middle, high;
};
SeriesBand band_of(const Smoothed& found);

std::string series_csv(const SeriesTable& table, const Smoothed& found, const SeriesBand& band);
Json series_json(const SeriesTable& table, const SeriesChoice& choice, const Smoothed& found, const SeriesBand& band);
// A page with the picture, the models, the unusual steps and the forecast.
std::string series_page(const SeriesTable& table, const SeriesChoice& choice, const Smoothed& found,
                        const SeriesBand& band, const std::string& command);
plot::Figure series_figure(const SeriesTable& table, const SeriesBand& band);

}  // namespace dma
