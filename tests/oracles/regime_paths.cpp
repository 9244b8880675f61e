#include "tests/oracles/regime_paths.h"

#include <cmath>
#include <numbers>

namespace dma::oracle {

namespace {

// Sums of weight, weight x and weight x x^T, by regime and over all.
struct PathSums {
  std::vector<double> weight;
  PlainMatrix first, second;

  void add(double w, std::size_t regime, const PlainMatrix& m, const PlainMatrix& p) {
    weight[regime] += w;
    first += w * m;
    second += w * (p + m * m.transpose());
  }
  PathMoments moments() const {
    double all = 0;
    for (const double w : weight) all += w;
    PathMoments out;
    for (const double w : weight) out.probability.push_back(w / all);
    out.mean = (1 / all) * first;
    out.covariance = (1 / all) * second - out.mean * out.mean.transpose();
    return out;
  }
};

// One value at a time would need a diagonal r: all seen values together.
double read_values(const PlainRegime& regime, std::span<const std::optional<double>> y, PlainMatrix& m,
                   PlainMatrix& p) {
  std::vector<std::size_t> seen;
  for (std::size_t i = 0; i < y.size(); ++i)
    if (y[i]) seen.push_back(i);
  if (seen.empty()) return 0;
  const std::size_t n = seen.size(), d = m.rows();
  PlainMatrix h(n, d), r(n, n), ahead(n, 1);
  for (std::size_t i = 0; i < n; ++i) {
    ahead[i] = *y[seen[i]];
    for (std::size_t j = 0; j < d; ++j) h(i, j) = regime.h(seen[i], j);
    for (std::size_t j = 0; j < n; ++j) r(i, j) = regime.r(seen[i], seen[j]);
  }
  ahead -= h * m;
  const PlainMatrix s = h * p * h.transpose() + r, gain = p * h.transpose() * s.inverse();
  m += gain * ahead;
  p -= gain * h * p;
  return -0.5 *
         (dot(ahead, s.solve(ahead)) + s.log_determinant() + static_cast<double>(n) * std::log(2 * std::numbers::pi));
}

}  // namespace

RegimePaths enumerate_paths(const std::vector<PlainRegime>& regimes, const PlainMatrix& start,
                            const PlainMatrix& transition, const PlainMatrix& mean, const PlainMatrix& covariance,
                            std::span<const std::optional<double>> values) {
  const std::size_t outputs = regimes[0].h.rows(), steps = values.size() / outputs, d = mean.rows();
  const PathSums none{std::vector<double>(regimes.size()), PlainMatrix(d, 1), PlainMatrix(d, d)};
  std::vector<PathSums> filtered(steps, none), smoothed(steps, none);
  std::size_t paths = 1;
  for (std::size_t t = 0; t < steps; ++t) paths *= regimes.size();
  double evidence = 0;
  for (std::size_t path = 0; path < paths; ++path) {
    std::vector<std::size_t> at(steps);
    for (std::size_t t = 0, left = path; t < steps; ++t, left /= regimes.size()) at[t] = left % regimes.size();
    double prior = start[at[0]], log_likelihood = 0;
    for (std::size_t t = 1; t < steps; ++t) prior *= transition(at[t - 1], at[t]);
    std::vector<PlainMatrix> means, covariances, ahead, ahead_covariances;
    PlainMatrix m = mean, p = covariance;
    for (std::size_t t = 0; t < steps; ++t) {
      const PlainRegime& regime = regimes[at[t]];
      if (t > 0) m = regime.a * m, p = regime.a * p * regime.a.transpose() + regime.q;
      ahead.push_back(m), ahead_covariances.push_back(p);
      log_likelihood += read_values(regime, values.subspan(t * outputs, outputs), m, p);
      means.push_back(m), covariances.push_back(p);
      filtered[t].add(prior * std::exp(log_likelihood), at[t], m, p);
    }
    for (std::size_t t = steps - 1; t-- > 0;) {
      const PlainMatrix& a = regimes[at[t + 1]].a;
      const PlainMatrix gain = covariances[t] * a.transpose() * ahead_covariances[t + 1].inverse();
      means[t] += gain * (means[t + 1] - ahead[t + 1]);
      covariances[t] += gain * (covariances[t + 1] - ahead_covariances[t + 1]) * gain.transpose();
    }
    const double weight = prior * std::exp(log_likelihood);
    evidence += weight;
    for (std::size_t t = 0; t < steps; ++t) smoothed[t].add(weight, at[t], means[t], covariances[t]);
  }
  RegimePaths found{std::log(evidence), {}, {}};
  for (std::size_t t = 0; t < steps; ++t) {
    found.filtered.push_back(filtered[t].moments());
    found.smoothed.push_back(smoothed[t].moments());
  }
  return found;
}

}  // namespace dma::oracle
