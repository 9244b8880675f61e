#include "models/network/choose.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "engine/support/error.h"
#include "models/network/regression.h"

namespace {

using namespace dma;

struct Table {
  Eigen::MatrixXd inputs, targets;
  explicit Table(Eigen::Index rows) : inputs(rows, 2), targets(rows, 1) {
    for (Eigen::Index n = 0; n < rows; ++n) {
      const auto t = static_cast<double>(n);
      inputs.row(n) << std::sin(0.7 * t), std::cos(1.3 * t);
      targets(n, 0) = inputs(n, 0) * inputs(n, 1) + 0.1 * std::sin(5.1 * t);
    }
  }
};

RegressionSettings small_settings(Eigen::Index rows) {
  RegressionSettings settings = regression_settings(2, {6}, 1, static_cast<std::size_t>(rows), "hybrid");
  settings.fit.epochs = 12;
  return settings;
}

}  // namespace

TEST_CASE("choose: the settings are those of the candidate that predicted its held-back rows best") {
  const Table table(60);
  RegressionSettings settings = small_settings(60);
  std::size_t tried = 0;
  const auto all = choose_settings(table.inputs, table.targets, {}, settings.network, settings.fit,
                                   [&](std::size_t done, std::size_t) { tried = done; });
  CHECK(all.size() == 8);
  CHECK(tried == 8);
  const Candidate& best = *std::ranges::max_element(all, {}, &Candidate::log_likelihood);
  CHECK(settings.fit.evidence_weight == best.tempering);
  CHECK(settings.network.learn_prior == best.learn_prior);
  for (const Candidate& c : all) CHECK(std::isfinite(c.log_likelihood));
  RegressionSettings again = small_settings(60);
  CHECK(choose_settings(table.inputs, table.targets, {}, again.network, again.fit)[3].log_likelihood == all[3].log_likelihood);
}

TEST_CASE("choose: what is not free stays as it was") {
  const Table table(40);
  RegressionSettings settings = small_settings(40);
  set_tempering(settings.fit, 2);
  const auto priors = choose_settings(table.inputs, table.targets, {.tempering = false}, settings.network, settings.fit);
  CHECK(priors.size() == 2);
  CHECK(settings.fit.evidence_weight == 2);
  settings.network.learn_prior = true;
  const auto temperings = choose_settings(table.inputs, table.targets, {.learn_prior = false}, settings.network, settings.fit);
  CHECK(temperings.size() == 4);
  CHECK(settings.network.learn_prior);
}

TEST_CASE("choose: too few rows are refused") {
  const Table table(19);
  RegressionSettings settings = small_settings(19);
  CHECK_THROWS_WITH_AS(choose_settings(table.inputs, table.targets, {}, settings.network, settings.fit),
                       "choosing settings holds back one row of 10: 19 rows are too few, at least 20 are expected", Error);
}

TEST_CASE("bnn: learned priors follow the beliefs of their layer") {
  const Table table(60);
  RegressionSettings settings = small_settings(60);
  settings.network.learn_prior = true;
  settings.fit.epochs = 60;
  settings.fit.least_gain = 0;
  Bnn net(settings.network);
  const double before = net.prior(0).variance[0];
  net.fit(table.inputs, table.targets, settings.fit);
  for (std::size_t layer : {0u, 1u}) {
    const LayerPrior& prior = net.prior(layer);
    const auto beliefs = net.weights(layer);
    double mean_square = 0;
    for (std::size_t i = 0; i < beliefs.size(); ++i) {
      const double off = beliefs[i].mean() - prior.mean[i];
      mean_square += (off * off + beliefs[i].variance()) / static_cast<double>(beliefs.size());
    }
    CHECK(prior.variance.front() == prior.variance.back());
    CHECK(prior.variance[0] == doctest::Approx(mean_square).epsilon(0.05));  // the last step of a converging iteration
  }
  CHECK(net.prior(0).variance[0] != before);
}
