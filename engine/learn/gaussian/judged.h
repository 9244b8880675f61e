// Rows held out. What a graph has learned flatters it on the rows that it learned: leverage leaves a row out of the
// last linear step, but the rows have chosen where that step is taken. Where there are not many more rows than scalars,
// graphs are therefore learned from a part of the rows too, in turns, and what they say of the others decides: sizes,
// tails and scale of the noise, fractions of a mixture and every claim.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "engine/learn/gaussian/mixture.h"

namespace dma {

inline constexpr Index kFewestToHoldOut = 100;  // four fifths of fewer say too little of what all of them teach
inline constexpr Index kMostTrialRows = 10000;  // rows that a graph learns from in a trial
// With so many rows for every scalar leverage leaves rows out as well.
inline constexpr Index kRowsPerScalar = 16;

// Time that is expected, for a graph of so many scalars: to learn one to try it, and for all that is learned after
// trials that take so long.
double usual_trial_seconds(const RowData& data, Index scalars);
double seconds_after_trials(double trial, const RowData& data, Index scalars, std::size_t members = 1,
                            bool judges = true);

// When learning is expected to end, for those who are told of its stages.
class ExpectedEnd {
 public:
  void after(double seconds);
  // Control that tells the seconds left with every stage, as they are expected then. This must outlive it.
  LearnControl told(const LearnControl& control) const;

 private:
  std::chrono::steady_clock::time_point end_ = {};
};

class Judged {
 public:
  Judged() = default;
  // Folds of a random order of the rows, so many of them that there are enough rows held out. A trial learns one member
  // with constant noise, and bounds the rows it learns from. Graphs of different folds are different draws.
  Judged(const std::shared_ptr<const GraphFamily>& family, GraphMixtureOptions options, const GraphChoice& choice,
         const RowData& data, bool trial);

  std::size_t parts() const { return parts_.size(); }
  bool has_learned_all(Index rows) const;             // true if all rows not held out were learned
  void learn_as(const GraphMixtureOptions& options);  // members, noise model and simple graph from now on
  // So many parts from the first one on. False: stopped.
  bool learn(const RowData& data, const LearnControl& control, const std::string& what, std::size_t first,
             std::size_t count);
  // Log density of every row that so many trials hold out, with the tails that suit them, and its weight.
  Matrix scores(const RowData& data, std::size_t count, bool tails) const;
  // Starts of graphs that learn all rows: from those of the first part, if they read the same columns.
  std::vector<SharedState> starts(const SharedModel& model, Index rows) const;
  HeldOut beliefs(const RowData& data, std::size_t members) const;

 private:
  struct Part {
    std::vector<Index> held, learned;
    std::shared_ptr<GraphMixture> mixture;
  };
  std::vector<Part> parts_;
};

}  // namespace dma
