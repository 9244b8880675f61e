// A table learned by its rows: a line and a Gaussian process (neighbour_kernel.h) with a lengthscale for every column.
// Follows local structure that a network of some units smooths over. All numbers in standardised units.
//
// Up to kMostExactRows rows (fewer of many outputs), every row is seen by all others, and kernel and line are chosen by
// evidence (process.h). Above that each row sees the rows next to it, in time that grows with the rows and not with
// their cube. Every row is then predicted by others without itself, with a kernel that was chosen without it: these
// left-out rows decide the tails of the noise and how far the model is to be trusted.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/learn/data.h"
#include "engine/learn/gaussian/prediction.h"
#include "models/neighbours/kernel_choice.h"

namespace dma {

struct NeighbourOptions {
  std::uint64_t seed = 1;
  Vector least_noise = {};  // variance, of every output; empty: kLeastNoiseVariance
  std::size_t jobs = 1;     // threads; no result depends on them
  StageWatch on_stage = {};
};

class Neighbours {
 public:
  static constexpr Index kMostExactRows = 2000, kNeighbours = 64;

  struct Output {
    Vector trend;            // coefficients of the line: one per column, then the constant
    NeighbourKernel kernel;  // process of what the trend leaves
    StudentTails tails = {};
    double fraction = 0;  // weight of the predictions in a mixture with other models
    // Covariance of the coefficients, which widens predictions away from the rows; empty: the trend is certain.
    Matrix trend_covariance = {};
  };
  struct Memory {
    Matrix rows, targets;
    std::vector<Output> outputs;
    Vector weights = {};  // one per row; empty: 1 for all
  };

  explicit Neighbours(Memory memory) : Neighbours(std::move(memory), {}) {}

  // True if every row is seen by all others.
  static bool is_exact(Index rows, Index outputs);
  // True if a table has enough rows for its columns and few enough numbers to keep.
  static bool suits(Index rows, Index columns, Index outputs);

  struct Fit;
  // A row of weight w counts as w of them.
  static Fit fit(Matrix rows, Matrix targets, const NeighbourOptions& options = {}, Vector weights = {});

  PredictionComponent predict(const Matrix& rows) const;
  // Predictions of all learned rows, each left out, for a table that is not exact; for others see Fit::left_out.
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
  Neighbours(Memory memory, std::vector<TableProcess> processes);
  PredictionComponent believed(const Matrix& rows, std::span<const Index> own, std::size_t jobs) const;

  Memory memory_;
  std::vector<TableProcess> processes_;  // by output, where all rows are seen; otherwise
  Matrix values_;                        // targets without the line
  std::vector<NearestRows> search_;      // and, by output, rows in its lengthscales
};

struct Neighbours::Fit {
  Neighbours model;
  // Learned rows, each predicted without itself by a kernel chosen without it; the noise is that of the model. In large
  // tables they are rows that did not choose the kernel, or a sample of these.
  std::vector<Index> judged;
  PredictionComponent left_out;  // predictions of the judged rows
  std::vector<bool> is_learned;  // by output; false: the line leaves nothing to learn
};

}  // namespace dma
