// Models on the data of posteriordb: two of hidden categories, against the means and standard deviations of its
// reference draws (10,000 each), and one of varying effects, against quadrature.
#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <cmath>
#include <map>
#include <numbers>
#include <string>
#include <vector>

#include "engine/compile/compile.h"
#include "engine/joint/joint.h"
#include "engine/run/run.h"
#include "factors/standard_registry.h"
#include "models/graphs/vectors.h"
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

// radon_mn, county after county: how many houses, and their radon in tenths; negative: on the first floor.
constexpr int kHouses[] = {
    4, 52, 3, 7, 4, 3, 14, 4, 10, 6, 5, 4, 6, 14, 4, 2, 4, 12, 63, 3, 9, 6, 2, 9, 14, 105, 6, 5, 3, 11, 5, 4, 4, 3, 7,
    2, 9, 4, 5, 4, 8, 1, 9, 7, 13, 5, 2, 9, 13, 1, 4, 3, 3, 23, 8, 3, 6, 4, 4, 2, 32, 5, 3, 11, 2, 14, 13, 8, 4, 116,
    25, 10, 2, 4, 3, 4, 7, 5, 4, 46, 3, 1, 13, 13, 2};
constexpr int kRadon[] = {
    11, 23, 30, -23, 11, 30, 34, -12, 26, 13, 20, 23, 14, 12, 16, 46, 19, 32, 64, 34, 15, 18, 5, 71, 78, 53, 46, 25,
    29, 82, 8, 43, 30, 14, 32, 30, 15, 15, 19, -3, 60, 45, 41, 22, 55, 69, 18, 23, 13, -19, 7, 67, 17, 20, 55, 24, -13,
    44, -46, -45, -47, -5, 58, 47, 64, -23, 67, -30, 30, 28, 51, 27, 73, 51, 19, 96, 48, 39, 129, 73, 70, 131, -59,
    -144, 61, 96, 69, -26, 68, -41, 102, -57, 44, 14, 19, 43, 21, 40, 9, 35, 23, 97, -1, -48, 17, -148, 130, 38, 41,
    20, 54, 75, 78, 101, 15, 95, 9, 18, 82, 22, 51, 45, 91, -70, 267, 196, 130, 131, 27, -36, 132, -10, 16, -26, 89,
    37, 35, -10, -49, 35, 15, 28, -112, -1, -26, 69, 45, 44, 17, -68, 42, 16, 10, 30, -26, 19, -11, 56, 147, 21, -29,
    92, 21, 43, 26, 68, 37, 27, 29, 48, 45, 15, 37, 35, 213, 15, -18, 97, 12, 81, 55, 36, 52, 66, 33, 34, 83, 45, 46,
    50, 49, 10, 77, 51, 17, 49, -15, 18, 50, 109, 45, 44, 12, 64, 16, 59, 24, 82, 20, 29, -9, 47, 39, 88, 61, 69, 89,
    15, 23, 89, 6, 55, 58, 73, 69, 79, 49, 45, 56, 28, 75, 65, -38, 24, 43, -14, 2, 35, 53, 33, -26, -57, 43, 133, 97,
    -23, 64, 91, 33, 327, 49, 436, 27, 36, 68, 40, -70, 144, 77, 57, 50, 36, -99, 50, -26, 40, 39, 5, 10, 56, 42, 33,
    28, 75, 57, 131, -29, 28, 61, 14, 87, 30, 58, 48, 41, 19, 43, 40, 24, 56, -77, 45, 55, 63, 34, 18, 17, 31, 19, 26,
    87, 27, 150, 26, 27, 21, 47, 16, 31, 87, 57, 42, 31, -8, 48, 26, 73, -30, 85, 29, 80, 34, -22, 29, 60, 17, 39, 113,
    -34, 57, -5, 58, -9, 37, 237, 44, 30, 52, 23, 61, 41, 56, 31, 139, 44, 77, 22, 77, 166, 46, 40, 50, 110, -10, 56,
    20, -17, 47, 48, 31, 27, 47, 19, 40, 40, 16, 44, 32, 25, 37, 86, 91, 35, -49, -23, 47, -29, -38, 16, -9, 31, 37,
    23, 44, 26, 25, 19, 20, 34, 12, 95, 14, 27, 27, 85, 154, 132, 51, 30, 39, 27, 80, 19, 42, 124, 68, 114, 70, -10,
    -46, 18, 11, -11, 15, -14, -29, -21, -114, 161, 6, 6, -14, 17, 14, 16, 72, 29, 10, 102, -44, -30, 34, -43, 126, 40,
    46, 34, 80, 107, 176, -36, 90, 121, 52, -70, 47, 52, 66, 59, 40, 29, -10, -15, -12, -16, 84, 483, -10, 239, 76, 93,
    68, -6, 16, 6, 42, 19, 13, 45, 24, -1, 29, 107, 100, -255, 40, 104, -12, -17, 33, 24, 73, 40, 22, -6, 58, 15, -31,
    40, 22, 31, 45, 50, 29, 25, 21, 110, 46, -14, 93, 65, -12, 92, 31, 107, 81, 22, 241, 122, 82, 43, 158, 109, 63, 55,
    98, 82, 17, -17, 113, 51, -18, 24, -12, 42, 81, 22, 45, 39, 33, 21, 95, 30, 46, 101, 30, 26, 26, -7, 65, 12, 79,
    33, 121, 28, -127, 43, -12, -22, 39, -38, -4, 59, -13, 20, 13, 16, 42, 29, -44, 122, 95, 18, -26, 97, -15, 70, 35,
    39, 36, 37, 41, 71, 50, 56, 43, -17, 11, 69, 28, 28, 13, 39, 22, 63, 36, 32, 13, 36, 53, -102, 13, -29, 23, 26, 56,
    8, 87, 27, 13, 18, -208, 39, 75, 90, 20, -59, 22, 61, 48, 65, 82, 191, 78, 47, 57, -25, 98, 52, 31, 85, 17, 28,
    -43, -37, 37, 32, -44, -61, -35, 115, -18, -13, 41, -12, 104, -22, 103, -21, -194, 115, 21, -92, 33, 13, 23, 253,
    55, 44, 29, 17, 24, 32, 48, 52, 33, 26, 16, 49, 41, 51, 21, 19, 19, 65, 28, 31, 19, 10, 21, 32, 8, 17, 34, 18, 9,
    21, 15, 15, 19, 34, -6, 25, 28, 18, -10, 34, 3, 23, 22, 15, 8, 43, 16, -22, 30, 19, 16, -12, 23, 44, 34, -10, 7,
    35, 10, 55, 16, 9, 25, 25, 24, 47, 32, -8, 44, 46, 16, 40, -23, 17, 88, -17, 15, -19, 112, 16, 47, 55, 12, 37, -73,
    12, 33, 34, 37, 18, -9, 118, 29, -36, 9, 20, 31, 19, 32, 15, -18, 57, 35, 16, 111, 150, 22, 16, 14, 10, 73, 14, 16,
    88, 24, 25, 12, 13, 87, 19, -6, 36, -33, 19, 6, 12, -5, 323, 32, 51, 14, 75, -23, 65, 76, 22, 34, 51, 67, 75, 146,
    84, 51, 20, 71, 38, 102, -27, 58, 51, -11, 34, 27, -16, 19, 52, 87, 74, 30, 85, 16, 37, 38, 45, 107, 46, 81, 16,
    31, 49, 25, 69, 22, -61, 68, -30, 41, 194, 97, 60, 116, 32, 91, 85, -12, -8, 48, 49, -33, 30, 94, -10, 18, 5, 205,
    47, 67, 23, 14, 25, 61, 63, -18, 78, 66, -13, 29, 48, 20, 19, -13, 17, 9, 18, 123, 108, 25, -9, 20, 54, 135, 44,
    11, 19, 16, 103, 22, 66, -26, 39, 30, 34, 99, 38, 60, 86, 67, 39, 48, 50, -58, 139, -103, 94, -6, 117, 48, 73, 48,
    35, -8, 77, -19, 119, 103, 114, 42, 51, 65, 32, 54, 46, -24, 52, 74, 23, 22, 96, 160, 68, 30, 38};

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

// radon: y ~ N(a + b [first floor], sigma) with a and b of the county, (a, b) ~ N(mu, S). Given sigma and S everything
// is normal: the counties' effects, then mu ~ N(0, 10^2), are integrated out in closed form, and the rest on a grid of
// the logarithms of sigma and of the roots of S, and of t = 2 atanh r, r the correlation.
struct RadonOracle {
  struct Moments {
    double mass = 0, first = 0, second = 0;
    void add(double weight, double mean, double variance = 0) {
      mass += weight, first += weight * mean, second += weight * (mean * mean + variance);
    }
    double mean() const { return first / mass; }
    double sd() const { return std::sqrt(second / mass - mean() * mean()); }
  };
  Moments mu[2], sigma, roots[2], r, between, slope;  // `slope` belongs to the last county
  double log_evidence = 0;

  explicit RadonOracle(bool is_correlated) {
    using Eigen::Matrix2d, Eigen::Vector2d;
    struct Alike {  // counties with equally many houses and first-floor measurements
      double counties = 0;
      Vector2d sum = Vector2d::Zero();      // sum of X'y
      Matrix2d squares = Matrix2d::Zero();  // sum of X'y y'X
    };
    std::map<std::pair<int, int>, Alike> all;
    double squares = 0;
    std::size_t next = 0;
    Vector2d last;
    Matrix2d last_x;
    for (const int houses : kHouses) {
      int above = 0;
      last.setZero();
      for (int i = 0; i < houses; ++i, ++next) {
        const double y = std::log(0.1 * std::abs(kRadon[next]));
        above += kRadon[next] < 0;
        last += Vector2d(y, kRadon[next] < 0 ? y : 0), squares += y * y;
      }
      Alike& group = all[{houses, above}];
      group.counties += 1, group.sum += last, group.squares += last * last.transpose();
      last_x << houses, above, above, above;
    }
    const auto log_half_normal = [](double x) {  // density of log x
      return 0.5 * std::log(2 / std::numbers::pi) - 0.5 * x * x + std::log(x);
    };
    constexpr double kSteps[] = {0.03, 0.15, 0.3, 0.6}, kTop = -1270;  // near the largest evidence
    for (double u = -0.44; u < -0.2; u += kSteps[0])
      for (double ta = -2.1; ta < 0; ta += kSteps[1])
        for (double tb = -9; tb < 0.8; tb += kSteps[2])
          for (double t = is_correlated ? -9.6 : 0; t < (is_correlated ? 9.61 : 0.5); t += kSteps[3]) {
            const double s = std::exp(u), a = std::exp(ta), b = std::exp(tb), rho = std::tanh(0.5 * t), w = 1 / (s * s);
            Matrix2d spread;
            spread << a * a, a * b * rho, a * b * rho, b * b;
            const Matrix2d k = spread.inverse();
            Matrix2d information = 0.01 * Matrix2d::Identity();
            Vector2d pull = Vector2d::Zero();
            const double houses = static_cast<double>(next);
            double log_p = -0.5 * houses * std::log(2 * std::numbers::pi * s * s) - 0.5 * squares * w - std::log(100);
            for (const auto& [counts, group] : all) {
              Matrix2d x;
              x << counts.first, counts.second, counts.second, counts.second;
              const Matrix2d p = k + w * x, inverse = p.inverse(), kept = k * inverse;
              log_p -= 0.5 * group.counties * std::log(spread.determinant() * p.determinant());
              log_p += 0.5 * w * w * inverse.cwiseProduct(group.squares).sum();
              information += group.counties * (k - kept * k);
              pull += w * (kept * group.sum);
            }
            const Matrix2d covariance = information.inverse();
            const Vector2d mean = covariance * pull;
            log_p += 0.5 * pull.dot(mean) - 0.5 * std::log(information.determinant());
            log_p += log_half_normal(s) + log_half_normal(a) + log_half_normal(b);
            // LKJ(2): 3 / 4 (1 - r^2), and dr = (1 - r^2) / 2 dt.
            if (is_correlated) log_p += std::log(0.375) - 4 * std::log(std::cosh(0.5 * t));
            const double weight = std::exp(log_p - kTop);
            for (int i = 0; i < 2; ++i) mu[i].add(weight, mean[i], covariance(i, i));
            sigma.add(weight, s), roots[0].add(weight, a), roots[1].add(weight, b);
            r.add(weight, rho), between.add(weight, a * b * rho);
            const Matrix2d inverse = (k + w * last_x).inverse(), kept = inverse * k;
            slope.add(weight, (inverse * w * last + kept * mean)[1],
                      (inverse + kept * covariance * kept.transpose())(1, 1));
          }
    log_evidence = kTop + std::log(sigma.mass * kSteps[0] * kSteps[1] * kSteps[2] * (is_correlated ? kSteps[3] : 1));
  }
};

}  // namespace

// y ~ theta N(mu1, sigma1) + (1 - theta) N(mu2, sigma2), theta ~ beta(5, 5). The means, both N(0, 2) and in ascending
// order, are given the moments of the smaller and the larger of two such; the precisions a prior whose slope at 1
// matches sigma's half-normal.
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
      compile(g, sequential({.tolerance = 0.05, .limit = 300}), standard_registry(), {.method = "ep"});
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

TEST_CASE("posteriordb: radon, intercepts and slopes that vary, apart and together") {
  std::vector<double> y, a;
  std::vector<std::uint32_t> of, intercepts, slopes, centre;
  std::size_t next = 0;
  for (std::uint32_t c = 0; c < std::size(kHouses); ++c) {
    intercepts.push_back(2 * c), slopes.push_back(2 * c + 1), centre.insert(centre.end(), {0, 1});
    for (int i = 0; i < kHouses[c]; ++i, ++next) {
      y.push_back(std::log(0.1 * std::abs(kRadon[next])));
      a.insert(a.end(), {1.0, kRadon[next] < 0 ? 1.0 : 0.0});
      of.insert(of.end(), {2 * c, 2 * c + 1});
    }
  }
  for (const bool is_correlated : {false, true}) {
    CAPTURE(is_correlated);
    Graph g;
    const auto mu = g.variable("mu", 2), effects = g.variable("effects", centre.size());
    const auto seen = g.observed("y", y.size());
    g.factor("gaussian_prior", {mu}, {{"mean", 0.0}, {"variance", 100.0}});
    const FactorId noise = g.factor("gaussian_linear", {{"x", gather(effects, of)}, {"y", seen}},
                                    {{"A", a}, {"variance", 1.0}});
    const auto root = HyperPrior::half_normal(1);
    JointOptions options{.hypers = {hyper("sigma", root, {{noise, "variance", 2}})}};
    VectorFactor spread;
    if (is_correlated) {
      spread = gaussian_vector_noise(g, gather(mu, centre), effects, SpreadMatrix::covariance({1, 0, 0, 1}));
      learn_covariance(options, "spread", spread, root, 2);
    } else {
      for (std::uint32_t k = 0; k < 2; ++k) {
        const FactorId each = g.factor("gaussian_noise", {gather(mu, std::vector(std::size(kHouses), k)),
                                                          gather(effects, k == 0 ? intercepts : slopes)},
                                       {{"variance", 1.0}});
        options.hypers.push_back(hyper("spread.sd" + std::to_string(k), root, {{each, "variance", 2}}));
      }
    }
    const Plan plan = compile(g, joint(options), standard_registry());
    State state(plan);
    state.observe(seen, y);
    const Report report = run(plan, state);
    CAPTURE(report.text());
    CHECK(report.converged());
    const RadonOracle exact(is_correlated);
    const JointPosterior posterior(state);
    const auto of_hyper = [&](const char* name, const RadonOracle::Moments& m) -> Reference {
      return {name, m.mean(), m.sd(), posterior.hyper(name).mean(), posterior.hyper(name).sd()};
    };
    const auto of_element = [&](VariableId v, std::size_t i, const RadonOracle::Moments& m) -> Reference {
      return {g[v].name, m.mean(), m.sd(), state.belief(v).mean(i), state.belief(v).sd(i)};
    };
    std::vector<Reference> all{of_element(mu, 0, exact.mu[0]), of_element(mu, 1, exact.mu[1]),
                               of_element(effects, centre.size() - 1, exact.slope), of_hyper("sigma", exact.sigma),
                               of_hyper("spread.sd0", exact.roots[0]), of_hyper("spread.sd1", exact.roots[1])};
    CHECK(posterior.log_evidence() == doctest::Approx(exact.log_evidence).epsilon(1e-5));
    if (is_correlated) {
      all.push_back(of_hyper("spread.r10", exact.r));
      CHECK(learned_covariance(posterior, "spread", spread)[1] == doctest::Approx(exact.between.mean()).epsilon(0.01));
    }
    check(all, 0.01, 0.01);
  }
}
