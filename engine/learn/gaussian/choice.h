// Learning chooses among the graphs of a family: smoothing by evidence, sizes by rows held out.
#pragma once

#include <string>

#include "engine/learn/gaussian/judged.h"

namespace dma {

// The smoothing, of those that the family has, with clearly more evidence than that of the choice. It is sought on a
// random subset of the rows, small enough to take little time, and not at all where even that would take long.
double choose_smoothing(const GraphMixture& mixture, const RowData& data, std::size_t jobs);

struct ChosenSizes {
  GraphChoice choice = {};
  Judged judged = {};       // the trials that chose the sizes
  std::string reason = {};  // one line
  double trial_seconds = 0;
  bool stopped = false;
};

// The largest graph that predicts rows held out better than those before it; folds are added until that is clear. So
// does the smallest one if it reads all inputs, against those that matter, and a deeper one, where the smallest is not
// enough and it is clearly better. `relevance`: of all rows.
ChosenSizes choose_sizes(const std::shared_ptr<const GraphFamily>& family, const GraphMixtureOptions& options,
                         bool smoothing_too, Vector relevance, const RowData& data, const LearnControl& control,
                         ExpectedEnd& end);

}  // namespace dma
