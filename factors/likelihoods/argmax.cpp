#include "factors/likelihoods/argmax.h"

#include <algorithm>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <cstdint>
#include <vector>

#include "factors/authoring/normal.h"

namespace dma {

namespace {

struct Score {
  double mean = 0, variance = 0, sd = 0;  // of x, and the standard deviation of u
  double first = 0, second = 0;           // E[z], E[z^2] of z = (u - mean) / sd under the tilted distribution
};

// Working memory that is kept.
struct ArgmaxMemory {
  std::vector<Score> scores;
  std::vector<double> weights, first, second, logs;
};
ArgmaxMemory& argmax_memory() {
  thread_local ArgmaxMemory memory;
  return memory;
}

bool read_scores(Argmax::Scores scores, double noise, std::vector<Score>& out) {
  out.clear();
  for (const Gaussian& x : scores) {
    if (x.is_uniform()) return false;
    out.push_back({x.mean(), x.variance(), std::sqrt(x.variance() + noise)});
  }
  return true;
}

class Largest {
 public:
  Largest(const std::vector<Score>& scores, std::size_t which) : scores_(scores), which_(which) {
    // The slope at the score's own mean is positive, and falls.
    double step = scores[which].sd, low = scores[which].mean, high = low + step;
    while (slope(high) > 0) low = high, high += step *= 2;
    mode_ = low;
    if (slope(low) > 0 && slope(high) < 0) {  // numbers, that is: a score may be as wide as a double allows
      std::uintmax_t most = 60;
      const auto [left, right] = boost::math::tools::toms748_solve([&](double u) { return slope(u); }, low, high,
                                                                   boost::math::tools::eps_tolerance<double>(20), most);
      mode_ = 0.5 * (left + right);  // near is enough: it only says where to look
    }
    top_ = log_weight(mode_);
  }

  // visit(u, weight) over the range that matters; the weights have the integral exp(the result).
  template <class Visit>
  double integrate(const Visit& visit) const {
    constexpr double kBelow = 36;
    constexpr int kPoints = 120;
    const auto reach = [&](double direction) {
      double d = scores_[which_].sd;
      while (log_weight(mode_ + direction * d) > top_ - kBelow) d *= 1.5;
      double near = 0;
      for (int i = 0; i < 12; ++i) {
        const double middle = 0.5 * (near + d);
        (log_weight(mode_ + direction * middle) > top_ - kBelow ? near : d) = middle;
      }
      return mode_ + direction * d;
    };
    const double low = reach(-1), step = (reach(1) - low) / kPoints;
    double mass = 0;
    for (int i = 0; i <= kPoints; ++i) {
      const double u = low + i * step, weight = std::exp(log_weight(u) - top_) * step;
      mass += weight;
      visit(u, weight);
    }
    return top_ + std::log(mass);
  }

 private:
  double log_weight(double u) const {
    const Score& own = scores_[which_];
    const double t = (u - own.mean) / own.sd;
    double sum = -0.5 * t * t - std::log(own.sd * normal::kSqrtTwoPi);
    for (std::size_t j = 0; j < scores_.size(); ++j)
      if (j != which_) sum += normal::log_distribution((u - scores_[j].mean) / scores_[j].sd);
    return sum;
  }
  double slope(double u) const {
    const Score& own = scores_[which_];
    double sum = -(u - own.mean) / own.sd / own.sd;
    for (std::size_t j = 0; j < scores_.size(); ++j)
      if (j != which_) sum += normal::hazard((u - scores_[j].mean) / scores_[j].sd) / scores_[j].sd;
    return sum;
  }

  const std::vector<Score>& scores_;
  std::size_t which_;
  double mode_ = 0, top_ = 0;
};

double log_mass_of(const std::vector<Score>& scores, std::size_t which) {
  return Largest(scores, which).integrate([](double, double) {});
}

// Adds share * the moments of every z under "score `which` is the largest".
void add_moments(const std::vector<Score>& scores, std::size_t which, double share, std::vector<double>& first,
                 std::vector<double>& second) {
  const std::size_t count = scores.size();
  std::vector<double> one(count), two(count);
  double mass = 0;
  (void)Largest(scores, which).integrate([&](double u, double weight) {
    mass += weight;
    for (std::size_t j = 0; j < count; ++j) {
      const double t = (u - scores[j].mean) / scores[j].sd;
      const double hazard = j == which ? 0.0 : normal::hazard(t);
      one[j] += weight * (j == which ? t : -hazard);
      two[j] += weight * (j == which ? t * t : 1 - t * hazard);
    }
  });
  for (std::size_t j = 0; j < count; ++j) first[j] += share * one[j] / mass, second[j] += share * two[j] / mass;
}

}  // namespace

void Argmax::to_class(Scores scores, Parameters p, std::span<CategoricalLane> out) {
  ArgmaxMemory& memory = argmax_memory();
  std::ranges::fill(out, CategoricalLane());
  if (!read_scores(scores, p.noise, memory.scores)) return;
  memory.logs.clear();
  for (std::size_t c = 0; c < scores.size(); ++c) memory.logs.push_back(log_mass_of(memory.scores, c));
  const double largest = std::ranges::max(memory.logs);
  for (std::size_t c = 0; c < scores.size(); ++c) out[c] = {memory.logs[c] - largest, 0};
}

void Argmax::to_scores(Scores scores, std::span<const CategoricalLane> of_class, Parameters p,
                       std::span<GaussianOrFallback> out) {
  ArgmaxMemory& memory = argmax_memory();
  const std::size_t count = scores.size();
  std::ranges::fill(out, GaussianOrFallback());
  if (!read_scores(scores, p.noise, memory.scores)) return;
  memory.weights.resize(count);
  Categorical::weights(of_class, memory.weights.data());
  if (std::ranges::all_of(memory.weights, [](double w) { return w == 1; })) return;  // nothing is known of the class
  memory.logs.assign(count, -kInfinity);
  for (std::size_t c = 0; c < count; ++c)
    if (memory.weights[c] > 0) memory.logs[c] = log_mass_of(memory.scores, c) + std::log(memory.weights[c]);
  const double largest = std::ranges::max(memory.logs);
  if (largest == -kInfinity) return;
  double sum = 0;
  for (double& log : memory.logs) sum += log = std::exp(log - largest);
  memory.first.assign(count, 0);
  memory.second.assign(count, 0);
  for (std::size_t c = 0; c < count; ++c)
    if (memory.logs[c] > 0) add_moments(memory.scores, c, memory.logs[c] / sum, memory.first, memory.second);
  for (std::size_t j = 0; j < count; ++j) {
    const Score& s = memory.scores[j];
    if (s.variance == 0) continue;
    // x given u is Gaussian: its mean is linear in u, with this gain in units of u's standard deviation.
    const double gain = s.variance / s.sd, variance = s.variance - gain * gain * (1 - memory.second[j] + memory.first[j] * memory.first[j]);
    const Gaussian own = Gaussian::from_moments(s.mean + gain * memory.first[j], variance) / scores[j];
    const bool is_own = variance > 0 && is_valid(own) && own.is_proper();
    out[j] = {is_own ? own : Gaussian::uniform(), !is_own};
  }
}

double Argmax::log_integral(Lanes arrivals, Parameters p) {
  const std::size_t count = arrivals.size() / 2;
  std::vector<Gaussian> scores;
  for (const Natural& m : arrivals.first(count)) scores.emplace_back(m);
  std::vector<Score> read;
  std::vector<double> weights(count);
  Categorical::weights(arrivals.last(count), weights.data());
  if (!read_scores(scores, p.noise, read)) return std::nan("");
  double sum = 0, in_all = 0;
  for (std::size_t c = 0; c < count; ++c) {
    in_all += weights[c];
    if (weights[c] > 0) sum += weights[c] * std::exp(log_mass_of(read, c));
  }
  return std::log(sum / in_all);
}

}  // namespace dma
