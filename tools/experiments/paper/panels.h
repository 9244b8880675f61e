// Panels that several experiments draw.
#pragma once

#include "tools/dma/pictures/figure.h"
#include "tools/experiments/paper/experiment.h"

namespace dma::reproduce {

// Data, true function (dashed), mean and two standard deviations of a unit that kept its picture; verticals at the ends
// of the data.
plot::Panel predictive_panel(const Task& task, const Json& result, const std::string& title, std::size_t output = 0);

// The predictives of some methods on the data of the first seed.
plot::Figure predictive_figure(const Options& options, const Results& results, const std::string& title,
                               const std::string& task, const std::vector<std::string>& methods);

// Training NLL against epochs of units that kept their curve; values above `clip` are drawn at it (the paper's pictures
// clip at 8, where the curves cannot be told apart).
plot::Panel training_panel(const std::string& title, const std::vector<std::pair<std::string, const Json*>>& runs,
                           double clip = 3);

// Coverage against level of units, with the diagonal.
plot::Panel coverage_panel(const std::string& title, const std::vector<std::pair<std::string, const Json*>>& runs,
                           const std::string& where);

// One colour per line, in a fixed order.
plot::Colour colour(std::size_t index);

}  // namespace dma::reproduce
