// One network fitted to one of the paper's regression tasks, scored as the paper scores it (App. E and G).
#pragma once

#include <string>
#include <vector>

#include "models/network/bnn.h"
#include "tools/dma/io/paper_tasks.h"

namespace dma::validation {

struct PaperRun {
  double epochs = 0;
  double train_nll = 0;           // mean negative log predictive density of the training targets after the last epoch
  double extrapolation_nll = 0;   // of the noise-free truth at 60 points beyond the data
  double coverage_deviation = 0;  // mean over levels of (fraction of those points inside central intervals - level)
  double coverage_95 = 0;         // share inside the 95 % interval
  double refused = 0, replaced = 0;  // messages
  double seconds = 0;
};

// `low`, `high`: the ends of the data, beyond which 30 evenly spaced points on each side reach 1.5 further.
PaperRun run_paper_task(const PaperTask& task, double low, double high, const std::string& method, std::uint64_t seed,
                        const LearnOptions& fit);

// By linear interpolation between order statistics.
double quantile(std::vector<double> values, double probability);

}  // namespace dma::validation
