// Two models of hidden categories on the data of posteriordb, beside the means and standard deviations of its reference
// draws (10,000 each).
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "engine/compile/compile.h"
#include "engine/run/run.h"
#include "factors/standard_registry.h"
#include "schedules/sequential.h"

namespace {

using namespace dma;

// low_dim_gauss_mix, in hundredths.
constexpr int kMixed[] = {
    -359, 312, 355, 157, -361, -257, -255, 346, -327, 321, 74, -220, -136, 225, -270, -356, -342, -247, -177,
    -435, -204, 384, -193, 285, 454, -304, -270, -136, -338, 440, -359, -132, -256, 447, -442, -284, -132, -280,
    -219, -351, -466, 279, -218, -260, -134, -284, -313, 300, -128, -311, -403, 217, -595, 345, 319, -354, -357,
    -329, -317, 302, -193, -163, -297, -379, 185, -137, 202, 281, 398, -75, -327, 326, 354, 232, 214, -251,
    -191, -447, 180, 382, -305, -358, -373, -327, -307, -364, -274, -199, -296, -204, 175, -162, -386, -274,
    240, -216, -198, -66, 257, -369, 352, -331, -383, -176, -222, -428, -261, -208, -537, -306, -385, -224,
    -174, -314, -263, 213, -207, -238, -315, 305, -226, -527, -181, 315, 183, 355, -202, 273, -403, -197, 221,
    -175, 388, -162, -142, -364, -188, -255, 308, 263, -99, -168, -279, -368, -366, -94, -297, -200, -165, -265,
    237, -154, 269, -269, -297, 226, 134, -484, -187, -523, 503, -339, 357, 418, 266, -214, -411, -205, 222,
    182, -329, -349, -111, -212, 489, -167, -413, -264, 181, -287, -196, 267, -97, -277, 257, 306, 298, -208,
    373, -395, 199, -403, -364, 217, -297, -201, -300, 312, -115, -163, -354, 239, -189, 425, -377, -324, -613,
    -220, -298, 274, 191, -425, -207, 403, -264, -344, 328, -242, -410, -288, -385, -256, -287, -263, 182, 364,
    302, 391, -254, -381, 119, -247, 333, 152, 211, -306, -316, 271, 466, 224, -314, -300, -338, 261, -326, 305,
    318, 188, -357, -397, 437, -241, -78, -113, -307, 194, -274, -62, -376, -238, 240, 267, 404, -252, 82, 292,
    342, -260, -107, -330, -287, -298, -273, -362, -303, -209, -403, -392, 392, 302, 257, 436, 383, -294, -316,
    -454, -327, -164, -182, -377, -298, 233, -261, 258, 378, -96, -343, -121, -202, 474, 349, 291, -386, -340,
    -144, -317, -289, -232, -428, 485, -163, 227, 392, -348, 329, -317, 376, -329, 352, -186, -238, -602, 300,
    220, -255, -310, -340, 289, -284, -174, -421, -271, 302, 214, -409, 404, -331, 256, -193, -277, 397, -271,
    -300, 328, -217, 61, -325, -211, 113, -213, -207, -494, 393, 317, 335, -407, 79, -227, -246, -258, -139,
    -345, -307, -156, -255, -202, -337, -346, -342, 506, -203, -426, -245, 243, -390, -319, -134, 312, -207,
    146, -311, 381, -318, -452, 193, -313, 602, -230, -117, -323, 145, -442, -287, -414, -152, 151, -405, -310,
    189, -246, -285, 286, 487, 411, -98, -145, -199, -240, -297, -299, -199, -279, 267, -194, -257, 283, 297,
    -346, -30, 375, -310, -218, 212, 310, -258, -387, -344, 141, 388, 427, 277, -241, 282, -215, 228, -50, -194,
    -381, -124, -299, -423, -416, 177, 252, 168, -376, 138, -460, 211, -25, 306, 259, -281, -398, -328, 314,
    -201, -384, 200, 337, -121, -421, 217, -298, 200, -178, -193, -276, -386, 144, 267, -188, -149, -341, 449,
    -411, 305, -295, 244, -333, -209, -176, 335, -137, -319, 456, -263, -387, -286, 136, -225, -235, 342, 368,
    300, 402, -224, -302, -338, -99, 349, -107, 386, -271, -457, -372, -214, -358, -285, -252, 212, -411, -278,
    347, 223, -202, -368, 164, -285, 400, 294, -306, -392, -273, 291, -391, -242, 173, -274, -224, -481, 264,
    323, 171, -31, 363, 196, -223, -402, 452, -329, -181, -256, 135, 351, -430, 246, 167, 482, 199, -130, -193,
    -141, -371, -327, -380, 253, -351, -136, -207, 399, 234, -266, -318, -340, 227, -135, -291, -124, -234,
    -214, 204, 26, -140, -191, -353, 356, 302, -244, 363, -219, -395, -447, -245, 442, 408, -271, 280, -244,
    -284, -239, 331, -357, -116, 308, -277, -298, -255, 151, 224, 477, 205, -185, -327, 61, -286, 455, -274,
    -171, -248, 337, 2, 353, 466, -299, -340, 224, -358, 363, 360, 245, -424, 248, 265, -199, -433, -401, 260,
    -339, -187, -398, -318, -174, 257, 69, 374, 71, -319, 196, -204, -348, -244, -222, -118, 258, -429, 355,
    -318, 276, -309, 319, 155, 348, -452, 280, 262, -267, -366, -472, 219, 402, -227, -325, -239, 225, -127,
    214, 426, 171, 389, 118, -144, 277, -177, 219, 365, 335, 508, 372, -162, -142, 301, -220, 127, 406, -121,
    -133, -242, 60, 226, -276, -470, -263, -171, 147, 289, -134, 204, 394, -132, 337, 273, -479, -252, -173,
    -357, 191, -198, 468, -116, -422, 238, -204, -101, 104, 337, -288, -178, -188, 433, -118, -193, -236, 74,
    -317, -298, 292, -176, -202, -194, 295, 172, 344, -294, 251, -164, -285, -394, 203, -300, -202, 349, 358,
    290, 328, 282, -169, -256, -182, -209, -244, -458, -279, -476, 211, 242, -362, 313, -379, 309, -396, 336,
    -209, -286, -179, -269, 269, 347, 500, -177, -230, -406, 359, 359, -343, -153, -356, -311, -126, -383, -323,
    -189, 226, 312, -170, 193, 283, 264, -268, -272, -300, 200, -424, 208, -281, -426, 241, -277, 357, -222,
    -325, -300, -272, 305, 220, -280, -264, 443, -326, -172, 281, -391, -370, -217, 470, 110, 232, 497, -149,
    -313, -155, 101, -340, 325, -148, -408, -322, -335, -368, 409, -339, -219, -213, -418, 24, -124, -122, 375,
    -237, 162, -136, -83, -155, 272, -244, 392, -368, -368, -276, -301, 308, -333, 239, -244, 287, -401, 616,
    234, 196, -212, -188, -161, -156, -231, -50, 25, -295, -218, -356, -267, -200, 409, 340, 16, 217, -85, 172,
    275, -185, -213, 239, -259, -109, -524, -284, -315, -297, -474, -111, 281, -261, -317, 290, -215, -380, 301,
    340, 279, -373, -338, -214, -180, -325, -366, 467, -281, -410, -228, 161, -342, -431, -369, 351, -256, 191,
    271, 149, -222, 388, 367, -347, 301, 256, -176, -222, 415, -468, -221, 315, 321, -284, 352, -284, -409, 148,
    -339, 299, -273, 283, 294, 268, -530, -297, 396, -327, -394, 230, 410, 245, 325, 568, 318, 260, -267, -384,
    -54, 266, -251, 325, -428, 291, -508, -132, 330, -369, 199, -177, -198, -104, -158, 150, -117, 343, -252,
    181, -235, -421, -297, -300, -301, -374, 217, -322, 431, -217, 329, -254, -187, 375, -218, -64, -119, 151,
    235, 101, -163, -435, 341, 275, 76};

// hmm_example, in thousandths.
constexpr int kChain[] = {
    3802, 8232, 9390, 7150, 8053, 8353, 9935, 8837, 10803, 7965, 3962, 3988, 3122, 8928, 8862, 7943, 7740, 9530,
    8500, 8552, 1349, 3603, 4415, 1654, 2249, 2194, 8174, 9046, 10848, 8561, 2657, 2927, 4437, 7252, 9417, 7879,
    8518, 10310, 8786, 7845, 8630, 9569, 3445, 9615, 8977, 8969, 9171, 9129, 8037, 8659, 9564, 8888, 7352, 9060,
    8967, 8756, 6563, 8846, 7696, 9109, 2292, 2887, 3093, 2356, 3039, 9923, 9524, 9014, 7739, 9693, 7177, 9160,
    9388, 10141, 8325, 7806, 9603, 8911, 8465, 8744, 7955, 10430, 10696, 10025, 9128, 8655, 8263, 8767, 9255,
    8617, 10276, 8057, 9270, 10187, 7433, 9723, 7242, 7340, 9946, 7894};

std::vector<double> scaled(std::span<const int> numbers, double unit) {
  std::vector<double> out;
  for (const int n : numbers) out.push_back(n * unit);
  return out;
}

struct Reference {
  std::string name;
  double mean, sd, found, found_sd;
};

void check(std::span<const Reference> all, double of_sd, double of_width) {
  for (const Reference& r : all) {
    INFO(r.name, ": ", r.found, " +- ", r.found_sd, " beside ", r.mean, " +- ", r.sd);
    CHECK(std::abs(r.found - r.mean) < of_sd * r.sd);
    CHECK(std::abs(r.found_sd / r.sd - 1) < of_width);
  }
}

}  // namespace

// y ~ theta N(mu1, sigma1) + (1 - theta) N(mu2, sigma2), theta ~ beta(5, 5). The means, both N(0, 2) and in ascending
// order, have the moments of the smaller and the larger of two such; the precisions a prior of the slope that sigma's
// half-normal has at 1.
TEST_CASE("posteriordb: low_dim_gauss_mix, two normals with everything unknown") {
  const std::vector<double> y = scaled(kMixed, 0.01);
  const double apart = 2 / std::sqrt(std::acos(-1.0)), left = 4 * (1 - 1 / std::acos(-1.0));
  Graph g;
  const auto theta = g.variable("theta", 1, "dirichlet(2)"), of = g.variable("of", y.size(), "categorical(2)");
  const auto mu = g.variable("mu", 2), precision = g.variable("precision", 2, "gamma");
  const auto seen = g.observed("y", y.size());
  g.factor("dirichlet_prior", {theta}, {{"concentration", {5.0, 5.0}}});
  g.factor("categorical_draw", {all_to_one(theta), of});
  g.factor("gaussian_prior", {mu}, {{"mean", {-apart, apart}}, {"variance", left}});
  g.factor("gamma_prior", {precision}, {{"shape", 1.0}, {"rate", 1.375}});
  g.factor("normal_mixture", {of, column(mu), column(precision), seen});
  const Plan plan =
      compile(g, sequential({.tolerance = 1e-3, .limit = 300}), standard_registry(), {.method = "ep"});
  State state(plan);
  state.observe(seen, y);
  const Report report = run(plan, state);
  CAPTURE(report.text());
  CHECK(report.converged());
  const Belief means = state.belief(mu), weights = state.belief(theta), widths = state.belief(precision);
  double sigma[2], spread[2];
  for (std::size_t k = 0; k < 2; ++k) {  // E[1 / sqrt(w)] and E[1 / w] of a gamma
    const double rate = widths.mean(k) / widths.variance(k), shape = widths.mean(k) * rate;
    sigma[k] = std::sqrt(rate) * std::exp(std::lgamma(shape - 0.5) - std::lgamma(shape));
    spread[k] = std::sqrt(rate / (shape - 1) - sigma[k] * sigma[k]);
  }
  const Reference all[] = {{"mu1", -2.7335, 0.042, means.mean(0), means.sd(0)},
                           {"mu2", 2.8698, 0.0546, means.mean(1), means.sd(1)},
                           {"sigma1", 1.0281, 0.0314, sigma[0], spread[0]},
                           {"sigma2", 1.0238, 0.0405, sigma[1], spread[1]},
                           {"theta", 0.62155, 0.0155, weights.mean(0, 0), std::sqrt(weights.variance(0, 0))}};
  check(all, 0.05, 0.05);
}

// Two states whose transitions are unknown, y ~ N(mu of the state, 1), mu ~ N(3, 1) and N(10, 1).
TEST_CASE("posteriordb: hmm_example, a hidden chain with unknown transitions and emissions") {
  const std::vector<double> y = scaled(kChain, 0.001);
  const auto steps = static_cast<std::uint32_t>(y.size());
  Graph g;
  const auto rows = g.variable("rows", 2, "dirichlet(2)"), z = g.variable("z", steps, "categorical(2)");
  const auto mu = g.variable("mu", 2), seen = g.observed("y", steps);
  g.factor("dirichlet_prior", {rows}, {{"concentration", {1.0, 1.0}}});
  g.factor("categorical_prior", {gather(z, {0})}, {{"probability", {0.5, 0.5}}});
  for (std::uint32_t t = 1; t < steps; ++t)
    g.factor("learned_table", {{"rows", rows}, {"parent", gather(z, {t - 1})}, {"child", gather(z, {t})}},
             {{"categories", 2.0}});
  g.factor("gaussian_prior", {mu}, {{"mean", {3.0, 10.0}}, {"variance", 1.0}});
  g.factor("mixture", {z, column(mu), seen}, {{"variance", 1.0}});
  const Plan plan =
      compile(g, sequential({.tolerance = 1e-6, .limit = 300, .damping = 0.3}), standard_registry(), {.method = "ep"});
  State state(plan);
  state.observe(seen, y);
  const Report report = run(plan, state);
  CAPTURE(report.text());
  CHECK(report.converged());
  const Belief p = state.belief(rows), means = state.belief(mu);
  const Reference all[] = {{"theta1", 0.66665, 0.101, p.mean(0, 0), std::sqrt(p.variance(0, 0))},
                           {"theta2", 0.073133, 0.0284, p.mean(1, 0), std::sqrt(p.variance(1, 0))},
                           {"mu1", 3.0215, 0.224, means.mean(0), means.sd(0)},
                           {"mu2", 8.8273, 0.111, means.mean(1), means.sd(1)}};
  check(all, 0.05, 0.05);
}
