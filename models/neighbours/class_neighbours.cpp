#include "models/neighbours/class_neighbours.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "engine/support/parallel.h"

namespace dma {

namespace {

// The nearest rows of points: their squared distances, classes and weights, a column for each point.
struct Nearby {
  Matrix distances;
  IndexMatrix classes;
  Matrix weights = {};  // empty: 1 for all
};

Nearby nearby(const NearestRows& search, const ClassNeighbours::Memory& m, const Matrix& points, bool are_rows,
              std::size_t jobs) {
  constexpr Index kBlock = 256;
  const Index count = std::min(ClassNeighbours::kNeighbours, m.rows.rows() - (are_rows ? 1 : 0));
  const bool has_weights = m.weights.size() > 0;
  Nearby found{Matrix(count, points.rows()), IndexMatrix(count, points.rows())};
  if (has_weights) found.weights.resize(count, points.rows());
  parallel_for(static_cast<std::size_t>((points.rows() + kBlock - 1) / kBlock), jobs, [&](std::size_t task) {
    const Index begin = static_cast<Index>(task) * kBlock, size = std::min(kBlock, points.rows() - begin);
    std::vector<Index> own(are_rows ? static_cast<std::size_t>(size) : 0);
    std::iota(own.begin(), own.end(), begin);
    const IndexMatrix nearest = search.find(points.middleRows(begin, size), count, own);
    for (Index p = 0; p < size; ++p)
      for (Index k = 0; k < count; ++k) {
        const Index row = nearest(k, p);
        found.distances(k, begin + p) = (m.rows.row(row) - points.row(begin + p)).squaredNorm();
        found.classes(k, begin + p) = m.classes[static_cast<std::size_t>(row)];
        if (has_weights) found.weights(k, begin + p) = m.weights(row);
      }
  });
  return found;
}

// Sums of kernel weights by class: points x classes.
Matrix votes_of(const Nearby& near, double width, Index classes) {
  Matrix weights = Matrix::Zero(near.classes.cols(), classes);
  for (Index p = 0; p < weights.rows(); ++p)
    for (Index k = 0; k < near.classes.rows(); ++k)
      weights(p, near.classes(k, p)) +=
          (near.weights.size() > 0 ? near.weights(k, p) : 1) * std::exp(-near.distances(k, p) / (2 * width));
  return weights;
}

Matrix probabilities_of(Matrix weights, double doubt, const auto& frequencies) {
  weights += doubt * frequencies;
  return weights.array().colwise() / weights.rowwise().sum().array();
}

// Sets width and doubt; returns the log density of the classes of rows, each given the others.
double choose(const Nearby& near, const Matrix& frequencies, ClassNeighbours::Memory& m) {
  // Widths in ratio to the usual squared distance of the nearest row, and doubts: both in half steps of the logarithm.
  constexpr int kNarrowest = -10, kWidest = 8, kLeastDoubt = -40, kMostDoubt = 12;
  constexpr Index kEnoughToChoose = 5000;  // rows that choose among them
  std::vector<double> nearest;
  for (Index p = 0; p < near.distances.cols(); ++p)
    if (near.distances(0, p) > 0) nearest.push_back(near.distances(0, p));
  if (nearest.empty()) nearest.push_back(1);
  std::ranges::nth_element(nearest, nearest.begin() + static_cast<std::ptrdiff_t>(nearest.size() / 2));
  const double usual = nearest[nearest.size() / 2];
  double most = -std::numeric_limits<double>::infinity();
  const Index all = near.distances.cols(), rows = std::min(all, kEnoughToChoose);
  std::vector<Index> which;
  for (Index i = 0; i < rows; ++i) which.push_back(i * all / rows);
  Nearby some{near.distances(Eigen::all, which), near.classes(Eigen::all, which)};
  if (near.weights.size() > 0) some.weights = near.weights(Eigen::all, which);
  const Vector counts = dma::weights_of(m.weights, which);
  for (int w = kNarrowest; w <= kWidest; ++w) {
    const double width = usual * std::exp(0.5 * w);
    const Matrix weights = votes_of(some, width, m.frequencies.size());
    const Vector sums = weights.rowwise().sum();
    Vector own(rows), frequency(rows);
    for (Index p = 0; p < rows; ++p) {
      const Index row = which[static_cast<std::size_t>(p)], c = m.classes[static_cast<std::size_t>(row)];
      own(p) = weights(p, c), frequency(p) = frequencies(row, c);
    }
    for (int d = kLeastDoubt; d <= kMostDoubt; ++d) {
      const double doubt = std::exp(0.5 * d);
      const double found = weighted_sum(((own + doubt * frequency).array() / (sums.array() + doubt)).log(), counts);
      if (found > most) most = found, m.width = width, m.doubt = doubt;
    }
  }
  return most;
}

}  // namespace

ClassNeighbours::ClassNeighbours(Memory memory) : memory_(std::move(memory)), search_(memory_.rows) {}

bool ClassNeighbours::suits(Index rows, Index columns) {
  constexpr Index kFewestRows = 30;
  constexpr double kMostProducts = 4e10, kMostTreeRows = 2e5;  // limits of the search with many columns, and with few
  const auto n = static_cast<double>(rows);
  if (rows < kFewestRows || columns < 1) return false;
  return columns <= NearestRows::kMostTreeColumns ? n <= kMostTreeRows
                                                  : n * n * static_cast<double>(columns) <= kMostProducts;
}

ClassNeighbours::Fit ClassNeighbours::fit(const Matrix& rows, const Vector& units, std::vector<Index> classes,
                                          Vector frequencies, const Matrix& without_each, std::size_t jobs,
                                          const Vector& weights) {
  std::optional<ClassNeighbours> best;
  Nearby near_best;
  double most = -std::numeric_limits<double>::infinity();
  const Vector equal = Vector::Ones(rows.cols()), own = units / units.maxCoeff();
  for (const Vector& scales : {equal, own}) {
    if (best && scales == equal) continue;
    ClassNeighbours one({scales, rows * scales.asDiagonal(), classes, frequencies, 1, 1, 0, weights});
    Nearby near = nearby(one.search_, one.memory_, one.memory_.rows, true, jobs);
    const double found = choose(near, without_each, one.memory_);
    if (found > most || !best) most = found, best = std::move(one), near_best = std::move(near);
  }
  Matrix left_out = probabilities_of(votes_of(near_best, best->memory_.width, frequencies.size()),
                                     best->memory_.doubt, without_each);
  return {std::move(*best), std::move(left_out)};
}

Matrix ClassNeighbours::predict(const Matrix& rows, std::size_t jobs) const {
  const Matrix points = rows * memory_.scales.asDiagonal();
  return probabilities_of(
      votes_of(nearby(search_, memory_, points, false, jobs), memory_.width, memory_.frequencies.size()),
      memory_.doubt, memory_.frequencies.transpose().replicate(rows.rows(), 1));
}

}  // namespace dma
