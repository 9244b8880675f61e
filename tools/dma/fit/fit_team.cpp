#include "tools/dma/fit/fit_team.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "engine/support/signals.h"
#include "engine/support/text.h"
#include "models/table/deal_rows.h"
#include "tools/dma/io/standard_streams.h"

namespace dma {

FitTeam::FitTeam(FitRequest& request) : group_(ProcessGroup::join()) {
  if (!is_shared()) return;
  if (!request.update.empty()) refuse("--update");
  if (request.settings.max_seconds) refuse("--time");
  if (request.graph.empty() && request.settings.workers.value_or(1) == 1) request.settings.workers = group_.size();
  if (group_.is_first()) return;
  request.writes = false;
  request.quiet = true;
  request.json = false;
}

void FitTeam::refuse(const char* what) const {
  if (is_shared())
    fail("{} is the work of one process, but mpirun started {}; start it without mpirun", what, group_.size());
}

void FitTeam::partition(const FitRequest& request, const BnnOptions& network, LearnOptions& options,
                        TrainingData& data) const {
  if (!is_shared()) return;
  options.team = group_.team(options.workers);
  options.jobs =
      std::max<std::size_t>(1, std::min(options.jobs, network.is_joint() ? options.jobs : options.team->local()));
  if (network.is_joint()) return;
  for (const auto& [option, file] : {std::pair{"--plot", &request.plot}, std::pair{"--report", &request.report}})
    if (!file->empty())
      fail("{}: every process has some of the rows, and the picture is of all; make it without mpirun", option);
  if (!data.known_fingerprint.empty()) return;  // they were read that way
  data.known_fingerprint = data.compute_fingerprint();
  const std::size_t rows = data.rows(), workers = options.workers;
  const auto order = deal_rows(rows, workers, network.seed);
  std::size_t first = 0, count = 0;
  for (std::size_t w = 0; w < options.team->first() + options.team->local(); ++w)
    (w < options.team->first() ? first : count) += Partition::count_examples(w, workers, rows);
  const std::vector<Eigen::Index> own(order.begin() + static_cast<std::ptrdiff_t>(first),
                                      order.begin() + static_cast<std::ptrdiff_t>(first + count));
  data.inputs = data.inputs(own, Eigen::all).eval();
  data.outputs = data.outputs(own, Eigen::all).eval();
  if (data.weights.size() > 0) data.weights = data.weights(own).eval();
  data.rows_elsewhere = rows - count;
}

std::optional<std::jthread> FitTeam::warn_when_stopped(const InterruptWatch& interrupt,
                                                       const std::filesystem::path& checkpoint,
                                                       const std::string& resume_line) const {
  if (!is_shared() || !group_.is_first()) return {};
  return begin_thread([&interrupt, checkpoint, resume_line, count = group_.size()](const std::stop_token& stop) {
    while (!stop.stop_requested() && !interrupt.requested()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (!interrupt.requested()) return;
    std::string line = fmt::format("stopped, by a signal or because one of {} processes died", count);
    if (!checkpoint.empty() && std::filesystem::exists(checkpoint))
      line += fmt::format("; if the epoch cannot be finished, go on from the last checkpoint: mpirun -n {} {}", count,
                          resume_line);
    say(line);
  });
}

}  // namespace dma
