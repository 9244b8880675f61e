// Measurements between points on manifolds (charts.h), for the joint solver. Each kind gives residuals, which a
// Gaussian prior of mean 0 weights; models/graphs/expressions.h adds both.
//
//   NAME_between   r = log(measured^-1 a^-1 b)             NAME: angle, rotation, pose2, pose3
//   NAME_offset    r = the step from measured to x         a prior
//   poseN_range    r = |position of x - p| - measured      p: N numbers
//   poseN_landmark r = p in the frame of x - measured: N numbers
//   poseN_bearing  r = direction of p in the frame of x - measured: an angle; in space azimuth and elevation
//
// The log of a pose is its position and the log of its rotation. Losses for residuals r in standard deviations: y such
// that |y|^2 is the loss of |r|^2 = s,
//
//   huber   s up to width^2, 2 width sqrt(s) - width^2 beyond
//   cauchy  width^2 log(1 + s / width^2)
#pragma once

#include <vector>

#include "engine/kinds/kind.h"

namespace dma {

std::vector<Kind> pose_kinds();

}  // namespace dma
