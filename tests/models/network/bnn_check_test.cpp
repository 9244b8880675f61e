#include "models/network/bnn_check.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "engine/support/error.h"
#include "models/network/regression.h"

namespace {

using namespace dma;

struct Rows {
  Eigen::MatrixXd x, y;
  explicit Rows(double magnitude) : x(24, 1), y(24, 1) {
    for (Eigen::Index n = 0; n < x.rows(); ++n) {
      x(n, 0) = static_cast<double>(n) / 12 - 1;
      y(n, 0) = magnitude * (std::sin(3 * x(n, 0)) + 0.1 * std::cos(40 * x(n, 0)));
    }
  }
};

LearnOptions short_fit(LearnOptions options) {
  options.epochs = 15;
  return options;
}

}  // namespace

TEST_CASE("bnn check: targets of any magnitude give the same network in other units") {
  const Rows base(1);
  RegressionSettings settings = regression_settings(1, {6}, 1, 24);
  Bnn plain(settings.network);
  plain.fit(base.x, base.y, short_fit(settings.fit));
  const Prediction expected = plain.predict(base.x);
  for (const double magnitude : {0x1p+520, 0x1p+1000, 0x1p-530, 0x1p-990}) {
    const Rows rows(magnitude);
    Bnn net(settings.network);
    net.fit(rows.x, rows.y, short_fit(settings.fit));
    check_usable(net, rows.x);
    CHECK(doubts_about(net, rows.x, rows.y).empty());
    const Prediction p = net.predict(rows.x);
    for (Eigen::Index n = 0; n < 24; ++n) {
      CHECK(p.mean(n, 0) / magnitude == doctest::Approx(expected.mean(n, 0)).epsilon(1e-6));
      CHECK(p.sd(n, 0) / magnitude == doctest::Approx(expected.sd(n, 0)).epsilon(1e-6));
    }
  }
}

TEST_CASE("bnn check: one huge outlier is survived") {
  Rows rows(1);
  rows.y(7, 0) = 1e308;
  RegressionSettings settings = regression_settings(1, {6}, 1, 24);
  Bnn net(settings.network);
  net.fit(rows.x, rows.y, short_fit(settings.fit));
  check_usable(net, rows.x);
}

TEST_CASE("bnn check: numbers beyond the priors are refused or doubted") {
  const Rows rows(1e12);
  BnnOptions options = paper_options({1, 6, 1});
  options.noise = 0.1;
  Bnn net(options);
  net.fit(rows.x, rows.y, {.batches = 4, .epochs = 3});
  bool refused = false;
  try {
    check_usable(net, rows.x);
  } catch (const Error& e) {
    refused = std::string(e.what()).find("the fit failed") == 0;
  }
  CHECK((refused || doubts_about(net, rows.x, rows.y).find("standard deviations") != std::string::npos));
}

TEST_CASE("bnn check: a memory that is not one of the network is refused") {
  const Rows rows(1);
  BnnOptions options = paper_options({1, 3, 1});
  options.noise = 0.1;
  Bnn net(options);
  net.fit(rows.x, rows.y, {.batches = 4, .epochs = 2});
  const auto refused = [&](const auto& damage) {
    Bnn::Memory memory = net.memory(true);
    damage(memory);
    Bnn other(net.options());
    try {
      other.restore(std::move(memory));
    } catch (const Error&) {
      return true;
    }
    return false;
  };
  CHECK(!refused([](Bnn::Memory&) {}));
  CHECK(refused([](Bnn::Memory& m) { m.inputs.shift.resize(3); }));
  CHECK(refused([](Bnn::Memory& m) { m.targets.scale(0) = 0; }));
  CHECK(refused([](Bnn::Memory& m) { m.targets.log_from = Eigen::RowVectorXd::Ones(m.targets.shift.size()); }));
  CHECK(refused([](Bnn::Memory& m) { m.inputs.log_from = Eigen::RowVectorXd::Ones(m.inputs.shift.size() + 1); }));
  CHECK(refused([](Bnn::Memory& m) { m.inputs.log_from = -Eigen::RowVectorXd::Ones(m.inputs.shift.size()); }));
  CHECK(refused([](Bnn::Memory& m) { m.noise_variance.clear(); }));
  CHECK(refused([](Bnn::Memory& m) { m.members.clear(); }));
  CHECK(refused([](Bnn::Memory& m) { m.members[0].priors[0].mean.pop_back(); }));
  CHECK(refused([](Bnn::Memory& m) { m.members[0].priors[0].variance[0] = -1; }));
  CHECK(refused([](Bnn::Memory& m) { m.members[0].learner.rho[0][0] = -5; }));
  CHECK(refused([](Bnn::Memory& m) { m.members[0].noise_variance[0] = std::numeric_limits<double>::quiet_NaN(); }));
}
