// A table learned by its nearest rows: a linear trend and a Gaussian process (neighbour_kernel.h) with a lengthscale
// for every column, of which each row sees the rows next to it. Follows local structure that a network of some units
// smooths over, in time that grows with the rows and not with their cube. All numbers in standardised units.
//
// Lengthscales, signal and noise are those under which rows are most probable given their neighbours; Adam finds them
// on samples of the rows. One lengthscale serves all columns where rows are few. Every row is then predicted by its
// neighbours without itself: these left-out rows decide the tails of the noise and how far the model is to be trusted.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/learn/joint/prediction.h"
#include "engine/learn/stage.h"
#include "models/neighbours/neighbour_kernel.h"

namespace dma {

struct NeighbourOptions {
  std::uint64_t seed = 1;
  std::size_t jobs = 1;  // threads; no result depends on them
  StageWatch on_stage = {};
};

class Neighbours {
 public:
  static constexpr Index kNeighbours = 64;

  struct Output {
    Vector trend;            // of every column, then the constant
    NeighbourKernel kernel;  // of what the trend leaves
    StudentTails tails = {};
    double fraction = 0;  // of a mixture with other models: weight of the predictions
    // Of the trend's weights, which widens predictions away from the rows; none: a trend that is certain.
    Matrix trend_covariance = {};
  };
  struct Memory {
    Matrix rows, targets;
    std::vector<Output> outputs;
    Vector weights = {};  // of the rows; empty: 1 for all
  };

  explicit Neighbours(Memory memory);

  // Whether a table is one for neighbours: enough rows for its columns and few enough numbers to keep.
  static bool suits(Index rows, Index columns, Index outputs);

  struct Fit;
  // A row of weight w counts as w of them.
  static Fit fit(Matrix rows, Matrix targets, const NeighbourOptions& options = {}, Vector weights = {});

  PredictionComponent predict(const Matrix& rows) const;
  // The learned rows, each without itself.
  PredictionComponent left_out(std::size_t jobs) const;
  // More rows to be neighbours; trend, kernel and tails stay.
  void add(const Matrix& rows, const Matrix& targets, const Vector& weights = {});

  // Fractions of a mixture, by output.
  void set_fractions(const Vector& fractions);
  Vector fractions() const;
  void scale_noise(Index output, double factor) {
    memory_.outputs[static_cast<std::size_t>(output)].tails.scale *= factor;
  }
  const Memory& memory() const { return memory_; }

 private:
  void prepare();
  PredictionComponent believed(const Matrix& rows, std::span<const Index> own, std::size_t jobs) const;

  Memory memory_;
  Matrix values_;                    // targets without the trend
  std::vector<NearestRows> search_;  // by output, in its lengthscales
};

struct Neighbours::Fit {
  Neighbours model;
  // Learned rows, each without itself. In tables of few rows the kernel was learned without them too: two halves judge
  // each other; the noise is that of the model. Of large tables a sample, which tells as much of tails and gains;
  // Neighbours::left_out() has all.
  std::vector<Index> judged;
  PredictionComponent left_out;  // of these
  // Nats by which the left-out rows flatter, of every output: one for every number of the kernel that has seen them.
  // Infinite where nothing could be learned.
  Vector flattery;
};

}  // namespace dma
