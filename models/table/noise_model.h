// What the noise of a table is taken for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dma {

// The same in all rows; its logarithm linear in the inputs; or, with `choose`, a fit of each kind, shared row by row.
enum class NoiseModel { choose, constant, inputs };

const std::vector<std::string>& noise_models();  // the names, in the order of the values
const std::string& name_of(NoiseModel model);
NoiseModel noise_model_named(std::string_view name);  // an Error lists the names

}  // namespace dma
