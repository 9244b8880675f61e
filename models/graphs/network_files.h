// Bayesian networks and Markov random fields in the formats of other programs, read as graphs of categorical variables.
//
//   BIF  network x { } variable HR { type discrete [ 3 ] { LOW, NORMAL, HIGH }; }
//        probability ( HR | CATECHOL ) { (NORMAL) 0.05, 0.9, 0.05; (HIGH) 0.01, 0.09, 0.9; }
//   UAI  MARKOV (or BAYES), the number of variables, their numbers of values, the scopes of the functions, their tables
//
// Rows of probabilities are rounded by those who wrote them: a sum that is near 1 is made 1.
#pragma once

#include <span>
#include <string_view>

#include "models/graphs/graph_file.h"

namespace dma {

// An Error says the line and what is there: "line 12: ...".
GraphFile parse_bif(std::string_view text, std::span<const GivenText> given = {});
GraphFile parse_uai(std::string_view text, std::span<const GivenText> given = {});

}  // namespace dma
