#include <algorithm>
#include <cmath>

#include "engine/learn/joint/curvature.h"
#include "engine/support/dense.h"

namespace dma {

namespace {

constexpr Index kLargestKeptGains =
    Index{1} << 22;  // 32 MB; above, rows are linearised again, which is little beside their products

// Blocks of rows whose gains are there at once while they are added up.
constexpr Index kBlocksAtOnce = 8;

class PrimalCurvature final : public Curvature {
 public:
  void assemble(const RowModel& model, const RowData& data, const Vector& m, const Vector& lambda,
                const Vector& noise) override {
    model_ = &model, data_ = &data, m_ = m, lambda_ = lambda, noise_ = noise;
    factored_ = false;
    information_.setZero(m.size(), m.size());
    gradient_.setZero(m.size());
    residuals_.setZero(data.count());
    keep_ = data.count() * m.size() <= kLargestKeptGains;
    kept_.assign(keep_ ? static_cast<std::size_t>(blocks()) : 0, Matrix());
    if (team_->size() == 1)
      add_blocks(0, blocks(), information_, gradient_);
    else
      add_blocks_of_workers();
    information_.diagonal() += lambda;
  }

  Vector step(const Vector& g, double mu) override {
    Vector x = g;
    if (mu == 0)
      solve_by_factor(factor(), x);
    else
      solve_by_factor(safe_factor(information_, mu * lambda_, pool()), x);
    return x;
  }

  double log_determinant_gain() override { return 2 * log_diagonal(factor()) - sum_of_logs(lambda_); }

  double effective_scalars() override {
    const Matrix inverse = triangular_inverse(factor(), pool());
    return static_cast<double>(lambda_.size()) - (inverse * lambda_.cwiseSqrt().asDiagonal()).squaredNorm();
  }
  Vector determined() override {
    return 1 - lambda_.array() * squared_columns(triangular_inverse(factor(), pool())).array();
  }

  Vector one_minus_leverage() override {
    Vector all = Vector::Zero(data_->count());
    (void)factor();
    for (std::size_t w = 0; w < team_->local(); ++w) {
      const auto [begin, last] = blocks_of(w);
      const Index first = begin;  // clang 14 captures no structured binding
      pool().run(static_cast<std::size_t>(last - first), [&](std::size_t i) {
        const Index block = first + static_cast<Index>(i);
        Matrix again;
        if (!keep_) again = scaled_gains(block);
        const Matrix& gains = keep_ ? kept_[static_cast<std::size_t>(block)] : again;
        const Vector fraction = (1 - squared_solutions(gains).array()).max(1e-12);
        const Index n = rows_of(block);
        for (Index k = 0; k * n < fraction.size(); ++k)
          all.segment(k * data_->rows.rows() + block * kRowsPerBlock, n) = fraction.segment(k * n, n);
      });
    }
    return of_all_workers(std::move(all));
  }

  Vector variances(const Matrix& rows) override {
    Matrix f, gains;
    model_->linearise(m_, rows, f, gains);
    (void)factor();
    return squared_solutions(gains);
  }

  Matrix precision_factor() override { return factor().triangularView<Eigen::Lower>(); }

 private:
  struct Blocks {
    Index first, last;
  };
  Index blocks() const { return (data_->rows.rows() + kRowsPerBlock - 1) / kRowsPerBlock; }
  Index rows_of(Index block) const { return std::min(kRowsPerBlock, data_->rows.rows() - block * kRowsPerBlock); }
  Blocks blocks_of(std::size_t local_worker) const {
    const auto w = static_cast<Index>(team_->first() + local_worker), workers = static_cast<Index>(team_->size());
    return {w * blocks() / workers, (w + 1) * blocks() / workers};
  }

  // S^(-1/2) J of a block; its residuals too if there is a place for them.
  Matrix scaled_gains(Index block, Vector* residuals = nullptr) const {
    Matrix f, gains;
    const Index begin = block * kRowsPerBlock, n = rows_of(block), all = data_->rows.rows();
    model_->linearise(m_, data_->rows.middleRows(begin, n), f, gains);
    for (Index k = 0; k < f.cols(); ++k) {
      if (residuals != nullptr)
        residuals->segment(k * all + begin, n) = data_->targets.col(k).segment(begin, n) - f.col(k);
      gains.middleRows(k * n, n).array().colwise() /= noise_.segment(k * all + begin, n).array().sqrt();
    }
    return gains;
  }

  void add_blocks(Index first, Index last, Matrix& information, Vector& gradient) {
    for (Index begin = first; begin < last; begin += kBlocksAtOnce) {
      const auto count = static_cast<std::size_t>(std::min(kBlocksAtOnce, last - begin));
      std::vector<Matrix> gains(count);
      pool().run(count, [&](std::size_t i) { gains[i] = scaled_gains(begin + static_cast<Index>(i), &residuals_); });
      add_gram(gains, information, pool());
      if (told_) told_(static_cast<double>(begin - first) / static_cast<double>(last - first));
      for (std::size_t i = 0; i < count; ++i) {
        const Index block = begin + static_cast<Index>(i), n = rows_of(block), all = data_->rows.rows();
        Vector scaled(gains[i].rows());
        for (Index k = 0; k * n < scaled.size(); ++k) {
          const auto own = [&](const Vector& stacked) {
            return stacked.segment(k * all + block * kRowsPerBlock, n).array();
          };
          scaled.segment(k * n, n) = own(residuals_) / own(noise_).sqrt();
        }
        gradient += transposed_times(gains[i], scaled);
        if (keep_) kept_[static_cast<std::size_t>(block)] = std::move(gains[i]);
      }
    }
  }

  // The lower triangles of all workers, and their gradients, added in the order of the workers.
  void add_blocks_of_workers() {
    const Index size = m_.size();
    const auto each = static_cast<std::size_t>(size * (size + 1) / 2 + size);
    std::vector<double> parts, total(each);
    parts.reserve(each * team_->local());
    for (std::size_t w = 0; w < team_->local(); ++w) {
      Matrix information = Matrix::Zero(size, size);
      Vector gradient = Vector::Zero(size);
      const auto [first, last] = blocks_of(w);
      add_blocks(first, last, information, gradient);
      for (Index j = 0; j < size; ++j) parts.insert(parts.end(), &information(j, j), &information(j, j) + (size - j));
      parts.insert(parts.end(), gradient.begin(), gradient.end());
    }
    team_->sum(parts, total);
    const double* at = total.data();
    for (Index j = 0; j < size; at += size - j, ++j) std::copy_n(at, size - j, &information_(j, j));
    gradient_ = Eigen::Map<const Vector>(at, size);
    residuals_ = of_all_workers(std::move(residuals_));
  }

  // Numbers of rows, 0 for rows of other processes.
  Vector of_all_workers(Vector own) const {
    if (team_->is_whole()) return own;
    const auto size = static_cast<std::size_t>(own.size());
    std::vector<double> parts(team_->local() * size, 0.0);
    std::copy(own.begin(), own.end(), parts.begin());
    team_->sum(parts, {own.data(), size});
    return own;
  }

  const Matrix& factor() {
    if (!factored_) factor_ = safe_factor(information_, Vector::Zero(information_.rows()), pool());
    factored_ = true;
    return factor_;
  }

  // |C^-1 a|^2 for every row a; the factor is there.
  Vector squared_solutions(const Matrix& gains) const {
    Matrix solved = gains.transpose();
    solve_lower(factor_, solved);
    return squared_columns(solved);
  }

  const RowModel* model_ = nullptr;
  const RowData* data_ = nullptr;
  Vector m_, lambda_, noise_;
  Matrix information_, factor_;
  bool factored_ = false, keep_ = false;
  std::vector<Matrix> kept_;
};

}  // namespace

std::unique_ptr<Curvature> make_primal() { return std::make_unique<PrimalCurvature>(); }

void Curvature::use_threads(std::size_t jobs, std::shared_ptr<WorkerTeam> team) {
  pool_ = std::make_shared<ThreadPool>(jobs);
  team_ = team ? std::move(team) : local_team(1);
}

}  // namespace dma
