// Parameters of an estimator, given by name, as the typed settings of the library. A value of another type is an Error
// that names the parameter.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/predict/settings.h"
#include "tools/python/bindings.h"

namespace dma::python {

FitSettings fit_settings(const py::dict& parameters);
GraphModelOptions graph_options(const py::dict& parameters);

}  // namespace dma::python
