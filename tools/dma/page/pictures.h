// The pictures of a report, each from the part of its JSON that it shows.
#pragma once

#include <string>

#include "tools/dma/page/shown.h"
#include "tools/dma/pictures/figure.h"

namespace dma::report {

plot::Panel agreement_panel(const Json& points, const std::string& target);
plot::Panel residual_panel(const Json& points, const std::string& target);
plot::Panel coverage_panel(const Json& curve);
plot::Panel calibration_panel(const Json& curve);  // calibration of quantiles
plot::Panel reliability_panel(const Json& curve);  // reliability of class probabilities
// One panel per input. Panels of one target have one scale, so that steep is steep.
std::vector<plot::Panel> dependence_panels(const Json& curves, const std::string& target);
std::vector<plot::Panel> class_dependence_panels(const Json& classes, const std::string& target);
plot::Panel training_panel(const Json& members, const std::string& quantity, const std::vector<std::string>& names);

// Bars with whiskers of the first twenty inputs; `pointer` is the place of the importance in the JSON.
std::string importance_picture(const Shown& shown, const std::string& pointer);

}  // namespace dma::report
