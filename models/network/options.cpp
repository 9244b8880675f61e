#include "models/network/bnn.h"

#include <cmath>

#include "engine/support/fields.h"
#include "models/network/network_graph.h"
#include "models/table/noise.h"

namespace dma {

void check(const BnnOptions& o) {
  if (o.layers.size() < 2) fail("layers: at least inputs and outputs are expected, {} given", o.layers.size());
  for (const std::size_t width : o.layers)
    if (width == 0 || width > 100000) fail("layers: a width of {} is given; 1 to 100000 is expected", width);
  for (const double slope : o.slopes.values)
    if (!(slope > 0 && slope <= 1)) fail("slopes: {} is given; a number above 0 and at most 1 is expected", slope);
  for (const double noise : o.noise.values)
    if (!(noise > 0) || !std::isfinite(noise)) fail("noise is {}; a positive standard deviation is expected", noise);
  if (!o.levels.empty() && (o.levels.size() != o.layers.front() || o.features != "none"))
    fail("levels: {} numbers of values are given for {} inputs; one for each input is expected, and no feature map",
         o.levels.size(), o.layers.front());
  if (o.members > 1000) fail("members is {}; at most 1000 is expected", o.members);
  if (o.smoothing && (!(*o.smoothing >= 0) || !std::isfinite(*o.smoothing)))
    fail("smoothing is {}; 0 or more is expected", *o.smoothing);
  if (o.choose_width && (!o.is_joint() || o.layers.size() < 3 || !o.priors.empty()))
    fail(
        "choose_width: joint learning chooses hidden layers with priors of its own; {} layers and method \"{}\" are "
        "given: give the widths instead",
        o.layers.size(), o.method);
  if (o.noise_model == NoiseModel::inputs && !o.is_joint())
    fail(
        "noise_model: noise that depends on the inputs is known to joint learning only; use method \"joint\", or "
        "constant noise");
  if (o.noise_model == NoiseModel::inputs && !o.noise.empty() && !o.learn_noise)
    fail(
        "noise_model: the noise is given, and does not depend on the inputs; leave it away to have it learned, or "
        "choose constant noise");
  if (!(o.prior_variance_scale > 0)) fail("prior_variance_scale is {}; it must be positive", o.prior_variance_scale);
  if (!(o.prior_mean_scale >= 0)) fail("prior_mean_scale is {}; it must be 0 or more", o.prior_mean_scale);
  if (!o.priors.empty() && (o.members > 1 || o.priors.size() != o.layers.size() - 1))
    fail("priors: explicit priors need one member and one entry per layer");
}

BnnShape shape_of(const BnnOptions& o) {
  BnnShape shape{.layers = o.layers, .slopes = {}, .bias = o.bias};
  if (o.smoothing) shape.smoothing = *o.smoothing;
  if (!o.is_joint()) shape.smoothing = 0;
  const std::size_t layers = o.layers.size() - 1;
  if (layers > 1) shape.slopes = o.slopes.expanded(layers - 1, "slopes");
  return shape;
}

BnnOptions paper_options(std::vector<std::size_t> layers) {
  return {.layers = std::move(layers), .bias = false, .standardise = false, .method = "dma", .members = 1};
}

void list_fields(Fields& f, BnnOptions& value) {
  f("layers", value.layers);
  f("slopes", value.slopes.values);
  f("noise", value.noise.values);
  f("learn_noise", value.learn_noise);
  std::string noise_model = name_of(value.noise_model);
  f("noise_model", noise_model);
  if (f.is_reading()) value.noise_model = noise_model_named(noise_model);
  DMA_LIST(bias, standardise, prior_mean_scale, prior_variance_scale);
  f("feature_map", value.features);
  f.unless_empty("levels", value.levels);
  DMA_LIST(method, kind_methods, linear_baseline, neighbours, log_inputs, log_target, count_target, members, seed,
           shuffle, fuse, smoothing, choose_width);
}

}  // namespace dma
