// A fit of a mixture while it runs, for the files that implement it.
#pragma once

#include <mutex>
#include <vector>

#include "engine/learn/gaussian/mixture.h"

namespace dma {

struct GraphMixture::Fitting {
  RowData data;
  SolverForm form;
  const LearnControl& control;
  OnEpoch on_epoch;
  HeldOut held = {};
  std::vector<RowBeliefs> plain = {}, weighted = {};  // left out, by member
  RowBeliefs simple = {};
  double simple_score = 0;     // log density of the judged rows
  double simple_evidence = 0;  // with constant noise
  std::size_t jobs = 1;        // threads per member
  std::mutex mutex = {};       // guards the members, on_epoch and stopped while members are learned
  bool stopped = false;

  bool is_stopped() {
    const std::lock_guard lock(mutex);
    return stopped;
  }
  std::unique_ptr<Curvature> curvature() const {
    auto own = form.curvature();
    own->use_threads(jobs, control.team);
    if (control.on_stage) own->watch([this](double fraction) { control.on_stage({"all rows", fraction}); });
    return own;
  }
};

// Members that are learned at the same time.
std::size_t members_at_once(const SolverForm& form, const LearnControl& control, std::size_t members);

// Beliefs about some rows to their places among all; with their noise or without.
void put(const RowBeliefs& some, const std::vector<Index>& which, RowBeliefs& all, bool with_noise = true);
RowBeliefs no_beliefs(Index rows, Index outputs);

}  // namespace dma
