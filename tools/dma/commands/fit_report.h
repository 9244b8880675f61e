// dma fit --report: the page about a fit.
#pragma once

#include <functional>

#include "models/files/readable_json.h"
#include "tools/dma/fit/fit_request.h"

namespace dma {

// Where a page is asked for: the JSON of the fit gets its "report", and the page is written.
void write_report(const FitRequest& request, Json& json, const std::function<Json()>& make);

}  // namespace dma
