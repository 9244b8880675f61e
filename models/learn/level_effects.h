// Columns of many values, such as players or shops: where each value has an effect of its own, and where the slope of
// another column differs by value.
//
//   y = line + a_l + b_l x_j + noise,  l the value of the row,  a ~ N(0, s v_a), b ~ N(0, s v_b)
//
// Effects enter as in models/table/relevance.h, the best one first, while the evidence pays for choosing it. On noise
// none does.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/learn/gaussian/program/row_model.h"
#include "models/learn/table_method.h"

namespace dma {

// Columns of whole numbers, 5 or more, that come back twice on average or more: players, shops and animals may be
// numbered. None where there are many such columns.
std::vector<LevelEffects> possible_identifiers(const Matrix& inputs, const std::vector<std::size_t>& levels);

// Such columns, whose numbers are those of `inputs`, must gain on targets of their own, such as what a model without
// them has left, beside a smooth function of the number: most numbers name nothing.
struct Identifiers {
  std::vector<LevelEffects> columns = {};
  Matrix inputs = {}, targets = {};
};

// `levels`: by input the number of its values, 0 for a column of numbers. Rows are standardised but for values, and
// count by their weights, if they have any. No more effects are returned than can be learned quickly: slopes go first,
// then values that are rare.
std::vector<LevelEffects> level_effects(const Matrix& rows, const std::vector<std::size_t>& levels,
                                        const Matrix& targets, std::uint64_t seed, const Vector& weights = {},
                                        const Identifiers& identifiers = {});

}  // namespace dma
