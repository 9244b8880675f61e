// The learning of `dma fit`: from a table, or for a graph of one's own.
#pragma once

#include <string>

#include "tools/dma/fit/fit_request.h"
#include "tools/dma/fit/fit_team.h"
#include "tools/dma/fit/learn.h"
#include "tools/dma/fit/stage_seconds.h"

namespace dma {

// The end of learning, beside what was learned.
struct FitEnd {
  int signal = 0;                // that came meanwhile; 0: none
  bool has_checkpoint = true;    // after an interruption
  std::string resume_line = {};  // the command that goes on; empty: it cannot
  StageSeconds seconds = {};
};

// The command that goes on with this fit from its checkpoint.
std::string resume_line(const FitRequest& request);

// The rows that were read come with the model.
Learned learn_table(const FitRequest& request, const FitTeam& team, TrainingData& data, FitEnd& end);
Learned learn_graph(const FitRequest& request, const FitTeam& team, TrainingData& data, FitEnd& end);

}  // namespace dma
