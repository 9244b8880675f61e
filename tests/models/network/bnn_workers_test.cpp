// A Bnn on several threads and by several workers.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <set>

#include "engine/learn/worker_team.h"
#include "engine/support/text.h"
#include "models/network/bnn.h"
#include "models/table/deal_rows.h"
#include "tests/oracles/saved_network.h"

namespace {

using namespace dma;

struct Curve {
  Eigen::MatrixXd x, y;
  explicit Curve(Eigen::Index rows) : x(rows, 1), y(rows, 1) {
    for (Eigen::Index n = 0; n < rows; ++n) {
      x(n, 0) = -2 + 4.0 * static_cast<double>(n) / static_cast<double>(rows - 1);
      y(n, 0) = std::sin(2 * x(n, 0)) + 0.1 * std::cos(static_cast<double>(37 * n));
    }
  }
};

std::string text_of(const Bnn& net) { return cbor_of(oracle::saved_network(net, true)); }

std::string learned(const Curve& curve, const BnnOptions& network, const LearnOptions& options) {
  Bnn net(network);
  net.fit(curve.x, curve.y, options);
  return text_of(net);
}

}  // namespace

TEST_CASE("bnn workers: members learned at the same time, and workers on several threads, give the same bytes") {
  const Curve curve(60);
  for (const std::size_t workers : {1u, 2u, 3u}) {
    const BnnOptions network{.layers = {1, 6, 1}, .method = "hybrid", .members = 3};
    const LearnOptions options{.batch_size = 3, .epochs = 6, .tolerance = 0, .workers = workers};
    const std::string alone = learned(curve, network, options);
    for (const std::size_t jobs : {2u, 6u}) {
      LearnOptions own = options;
      own.jobs = jobs;
      CHECK(learned(curve, network, own) == alone);
    }
  }
  const BnnOptions jointly{.layers = {1, 6, 1}, .members = 3};
  const std::string alone = learned(curve, jointly, {.batches = 1, .epochs = 20});
  CHECK(learned(curve, jointly, {.batches = 1, .epochs = 20, .jobs = 2}) == alone);
  CHECK(learned(curve, jointly, {.batches = 1, .epochs = 20, .jobs = 5}) == alone);
}

TEST_CASE("bnn workers: a caller told of an epoch may look at all members, and going on gives the same bytes") {
  const Curve curve(40);
  for (const char* method : {"hybrid", "joint"}) {
    const BnnOptions network{.layers = {1, 5, 1}, .method = method, .members = 3};
    LearnOptions options{.batches = method == std::string("joint") ? 1u : 10u, .epochs = 12, .tolerance = 0, .jobs = 3};
    const std::string whole = learned(curve, network, options);
    for (const int stop_at : {1, 7, 20, 25}) {  // joint learning has its second stage after 21 epochs
      CAPTURE(stop_at);
      Bnn net(network);
      int calls = 0;
      std::string saved;
      options.jobs = 3;
      const FitReport report = net.fit(curve.x, curve.y, options, [&](const BnnEpoch&) {
        saved = text_of(net);
        return ++calls < stop_at;
      });
      CHECK(report.interrupted);
      options.jobs = 2;
      net.fit(curve.x, curve.y, options);
      CHECK(text_of(net) == whole);
      CHECK(saved.size() > 100);
    }
  }
}

TEST_CASE("bnn workers: what a caller throws when told of an epoch comes out of the fit, and the members stop") {
  const Curve curve(40);
  for (const char* method : {"hybrid", "joint"}) {
    Bnn net({.layers = {1, 5, 1}, .method = method, .members = 3});
    int calls = 0;
    const auto throws_first = [&](const BnnEpoch&) { return ++calls > 1 ? true : throw Error("enough"); };
    CHECK_THROWS_WITH_AS(net.fit(curve.x, curve.y, {.batches = 1, .epochs = 12, .jobs = 3}, throws_first), "enough",
                         Error);
    CHECK(calls <= 3);  // each of the others was in its first epoch
  }
}

TEST_CASE("bnn workers: several workers fit a curve, of spread 0.7, as one does") {
  const Curve curve(200);
  const auto off = [&](std::size_t workers) {
    Bnn net({.layers = {1, 12, 1}, .method = "hybrid"});
    net.fit(curve.x, curve.y, {.batch_size = 3, .epochs = 80, .tolerance = 0, .step = 0.5, .workers = workers});
    return std::sqrt((net.predict(curve.x).mean - curve.y).squaredNorm() / 200);
  };
  for (const std::size_t workers : {1u, 2u, 4u}) {
    CAPTURE(workers);
    CHECK(off(workers) < 0.25);
  }
}

TEST_CASE("bnn workers: rows are dealt evenly, each to one worker, and not in the order of the table") {
  for (const std::size_t rows : {1u, 7u, 64u, 1000u})
    for (const std::size_t workers : {1u, 2u, 3u, 7u}) {
      const auto dealt = workers_of_rows(rows, workers, 5);
      for (std::size_t w = 0; w < workers; ++w)
        CHECK(static_cast<std::size_t>(std::ranges::count(dealt, w)) == Partition::count_examples(w, workers, rows));
      const auto order = deal_rows(rows, workers, 5);
      CHECK(std::set<Eigen::Index>(order.begin(), order.end()).size() == rows);
    }
  const auto dealt = workers_of_rows(1000, 2, 5);
  std::size_t repeats = 0;  // the same worker after two rows: every row, were rows dealt in turns
  for (std::size_t n = 2; n < dealt.size(); ++n) repeats += dealt[n] == dealt[n - 2];
  CHECK(repeats > 300);
  CHECK(repeats < 700);
}
