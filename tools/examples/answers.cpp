// Item response: how much do 1,000 candidates differ, and how hard are five questions of the Law School Admission Test
// (Bock and Lieberman 1970; Rasch model, as in volume I of the BUGS examples)? The spread is integrated over, the
// answers are sites of expectation propagation. BUGS: spread 0.757 +- 0.070, questions 1.26, -0.48,
// -1.24, -0.17 and 0.63 beside their mean.
//
// Prints:
//   converged: spread 0.758 +- 0.070
//   question 1:  1.26 beside the mean
//   question 2: -0.48 beside the mean
//   question 3: -1.24 beside the mean
//   question 4: -0.17 beside the mean
//   question 5:  0.63 beside the mean
#include <dma.h>
#include <fmt/core.h>

#include <numeric>

int main() {
  using namespace dma;
  // Candidates by their answers: 00000, 00001, ... 11111.
  const std::vector<int> candidates{3,  6,  2,  11, 1, 1,  3,  4,  1,  8,  0,  16,  0,  3,  2,  15,
                                    10, 29, 14, 81, 3, 28, 15, 80, 16, 56, 21, 173, 11, 61, 28, 298};
  std::vector<double> right;
  std::vector<std::uint32_t> who, which;
  std::uint32_t persons = 0;
  for (unsigned pattern = 0; pattern < candidates.size(); ++pattern)
    for (int c = 0; c < candidates[pattern]; ++c, ++persons)
      for (std::uint32_t i = 0; i < 5; ++i) {
        right.push_back(pattern >> (4 - i) & 1);
        who.push_back(persons), which.push_back(i);
      }
  Graph g;
  const auto zero = g.observed("zero"), able = g.variable("able", persons), seen = g.observed("seen", right.size());
  const auto easy = gaussian_prior(g, g.variable("easy", 5), 0.0, 100.0), score = g.variable("score", right.size());
  const auto spread = g.factor("gaussian_noise", {all_to_one(zero), able}, {{"variance", 1.0}});
  g.factor("add", {gather(able, who), gather(easy, which), score});
  g.factor("logistic", {score, seen});
  const Hyper tau = hyper("tau", HyperPrior::half_cauchy(5), {{spread, "variance", 2}});
  State state(compile(g, joint({.site_tolerance = 1e-6, .check_draws = 0, .hypers = {tau}}), standard_registry()));
  state.observe(zero, 0.0), state.observe(seen, right);
  const Report report = run(state.plan(), state);
  const HyperBelief found = JointPosterior(state).hyper("tau");
  fmt::print("{}: spread {:.3f} +- {:.3f}\n", report.converged() ? "converged" : "not converged", found.mean(),
             found.sd());
  const auto beliefs = state.belief(easy).means();
  const double mean = std::accumulate(beliefs.begin(), beliefs.end(), 0.0) / 5;
  for (std::size_t i = 0; i < 5; ++i) fmt::print("question {}: {:5.2f} beside the mean\n", i + 1, beliefs[i] - mean);
}
