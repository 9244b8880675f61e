#include <algorithm>
#include <cmath>

#include "engine/learn/gaussian/curvature/curvature.h"
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
    determined_.resize(0);
    information_.setZero(m.size(), m.size());
    gradient_.setZero(m.size());
    residuals_.setZero(data.count());
    by_units_ = data.has_classes();
    order_.clear();
    Matrix ignored;
    if (by_units_)
      for (const UnitGains& unit : model.units(m, data.rows.topRows(1), ignored))
        order_.insert(order_.end(), unit.scalars.begin(), unit.scalars.end());
    keep_ = !by_units_ && data.count() * m.size() <= kLargestKeptGains;
    kept_.assign(keep_ ? static_cast<std::size_t>(blocks()) : 0, Matrix());
    if (team_->size() == 1)
      add_blocks(0, blocks(), information_, gradient_);
    else
      add_blocks_of_workers();
    if (by_units_) put_in_order();
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

  double effective_scalars() override { return determined().sum(); }
  Vector determined() override {
    if (determined_.size() == 0)
      determined_ = 1 - lambda_.array() * squared_columns(triangular_inverse(factor(), pool())).array();
    return determined_;
  }

  Vector one_minus_leverage() override {
    if (by_units_) return leverage_of_gaussian_targets();
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

  // With classes: J comes unit by unit, so that with t = S^T up the block of units i and j is inputs_i^T diag(t_i .
  // t_j) inputs_j: N P^2 products whatever the number of classes, where J itself would take that many times more. The
  // information stands in the order of the units.
  void add_units(Index block, Matrix& information, Vector& gradient) {
    const Index row = block * kRowsPerBlock, n = rows_of(block), all = data_->rows.rows(), size = information.rows();
    Matrix f;
    const auto units = model_->units(m_, data_->rows.middleRows(row, n), f);
    const TargetView view(*data_, f, noise_, row);
    for (Index k = 0; k < f.cols(); ++k)
      residuals_.segment(k * all + row, n) = data_->targets.col(k).segment(row, n) - f.col(k);
    std::vector<Matrix> ups;
    std::vector<Index> firsts;
    for (Index at = 0; const UnitGains& unit : units) {
      firsts.push_back(at);
      at += unit.inputs.cols();
      ups.push_back(view.in_metric(unit.up.reshaped()).reshaped(n, f.cols()));
      gradient(unit.scalars) += transposed_times(unit.inputs, row_products(unit.up, view.slopes()));
    }
    pool().run(units.size(), [&](std::size_t i) {
      const Index begin = firsts[i];
      Matrix below(n, size - begin);
      for (std::size_t j = i; j < units.size(); ++j)
        below.middleCols(firsts[j] - begin, units[j].inputs.cols()) =
            scaled_rows(row_products(ups[i], ups[j]), units[j].inputs);
      add_transposed_product(information.block(begin, begin, size - begin, units[i].inputs.cols()), below,
                             units[i].inputs);
    });
  }
  void put_in_order() {
    Matrix ordered = Matrix::Zero(information_.rows(), information_.cols());
    for (Index j = 0; j < ordered.cols(); ++j)
      for (Index i = j; i < ordered.rows(); ++i) {
        const auto [low, high] = std::minmax(order_[static_cast<std::size_t>(i)], order_[static_cast<std::size_t>(j)]);
        ordered(high, low) = information_(i, j);
      }
    information_ = std::move(ordered);
  }
  // 1 for others: of a class it is no number.
  Vector leverage_of_gaussian_targets() {
    Vector all = Vector::Ones(data_->count());
    for (Index block = 0; block < blocks(); ++block) {
      const Index row = block * kRowsPerBlock, n = rows_of(block);
      const Vector variance = variances(data_->rows.middleRows(row, n));
      for (Index k = 0; k < data_->targets.cols(); ++k) {
        const auto own = [&](auto& stacked) { return stacked.segment(k * data_->rows.rows() + row, n).array(); };
        if (data_->is_gaussian(k)) own(all) = (1 - variance.segment(k * n, n).array() / own(noise_)).max(1e-12);
      }
    }
    return all;
  }

  void add_blocks(Index first, Index last, Matrix& information, Vector& gradient) {
    for (Index block = first; by_units_ && block < last; ++block) {
      add_units(block, information, gradient);
      if (told_) told_(static_cast<double>(block - first) / static_cast<double>(last - first));
    }
    for (Index begin = first; !by_units_ && begin < last; begin += kBlocksAtOnce) {
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
  Vector determined_;
  std::vector<Index> order_;  // scalars of the units, one unit after the other
  bool factored_ = false, keep_ = false, by_units_ = false;
  std::vector<Matrix> kept_;
};

}  // namespace

std::unique_ptr<Curvature> make_primal() { return std::make_unique<PrimalCurvature>(); }

void Curvature::use_threads(std::size_t jobs, std::shared_ptr<WorkerTeam> team) {
  pool_ = std::make_shared<ThreadPool>(jobs);
  team_ = team ? std::move(team) : local_team(1);
}

}  // namespace dma
