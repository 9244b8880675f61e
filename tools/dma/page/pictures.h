// The pictures of a report, each from the part of its JSON that it shows.
#pragma once

#include <string>

#include "tools/dma/page/shown.h"
#include "tools/dma/pictures/figure.h"

namespace dma::report {

plot::Panel agreement_panel(const Json& points, const std::string& target);
plot::Panel residual_panel(const Json& points, const std::string& target);
plot::Panel coverage_panel(const Json& curve);
plot::Panel calibration_panel(const Json& curve);  // of quantiles
plot::Panel reliability_panel(const Json& curve);  // of classes
// One panel per input. Those of one target have one scale, so that steep is steep.
std::vector<plot::Panel> dependence_panels(const Json& curves, const std::string& target);
std::vector<plot::Panel> class_dependence_panels(const Json& classes, const std::string& target);
plot::Panel training_panel(const Json& members, const std::string& quantity, const std::vector<std::string>& names);

// Bars with whiskers; `pointer` is the place of the importance in the JSON. At most `most` inputs.
std::string importance_picture(const Shown& shown, const std::string& pointer, std::size_t most);

// The factor graph of one row: widths of the layers, inputs first; what stands behind the last layer ("noise"), and its
// variable.
struct NetworkGraph {
  std::vector<std::size_t> layers;
  bool bias = true;
  std::string likelihood, observed;
  double smoothing = 0;  // standard deviation of noise on the inputs of hidden layers, over which these are averaged
  double linear = 0;     // fraction of the linear model in the mixture with it
};
std::string graph_picture(const NetworkGraph& network);

}  // namespace dma::report
