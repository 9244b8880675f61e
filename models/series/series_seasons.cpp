#include "models/series/series_seasons.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "models/series/series_choice.h"

namespace dma {

namespace {

using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Moves from a value to the next, and the later step of each.
struct Moves {
  std::vector<Eigen::Index> at;
  Eigen::VectorXd left;  // minus the seasons found so far
};

Moves moves_of(SeriesValues values) {
  Moves moves;
  std::vector<double> found;
  for (std::size_t t = 1; t < values.size(); ++t) {
    if (!values[t] || !values[t - 1]) continue;
    moves.at.push_back(static_cast<Eigen::Index>(t));
    found.push_back(*values[t] - *values[t - 1]);
  }
  moves.left = Eigen::Map<const Eigen::VectorXd>(found.data(), static_cast<Eigen::Index>(found.size()));
  if (moves.left.size() > 0) moves.left.array() -= moves.left.mean();
  return moves;
}

Rows harmonics_of(double period, std::size_t length) {
  const std::size_t count = season_harmonics(period);
  const std::vector<double> rows = harmonic_rows(period, count, length);
  return Eigen::Map<const Rows>(rows.data(), static_cast<Eigen::Index>(length), 2 * static_cast<Eigen::Index>(count));
}

// Least squares, with a trace of ridge: the last sine of an even period is 0.
Eigen::VectorXd fitted(const Eigen::MatrixXd& rows, const Eigen::VectorXd& y) {
  constexpr double kRidge = 1e-9;
  Eigen::MatrixXd gram = rows.transpose() * rows;
  gram.diagonal().array() += kRidge * static_cast<double>(rows.rows());
  return rows * gram.ldlt().solve(rows.transpose() * y);
}

// Half the drop of n log(squares), minus half log n per coefficient.
struct Shown {
  double gain = 0;
  Eigen::VectorXd shape;
};

Shown shown(const Moves& moves, double period, std::size_t length) {
  const auto n = static_cast<double>(moves.left.size());
  const double coefficients = std::min(2 * static_cast<double>(season_harmonics(period)), period - 1);
  const double before = moves.left.squaredNorm();
  if (!(before > 0) || n < 2 * coefficients + 2) return {};
  Shown season{0, fitted(harmonics_of(period, length)(moves.at, Eigen::all), moves.left)};
  const double after = std::max((moves.left - season.shape).squaredNorm(), 1e-12 * before);
  season.gain = 0.5 * (n * std::log(before / after) - coefficients * std::log(n));
  return season;
}

// Up to two periods of whole steps that the moves show best, the second beside the first.
std::vector<double> periods_in_moves(SeriesValues values, double longest) {
  constexpr double kLeastGain = 3, kLongest = 400;
  constexpr std::size_t kMost = 2;
  Moves moves = moves_of(values);
  std::vector<double> found;
  while (found.size() < kMost) {
    Shown best;
    double period = 0;
    for (double one = 2; one <= std::min(longest, kLongest); ++one)
      if (Shown now = shown(moves, one, values.size()); now.gain > best.gain) best = std::move(now), period = one;
    if (best.gain < kLeastGain) break;
    moves.left -= best.shape;
    found.push_back(period);
  }
  return found;
}

}  // namespace

bool season_moves(double period) {
  constexpr double kLongest = 60;
  return period <= kLongest && period == std::floor(period);
}

std::size_t season_harmonics(double period) {
  constexpr double kMost = 10;
  const double all = std::floor(period / 2);
  return static_cast<std::size_t>(season_moves(period) ? all : std::min(kMost, all));
}

std::vector<double> seasons_seen(SeriesValues values, const std::vector<double>& usual,
                                 const std::function<void(const std::string& name, int solves)>& on_solve) {
  constexpr std::size_t kLast = 2000;  // values that are looked at
  constexpr double kPeriods = 2;
  values = values.last(std::min(values.size(), kLast));
  const auto count = static_cast<double>(std::ranges::count_if(values, [](const auto& v) { return v.has_value(); }));
  const auto walk_with = [&](const std::vector<double>& seasons) {
    return usual_series(values, {.seasons = seasons,
                                 .processes = {random_walk()},
                                 .with_autoregression = false,
                                 .scale = SeriesScale::plain})
        .front();
  };
  std::vector<double> found;
  const auto try_in_turn = [&](std::vector<double> periods) {
    std::ranges::sort(periods);
    for (const double period : periods) {
      if (period < 2 || kPeriods * period > count) continue;
      std::vector<double> more = found;
      more.push_back(period);
      const SeriesCandidate with = walk_with(more);
      const SeriesChoice choice({walk_with(found), with}, values, {.on_solve = on_solve});
      if (choice.best().candidate.name == with.name) found = std::move(more);
    }
  };
  try_in_turn(usual);
  if (found.empty()) try_in_turn(periods_in_moves(values, count / kPeriods));
  return found;
}

std::vector<double> without_seasons(SeriesValues values, const std::vector<double>& seasons) {
  Eigen::VectorXd x = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(values.size()));
  std::optional<std::size_t> before;
  const auto at = [&](std::size_t t) -> double& { return x[static_cast<Eigen::Index>(t)]; };
  for (std::size_t t = 0; t < values.size(); ++t) {
    if (!values[t]) continue;
    for (std::size_t gap = before ? *before + 1 : 0; gap < t; ++gap)
      at(gap) = before ? at(*before) + (*values[t] - at(*before)) * static_cast<double>(gap - *before) /
                                           static_cast<double>(t - *before)
                       : *values[t];
    at(t) = *values[t];
    before = t;
  }
  for (std::size_t t = before.value_or(0) + 1; before && t < values.size(); ++t) at(t) = at(*before);
  if (x.size() > 0) x.array() -= x.mean();
  for (const double season : seasons) x -= fitted(harmonics_of(season, values.size()), x);
  return {x.begin(), x.end()};
}

}  // namespace dma
