// Whole plates against the message functions, slot by slot.
#include <doctest/doctest.h>

#include <functional>

#include "factors/arithmetic/leaky_relu_ep.h"
#include "factors/standard_registry.h"
#include "tests/oracles/messages_agree.h"
#include "tests/oracles/random_messages.h"

namespace dma {
namespace {

constexpr std::uint64_t kBlockSeed = 31;
constexpr std::size_t kSlots = 150;  // more than a block, and not a whole number of chunks
constexpr double kBlockError = 1e-12;

using Messages = std::vector<Gaussian>;

// The plate kernel of a registered message, for contiguous messages; `replaced` counts replaced messages.
Messages plate(std::string_view method, std::string_view target, const std::vector<Messages>& arriving, double slope,
               std::uint64_t* replaced = nullptr) {
  const Registry registry = standard_registry();
  const Kind& kind = registry.kind("leaky_relu");
  const MessageFunction& message = *kind.find_message(method, kind.port(target));
  std::vector<std::vector<double>> arrays;
  for (const Messages& list : arriving) {
    arrays.emplace_back(), arrays.emplace_back();
    for (const Gaussian& m : list) {
      arrays[arrays.size() - 2].push_back(m.tau);
      arrays.back().push_back(m.rho);
    }
  }
  std::vector<PortView> reads;
  for (std::size_t i = 0; i < arrays.size(); i += 2) reads.push_back({arrays[i].data(), arrays[i + 1].data(), 0, 1, 1});
  const ParameterView parameter{&slope, 0, 0, 1};
  std::vector<double> tau(kSlots), rho(kSlots), scratch(kLeastScratch);
  Call call;
  call.columns = kSlots;
  call.reads = reads.data();
  call.parameters = &parameter;
  call.sink = {tau.data(), rho.data(), 0};
  call.scratch = scratch.data();
  call.callable = message.callable.get();
  Outcome outcome;
  message.plate(call, outcome);
  if (replaced != nullptr) *replaced += outcome.replaced;
  Messages out;
  for (std::size_t i = 0; i < kSlots; ++i) out.emplace_back(tau[i], rho[i]);
  return out;
}

Messages draw(const std::function<Gaussian()>& one) {
  Messages messages;
  for (std::size_t i = 0; i < kSlots; ++i) messages.push_back(one());
  return messages;
}

// Ordinary messages, saturated ones, and any valid ones.
void for_each_draw(const std::function<void(const std::function<Gaussian()>& one, double slope)>& check) {
  oracle::RandomMessages random(kBlockSeed);
  const oracle::Range saturated{"saturated", {1, 100}, {1e-2, 1e2}, kBlockError};
  for (int repeat = 0; repeat < 30; ++repeat) {
    for (const double slope : {0.1, 0.9, 1.0, 1e-12}) {
      check([&] { return random.proper(oracle::kOrdinary); }, slope);
      check([&] { return random.proper(saturated); }, slope);
      check([&] { return random.any(); }, slope);
    }
  }
}

}  // namespace

TEST_CASE("leaky_relu: a plate sends what its slots would send one by one") {
  double worst = 0;
  for_each_draw([&](const auto& one, double slope) {
    const Messages arriving = draw(one);
    const Messages to_y = plate("dma", "y", {arriving}, slope), to_x = plate("dma", "x", {arriving}, slope);
    for (std::size_t i = 0; i < kSlots; ++i) {
      worst = std::max(worst, oracle::distance(to_y[i], LeakyRelu::to_y(arriving[i], {slope})));
      worst = std::max(worst, oracle::distance(to_x[i], LeakyRelu::to_x(arriving[i], {slope})));
    }
  });
  MESSAGE("largest difference ", worst);
  CHECK(worst < kBlockError);
}

TEST_CASE("leaky_relu hybrid: a plate sends what its slots would send one by one") {
  double worst = 0;
  std::uint64_t counted = 0, expected_count = 0;
  for_each_draw([&](const auto& one, double slope) {
    const Messages x = draw(one), y = draw(one);
    const Messages to_x = plate("hybrid", "x", {x, y}, slope, &counted);
    for (std::size_t i = 0; i < kSlots; ++i) {
      const GaussianOrFallback expected = LeakyReluEp::to_x_or_linearised(x[i], y[i], {slope});
      expected_count += expected.replaced;
      worst = std::max(worst, oracle::distance(to_x[i], expected) / oracle::loss_by_division(x[i], expected));
    }
  });
  MESSAGE("largest difference ", worst);
  CHECK(worst < kBlockError);
  CHECK(counted == expected_count);
  CHECK(counted > 0);
}

}  // namespace dma
