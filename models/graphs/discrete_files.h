// Bayesian networks and Markov random fields in two standard file formats, read as graphs of categorical variables.
//
//  BIF  network x { } variable HR { type discrete [ 3 ] { LOW, NORMAL, HIGH }; }
//       probability ( HR | CATECHOL ) { (NORMAL) 0.05, 0.9, 0.05; (HIGH) 0.01, 0.09, 0.9; }
//  UAI  MARKOV (or BAYES), the number of variables, their numbers of values, the scopes of the functions, their tables
//
// Files contain rounded probabilities: rows whose sum is near 1 are normalised.
#pragma once

#include <span>
#include <string_view>

#include "models/graphs/graph_file.h"

namespace dma {

// An Error gives the line and the text found: "line 12: ...".
GraphFile parse_bif(std::string_view text, std::span<const GivenText> given = {});
GraphFile parse_uai(std::string_view text, std::span<const GivenText> given = {});

}  // namespace dma
