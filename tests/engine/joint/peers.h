// Small public data sets of posteriordb; larger ones are rats.csv and kids.csv.
#pragma once

#include <vector>

namespace dma::joint_test {

// Effects of coaching in eight schools, and their standard errors.
inline const std::vector<double> kSchoolEffects = {28, 8, -3, 7, -1, 1, 18, 12};
inline const std::vector<double> kSchoolErrors = {15, 10, 16, 11, 9, 11, 10, 18};

// Plates of seeds: how many germinated, of how many; kind of seed, of extract.
inline const std::vector<double> kGerminated = {
    10, 23, 23, 26, 17, 5, 53, 55, 32, 46, 10, 8, 10, 8, 23, 0, 3, 22, 15, 32, 3};
inline const std::vector<double> kSeeds = {
    39, 62, 81, 51, 39, 6, 74, 72, 51, 79, 13, 16, 30, 28, 45, 4, 12, 41, 30, 51, 7};
inline const std::vector<double> kSeedKind = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
inline const std::vector<double> kSeedExtract = {0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1};

// A curve at eleven places, and counts of it.
inline const std::vector<double> kCurveAt = {-10, -8, -6, -4, -2, 0, 2, 4, 6, 8, 10};
inline const std::vector<double> kCurve = {
    4.75906, 1.59423, 2.99548, 5.27501, 1.66472, 2.24347, 2.8914, 4.08681, 4.60588, 0.802364, 3.92136};
inline const std::vector<double> kCurveCounts = {40, 37, 29, 12, 4, 3, 9, 19, 77, 82, 33};

}  // namespace dma::joint_test
