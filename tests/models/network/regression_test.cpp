#include "models/network/bnn.h"

#include <doctest/doctest.h>

using namespace dma;

TEST_CASE(
    "regression settings: mini-batches are larger where stored messages would take too much room, and it is said") {
  BnnOptions network{.layers = {99, 100, 1}};  // with its biases 10,101 weights
  LearnOptions fit{.batch_size = 10};
  CHECK(bound_stored_messages(network, 1000, fit).empty());  // 100 messages of 0.16 MB
  CHECK(bound_stored_messages(network, 100000, fit) ==
        "mini-batches of 40 rows, so that messages take 0.4 GB rather than 1.6 (--batch-size)");
  CHECK(fit.batch_size == 40);
}

TEST_CASE("regression: beyond one Gaussian messages are swept") {
  const RegressionSettings large = regression_settings(50, {1000, 1000}, 1, 200'000);
  CHECK(large.network.method == "hybrid");
  CHECK(large.reason.find("message sweeps") != std::string::npos);
  const RegressionSettings small = regression_settings(5, {50}, 1, 300);
  CHECK(small.network.method == "joint");
  CHECK(regression_settings(5, {50}, 1, 300, "dma").network.method == "dma");
}
