// What `dma fit` says of the table, and the page about the fit.
#pragma once

#include <functional>

#include "models/files/readable_json.h"
#include "tools/dma/fit/fit_request.h"
#include "tools/dma/fit/training_data.h"

namespace dma {

// Lines on standard error about columns and rows; with --columns a line for each column.
void tell_of_columns(const FitRequest& request, const TrainingData& data);

// Where a page is asked for: the JSON of the fit gets its "report", and the page is written.
void write_report(const FitRequest& request, Json& json, const std::function<Json()>& make);

}  // namespace dma
