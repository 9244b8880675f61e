#include "models/network/choose.h"

#include <algorithm>
#include <mutex>

#include "engine/support/error.h"
#include "engine/support/parallel.h"
#include "models/network/regression.h"
#include "models/table/scores.h"

namespace dma {

namespace {

// The posterior itself, and colder ones: those help where the signal is clear and memorise noise where it is not.
constexpr double kTemperings[] = {1, 2, 3, 5};
constexpr Eigen::Index kOneRowOf = 10, kFewestRows = 2 * kOneRowOf;

std::vector<Candidate> candidates(const Freedom& freedom, const BnnOptions& network, const LearnOptions& fit) {
  std::vector<Candidate> all;
  const auto add = [&](double tempering) {
    if (freedom.learn_prior || !network.learn_prior) all.push_back({tempering, false});
    if (freedom.learn_prior || network.learn_prior) all.push_back({tempering, true});
  };
  if (!freedom.tempering) add(fit.evidence_weight);
  else for (const double tempering : kTemperings) add(tempering);
  return all;
}

}  // namespace

std::vector<Candidate> choose_settings(const Eigen::MatrixXd& inputs, const Eigen::MatrixXd& targets, const Freedom& freedom,
                                       BnnOptions& network, LearnOptions& fit,
                                       const std::function<void(std::size_t, std::size_t)>& tried) {
  if (inputs.rows() < kFewestRows)
    fail("choosing settings holds back one row of {}: {} rows are too few, at least {} are expected", kOneRowOf, inputs.rows(),
         kFewestRows);
  std::vector<Eigen::Index> learned, held_back;
  for (Eigen::Index n = 0; n < inputs.rows(); ++n) (n % kOneRowOf == 0 ? held_back : learned).push_back(n);
  std::vector<Candidate> all = candidates(freedom, network, fit);
  const auto apply = [](const Candidate& c, BnnOptions& options, LearnOptions& fit_options) {
    options.learn_prior = c.learn_prior;
    set_tempering(fit_options, c.tempering);
  };
  std::mutex telling;
  std::size_t done = 0;
  parallel_for(all.size(), fit.jobs, [&](std::size_t k) {
    BnnOptions own = network;
    LearnOptions own_fit = fit;
    own_fit.jobs = 1;
    own_fit.batches = std::min(own_fit.batches, learned.size());
    apply(all[k], own, own_fit);
    Bnn net(own);
    net.fit(inputs(learned, Eigen::all), targets(learned, Eigen::all), own_fit);
    const auto scores = scores_of(net.predict(inputs(held_back, Eigen::all)), targets(held_back, Eigen::all));
    for (const Scores& s : scores) all[k].log_likelihood += s.log_likelihood / static_cast<double>(scores.size());
    const std::lock_guard lock(telling);
    if (tried) tried(++done, all.size());
  });
  apply(*std::ranges::max_element(all, {}, &Candidate::log_likelihood), network, fit);
  return all;
}

}  // namespace dma
