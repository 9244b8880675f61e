// A plate computed by blocks equals the message function slot by slot, for any messages.
#include "engine/kinds/block_loop.h"

#include "factors/arithmetic/add.h"
#include "factors/arithmetic/copy.h"
#include "factors/arithmetic/leaky_relu_ep.h"
#include "factors/arithmetic/log_copy.h"
#include "factors/arithmetic/product.h"
#include "factors/arithmetic/sum.h"
#include "tests/oracles/random_messages.h"
#include "tests/oracles/solved.h"

namespace dma {
namespace {

// A few roundings of sums of at most 150 terms, none of them larger than 10 standard deviations.
constexpr double kSame = 1e-12;

struct Messages {
  std::vector<double> tau, rho;
  std::uint32_t terms;

  Messages(std::size_t slots, std::uint32_t terms_per_slot)
      : tau(slots * terms_per_slot), rho(slots * terms_per_slot), terms(terms_per_slot) {}
  PortView view() const { return {tau.data(), rho.data(), 0, static_cast<std::ptrdiff_t>(terms), terms}; }
};

Call batch_of(std::size_t slots, const PortView* reads, const ParameterView* parameters = nullptr) {
  Call call;
  call.columns = slots;
  call.reads = reads;
  call.parameters = parameters;
  return call;
}

// `oddity` is the fraction of uniform messages, point masses and invalid numbers.
Messages random_port(oracle::RandomMessages& random, std::size_t slots, std::uint32_t terms, double oddity) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Gaussian odd[] = {Gaussian::uniform(), Gaussian::point(0), Gaussian::point(1.5), {1, -1}, {nan, 1}, {1, nan},
                          {1e300, 1e-300}};
  Messages port(slots, terms);
  for (std::size_t i = 0; i < port.tau.size(); ++i) {
    const Gaussian m =
        random.chance(oddity) ? odd[static_cast<std::size_t>(7 * random.uniform())] : random.proper(oracle::kOrdinary);
    port.tau[i] = m.tau;
    port.rho[i] = m.rho;
  }
  return port;
}

// Both loops on the same call, each into its own copy of the old messages. A message that is a quotient by `divided`
// has lost digits.
template <class F, auto kBlock>
void check_same(Call call, const Messages& before, bool is_tracked, const Messages* divided = nullptr) {
  std::vector<double> scratch(kLeastScratch + kScratchPerTerm * 400);
  call.scratch = scratch.data();
  const F function;
  call.callable = &function;
  Messages by_slot = before, by_block = before;
  Outcome slot_outcome, block_outcome;
  call.out_terms = before.terms;
  call.out_column = before.terms;
  call.sink = {by_slot.tau.data(), by_slot.rho.data(), is_tracked ? 0.25 : 0, is_tracked};
  MessageLoop<F>::plate(call, slot_outcome);
  call.sink = {by_block.tau.data(), by_block.rho.data(), is_tracked ? 0.25 : 0, is_tracked};
  BlockLoop<F, kBlock>::plate(call, block_outcome);
  double worst = 0;
  for (std::size_t i = 0; i < by_slot.tau.size(); ++i) {
    const Natural one{by_slot.tau[i], by_slot.rho[i]}, other{by_block.tau[i], by_block.rho[i]};
    const double lost = divided ? oracle::loss_by_division({divided->tau[i], divided->rho[i]}, one) : 1;
    worst = std::max(worst, oracle::distance(one, other) / lost);
  }
  CHECK(worst <= kSame);
  CHECK(block_outcome.replaced == slot_outcome.replaced);
  CHECK(block_outcome.faults == slot_outcome.faults);
  CHECK(block_outcome.first_fault == slot_outcome.first_fault);
  if (slot_outcome.change < kInfinity)
    CHECK(block_outcome.change == oracle::relative(slot_outcome.change, 1e-9, 1));
  else
    CHECK(block_outcome.change == kInfinity);
}

// Changes counted or not.
template <class F, auto kBlock>
void check_same(const Call& call, oracle::RandomMessages& random, std::size_t slots, std::uint32_t terms = 1) {
  for (const bool is_tracked : {false, true})
    check_same<F, kBlock>(call, random_port(random, slots, terms, 0), is_tracked);
}

// check(slots, terms, oddity, random) over many row lengths and full and partial blocks.
template <class Check>
void over_shapes(const Check& check) {
  oracle::RandomMessages random(20261115);
  for (const std::uint32_t terms : {1u, 2u, 3u, 4u, 5u, 7u, 150u})
    for (const std::size_t slots : {1u, 2u, 33u, 200u})
      for (const double oddity : {0.0, 0.002, 0.2}) {
        INFO("terms ", terms, ", slots ", slots, ", oddity ", oddity);
        check(slots, terms, oddity, random);
      }
}

}  // namespace

TEST_CASE("block loop: copy by blocks is copy slot by slot") {
  over_shapes([](std::size_t slots, std::uint32_t terms, double oddity, oracle::RandomMessages& random) {
    const Messages x = random_port(random, slots, 1, oddity), copies = random_port(random, slots, terms, oddity);
    const PortView to_x_reads[] = {copies.view()}, to_copies_reads[] = {x.view(), copies.view()};
    const Call to_x = batch_of(slots, to_x_reads), to_copies = batch_of(slots, to_copies_reads);
    check_same<Fixed<&Copy::to_x>, &Copy::block_to_x>(to_x, random, slots);
    check_same<Fixed<&Copy::to_copies>, &Copy::block_to_copies>(to_copies, random, slots, terms);
  });
}

TEST_CASE("block loop: sum by blocks is sum slot by slot, with any coefficients") {
  over_shapes([](std::size_t slots, std::uint32_t terms, double oddity, oracle::RandomMessages& random) {
    for (const bool per_slot : {false, true}) {
      std::vector<double> coefficients((per_slot ? slots : 1) * terms);
      for (double& c : coefficients)
        c = random.chance(per_slot ? oddity : 0) ? 0 : random.sign() * random.log_uniform({0.1, 10});
      const ParameterView parameters{coefficients.data(), 0, per_slot ? static_cast<std::ptrdiff_t>(terms) : 0, terms};
      const Messages addends = random_port(random, slots, terms, oddity), total = random_port(random, slots, 1, oddity);
      const PortView reads[] = {addends.view(), total.view()};
      const Call call = batch_of(slots, reads, &parameters);
      using ToTotal = Fixed<&Sum::message_to_total>;
      check_same<ToTotal, &Sum::block_to_total>(call, random, slots);
      using ToTerms = Fixed<&Sum::message_to_terms>;
      check_same<ToTerms, &Sum::block_to_terms>(call, random, slots, terms);
    }
  });
}

TEST_CASE("block loop: product by blocks is product slot by slot") {
  over_shapes([](std::size_t slots, std::uint32_t, double oddity, oracle::RandomMessages& random) {
    const Messages first = random_port(random, slots, 1, oddity), second = random_port(random, slots, 1, oddity);
    const PortView reads[] = {first.view(), second.view()};
    const Call call = batch_of(slots, reads);
    check_same<Fixed<&Product::to_z>, &Product::block_to_z>(call, random, slots);
    check_same<Fixed<&Product::to_factor>, &Product::block_to_factor>(call, random, slots);
  });
}

TEST_CASE("block loop: product of what is known by blocks is product slot by slot") {
  oracle::RandomMessages random(20261116);
  for (const bool has_zero : {false, true})
    for (const bool has_other : {false, true}) {
      constexpr std::size_t kSlots = 200;
      Messages known = random_port(random, kSlots, 1, 0);
      for (std::size_t i = 0; i < kSlots; ++i) known.rho[i] = kInfinity;
      if (has_zero) known.tau[150] = 0;
      if (has_other) known.rho[3] = 2;
      const Messages other = random_port(random, kSlots, 1, 0);
      const PortView reads[] = {known.view(), other.view()}, reversed[] = {other.view(), known.view()};
      for (const Call& call : {batch_of(kSlots, reads), batch_of(kSlots, reversed)}) {
        check_same<Fixed<&Product::to_z>, &Product::block_to_z>(call, random, kSlots);
        check_same<Fixed<&Product::to_factor>, &Product::block_to_factor>(call, random, kSlots);
      }
    }
}

TEST_CASE("block loop: a plate of several rows is its slots, whether they share messages along a direction or not") {
  oracle::RandomMessages random(20261117);
  for (const std::size_t columns : {2u, 16u, 150u})
    for (const bool shares_a_row : {false, true})
      for (const double oddity : {0.0, 0.02}) {
        INFO("columns ", columns, ", shares_a_row ", shares_a_row);
        constexpr std::size_t kRows = 5;
        const auto stride = static_cast<std::ptrdiff_t>(columns);
        const Messages own = random_port(random, kRows * columns, 1, oddity),
                       row = random_port(random, kRows * columns, 1, oddity);
        const PortView reads[] = {{own.tau.data(), own.rho.data(), stride, 1, 1},
                                  {row.tau.data(), row.rho.data(), shares_a_row ? 0 : stride, 1, 1}};
        Call call = batch_of(columns, reads);
        call.rows = kRows;
        call.out_row = stride;
        check_same<Fixed<&Product::to_z>, &Product::block_to_z>(call, random, kRows * columns);
        std::vector<double> slopes(kRows, 0.1);
        for (std::size_t r = 0; r < kRows; ++r) slopes[r] += 0.1 * static_cast<double>(r);
        const ParameterView by_row{slopes.data(), 1, 0, 1}, same{slopes.data(), 0, 0, 1};
        for (const ParameterView& slope : {by_row, same}) {
          call.parameters = &slope;
          check_same<Fixed<&LeakyRelu::to_y>, &LeakyRelu::block_to_y>(call, random_port(random, kRows * columns, 1, 0),
                                                                      false);
        }
      }
}

namespace {

Gaussian same_message(const Gaussian& x) { return x; }
// Values that no message function sends, from a block that should have declined.
bool block_of_nonsense(const SlotBlock& block) {
  std::copy_n(block.tau_of(0), block.slots, block.tau);
  std::fill_n(block.rho, block.slots, -1.0);
  return true;
}

}  // namespace

TEST_CASE("block loop: messages written in place are still checked") {
  Messages x(3, 1), out(3, 1);
  std::vector<double> scratch(kLeastScratch);
  const PortView reads[] = {x.view()};
  Call call = batch_of(3, reads);
  call.scratch = scratch.data();
  call.sink = {out.tau.data(), out.rho.data()};
  Outcome outcome;
  BlockLoop<Fixed<&same_message>, &block_of_nonsense>::plate(call, outcome);
  CHECK(outcome.faults == 3);
  CHECK(out.rho == std::vector<double>(3, 0.0));
}

TEST_CASE("block loop: add by blocks is add slot by slot") {
  over_shapes([](std::size_t slots, std::uint32_t, double oddity, oracle::RandomMessages& random) {
    const Messages first = random_port(random, slots, 1, oddity), second = random_port(random, slots, 1, oddity);
    const PortView reads[] = {first.view(), second.view()};
    const Call call = batch_of(slots, reads);
    check_same<Fixed<&Add::to_z>, &Add::block_to_z>(call, random, slots);
    check_same<Fixed<&Add::to_term>, &Add::block_to_term>(call, random, slots);
  });
}

TEST_CASE("sink: many messages are stored, and their changes noted, as one by one") {
  oracle::RandomMessages random(7);
  constexpr std::size_t kCount = 40;
  for (int repeat = 0; repeat < 200; ++repeat) {
    const Messages before = random_port(random, kCount, 1, 0);
    Messages after = repeat % 3 == 0 ? random_port(random, kCount, 1, 0.1) : before;
    for (double& tau : after.tau) tau *= 1 + 1e-6 * random.uniform();
    Messages together = before, apart = before;
    Outcome together_outcome, apart_outcome;
    together_outcome.change = apart_outcome.change = repeat % 2 == 0 ? 1e-3 : 0;
    Sink{together.tau.data(), together.rho.data(), 0, true}.store_all(0, after.tau.data(), after.rho.data(), kCount, 0,
                                                                      1, together_outcome);
    for (std::size_t i = 0; i < kCount; ++i)
      Sink{apart.tau.data(), apart.rho.data(), 0, true}.store(static_cast<std::ptrdiff_t>(i),
                                                              {after.tau[i], after.rho[i]}, i, apart_outcome);
    CHECK(together.tau == apart.tau);
    CHECK(together.rho == apart.rho);
    CHECK(together_outcome.change == apart_outcome.change);
    CHECK(together_outcome.faults == apart_outcome.faults);
    CHECK(together_outcome.first_fault == apart_outcome.first_fault);
  }
}

TEST_CASE("block loop: leaky_relu by blocks is leaky_relu slot by slot, with any slope and valid messages") {
  over_shapes([](std::size_t slots, std::uint32_t, double oddity, oracle::RandomMessages& random) {
    Messages x(slots, 1), y(slots, 1);
    for (Messages* const port : {&x, &y})
      for (std::size_t i = 0; i < slots; ++i) {
        const Gaussian m = random.chance(2 * oddity) ? random.any() : random.proper(oracle::kOrdinary);
        port->tau[i] = m.tau;
        port->rho[i] = m.rho;
      }
    for (const double slope : {0.1, 0.9, 1.0, 1e-12}) {
      const ParameterView parameter{&slope, 0, 0, 1};
      const PortView reads[] = {x.view(), y.view()};
      const Call call = batch_of(slots, reads, &parameter);
      check_same<Fixed<&LeakyRelu::to_y>, &LeakyRelu::block_to_y>(call, random, slots);
      check_same<Fixed<&LeakyRelu::to_x>, &LeakyRelu::block_to_x>(call, random, slots);
      using ToX = Fixed<&LeakyReluEp::to_x_or_linearised>;
      check_same<ToX, &LeakyReluEp::block_to_x_or_linearised>(call, Messages(slots, 1), false, &x);
    }
  });
}

TEST_CASE("block loop: log_copy by blocks is log_copy slot by slot") {
  over_shapes([](std::size_t slots, std::uint32_t, double oddity, oracle::RandomMessages& random) {
    Messages in = random_port(random, slots, 1, oddity);
    for (double& tau : in.tau)
      if (!random.chance(oddity)) tau = std::abs(tau);  // with a mean on the wrong side every block is declined
    const double positive = 1;
    const ParameterView sign{&positive, 0, 0, 1};
    const PortView reads[] = {in.view()};
    const Call call = batch_of(slots, reads, &sign);
    check_same<Fixed<&LogCopy::to_log>, &LogCopy::block_to_log>(call, random, slots);
    check_same<Fixed<&LogCopy::to_x>, &LogCopy::block_to_x>(call, random, slots);
  });
}

TEST_CASE("block loop: messages that do not stand side by side are left to the message function") {
  const double tau[] = {1, 2, 3, 4}, rho[] = {1, 1, 2, 2};
  const PortView shared_by_all[] = {{tau, rho, 0, 0, 4}};
  check_same<Fixed<&Copy::to_x>, &Copy::block_to_x>(batch_of(40, shared_by_all), Messages(40, 1), false);
}

}  // namespace dma
