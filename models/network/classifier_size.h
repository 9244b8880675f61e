// Size of the classifier that a table can carry, learned in a time that somebody waits for.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace dma {

// One logit tells two classes apart.
constexpr auto logits_for(auto classes) { return classes == 2 ? decltype(classes){1} : classes; }

struct ClassifierSize {
  std::vector<std::size_t> hidden;  // none: the linear model alone
  std::size_t members = 1;
  std::size_t directions = 0;  // number that inputs are reduced to (principal_directions.h); 0: they stay as they are
  std::string reason;          // one line
};

// An epoch takes about N P^2 + P^3 products, for N rows and P weights whatever the number of classes. `hidden` and
// `members` (0: chosen) as asked for; an Error for what memory or time do not allow.
ClassifierSize classifier_size(std::size_t rows, std::size_t inputs, std::size_t classes,
                               const std::optional<std::vector<std::size_t>>& hidden, std::size_t members);

}  // namespace dma
