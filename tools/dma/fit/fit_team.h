// A fit that several processes share.
#pragma once

#include <filesystem>
#include <optional>
#include <thread>

#include "tools/dma/fit/fit_request.h"
#include "tools/dma/fit/training_data.h"
#include "tools/dma/io/interrupt.h"
#include "tools/dma/io/processes.h"

namespace dma {

class FitTeam {
 public:
  // Joins the other processes, if mpirun started any. All but the first are then quiet and write nothing; the default
  // is one worker per process. An Error for a request that only one process can fulfil.
  explicit FitTeam(FitRequest& request);

  bool is_shared() const { return group_.size() > 1; }
  void refuse(const char* what) const;  // an Error where the fit is shared
  // Puts the team into the options. Learning by messages keeps the rows of the workers of this process only.
  void partition(const FitRequest& request, const BnnOptions& network, LearnOptions& options, TrainingData& data) const;
  // While it lives, the first process tells how to go on if the fit is stopped: mpirun stops all when one of them dies.
  std::optional<std::jthread> warn_when_stopped(const InterruptWatch& interrupt,
                                                const std::filesystem::path& checkpoint,
                                                const std::string& resume_line) const;
  int largest(int value) const { return group_.largest(value); }
  const ProcessGroup& group() const { return group_; }
  void leave() { group_.leave(); }

 private:
  ProcessGroup group_;
};

}  // namespace dma
