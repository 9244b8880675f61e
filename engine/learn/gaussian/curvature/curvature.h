// The Gaussian over all shared scalars at one linearisation: precision L = diag lambda + J^T S^-1 J, S the noise
// variance of every row and output, or for classes with their curvature H in place of S^-1. Two forms of one thing: P x
// P (primal) or NK x NK (dual, by the kernel matrix; without classes); both are exact.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "engine/learn/gaussian/curvature/targets.h"
#include "engine/learn/gaussian/curvature/tiles.h"
#include "engine/learn/worker_team.h"

namespace dma {

// Least fraction of a row's prediction that is owed to the other rows: less is rounding.
inline constexpr double kLeastOneMinusLeverage = 1e-14;
// Rows that are linearised at once: their gains stay in the cache's reach, a product with them runs at full speed.
inline constexpr Index kRowsPerBlock = 512;

class Curvature {
 public:
  virtual ~Curvature() = default;

  // Threads, on which no result depends, and workers that share the rows, each its own blocks of them; by default there
  // is one of each. All processes of a team have all rows: they are small beside the matrices made of them.
  void use_threads(std::size_t jobs, std::shared_ptr<WorkerTeam> team = nullptr);
  // Told of the fraction of the rows that is done, in every pass over them.
  void watch(std::function<void(double)> told) { told_ = std::move(told); }

  // Linearises at m. Afterwards residuals() and gradient() = J^T S^-1 r are of this m.
  virtual void assemble(const RowModel& model, const RowData& data, const Vector& m, const Vector& lambda,
                        const Vector& noise) = 0;
  // The model and the data it was assembled from must outlive what it is asked; these live as long as it.
  void keep(std::shared_ptr<const RowData> data) { kept_ = std::move(data); }
  const Vector& residuals() const { return residuals_; }
  const Vector& gradient() const { return gradient_; }

  // (L + mu diag lambda)^-1 g.
  virtual Vector step(const Vector& g, double mu) = 0;
  // log |L| - sum log lambda, and tr(L^-1 J^T S^-1 J): how many scalars the rows determine.
  virtual double log_determinant_gain() = 0;
  virtual double effective_scalars() = 0;
  // By scalar, 1 - lambda_i (L^-1)_ii: 1 where the rows alone determine it, 0 where they say nothing of it. They sum to
  // effective_scalars(); in the dual of many rows they are estimates, the same for the same numbers.
  virtual Vector determined() = 0;
  // 1 - h with h = a^T L^-1 a / s, for every row and output: the fraction of its prediction that a row does not make
  // itself. The h sum to effective_scalars(). In the dual all digits are right however near h is to 1.
  virtual Vector one_minus_leverage() = 0;
  // a^T L^-1 a for other rows, linearised at the same m.
  virtual Vector variances(const Matrix& rows) = 0;
  // The lower C of L = C C^T; empty in the dual.
  virtual Matrix precision_factor() { return {}; }

 protected:
  ThreadPool& pool() { return *pool_; }
  Vector residuals_, gradient_;
  std::shared_ptr<const RowData> kept_ = {};
  std::shared_ptr<ThreadPool> pool_ = std::make_shared<ThreadPool>(1);
  std::shared_ptr<WorkerTeam> team_ = local_team(1);
  std::function<void(double)> told_ = {};
};

std::unique_ptr<Curvature> make_primal();
std::unique_ptr<Curvature> make_dual();

}  // namespace dma
