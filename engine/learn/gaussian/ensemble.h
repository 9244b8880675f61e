// Graphs of one family learned from rows: learning chooses relevance of inputs, smoothing, sizes and the number of
// members, then learns a mixture of them (mixture.h), which rows held out judge (judged.h).
#pragma once

#include <string>

#include "engine/learn/gaussian/judged.h"

namespace dma {

struct EnsembleOptions {
  GraphMixtureOptions mixture = {};  // 0 members: as many as take little time, up to four
  bool choose_relevance = true, choose_smoothing = true, choose_sizes = false;
  bool hold_out = true;  // judge by rows held out where leverage would flatter; otherwise always by leverage
};

class Ensemble {
 public:
  Ensemble(GraphFamily family, EnsembleOptions options);

  // Chooses the graph and the number of members, and learns the graphs that hold rows out; fit() then takes the same
  // data. Without it fit() begins with it. True: nothing but a first epoch was learned before, and learning begins
  // anew.
  bool prepare(const RowData& data, const LearnControl& control = {});
  GraphMixtureReport fit(RowData data, const LearnControl& control = {}, const GraphMixture::OnEpoch& on_epoch = {});

  GraphMixture& mixture() { return mixture_; }
  const GraphMixture& mixture() const { return mixture_; }
  const EnsembleOptions& options() const { return options_; }
  const std::string& size_reason() const { return size_reason_; }  // why these sizes; empty: they were given
  void restore(GraphMixture::Memory memory, std::string size_reason) {
    mixture_.restore(std::move(memory));
    size_reason_ = std::move(size_reason);
  }

 private:
  std::shared_ptr<const GraphFamily> family_;
  EnsembleOptions options_;
  GraphMixture mixture_;
  std::string size_reason_;
  bool prepared_ = false;
  Judged judged_;
  double trial_seconds_ = 0;  // time that a trial takes to learn a graph
  ExpectedEnd end_;
};

}  // namespace dma
