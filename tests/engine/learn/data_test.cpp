// Data, options and memories that a learner refuses; nothing of an earlier call is left in a later one.
#include "engine/learn/data.h"

#include "tests/oracles/learned_line.h"

namespace {

// y = w . x + b u + noise.
struct TwoInputs {
  Graph g;
  VariableId w = g.shared("w"), b = g.shared("b"), x = g.observed("x"), u = g.observed("u"), y = g.observed("y");
  TwoInputs() {
    const VariableId p = g.variable("p"), q = g.variable("q"), z = g.variable("z");
    g.factor("gaussian_prior", {w}, {{"mean", 0.0}, {"variance", 1.0}});
    g.factor("gaussian_prior", {b}, {{"mean", 0.0}, {"variance", 1.0}});
    g.factor("product", {w, x, p});
    g.factor("product", {b, u, q});
    g.factor("add", {p, q, z});
    g.factor("gaussian_noise", {z, y}, {{"variance", 0.1}});
  }
  Learner learner(LearnOptions options = {.batches = 2, .epochs = 2, .tolerance = 0}) const {
    options.targets = {y};
    return {g, standard_registry(), forward_backward(), forward(), options};
  }
};

const std::vector<double> kX = {1, 2, 3, 4}, kU = {1, 0, 1, 0}, kY = {2, 2, 4, 4};

}  // namespace

TEST_CASE("learn data: a later call that leaves out a variable is refused, not answered with the values of the last") {
  const TwoInputs m;
  Learner learner = m.learner();
  std::vector<double> means(4), variances(4);
  learner.fit({{m.x, kX}, {m.u, kU}, {m.y, kY}});
  learner.predict({{m.x, kX}, {m.u, kU}}, means, variances);
  const std::string missing = "observed variable 'u' has no values in the data; add {u, values}";
  CHECK(oracle::error_of([&] { learner.fit({{m.x, kX}, {m.y, kY}}); }) == missing);
  CHECK(oracle::error_of([&] { learner.predict({{m.x, kX}}, means, variances); }) == missing);
  CHECK(oracle::error_of([&] { learner.predict_left_out({{m.x, kX}, {m.y, kY}}, means, variances); }) == missing);
  CHECK(oracle::error_of([&] { learner.fit({{m.x, kX}, {m.u, kU}}); }).find("'y' has no values") != std::string::npos);
}

TEST_CASE("learn data: every variable once, observed, of this graph, with values it can have") {
  const TwoInputs m;
  Learner learner = m.learner();
  const auto fit = [&](const Data& data) { return oracle::error_of([&] { learner.fit(data); }); };
  CHECK(fit({}).find("no data") != std::string::npos);
  CHECK(fit({{m.x, {}}, {m.u, {}}, {m.y, {}}}) == "no data: there are no examples");
  CHECK(fit({{m.x, kX}, {m.u, kU}, {m.y, kY}, {m.x, kX}}) == "the data give values to 'x' twice; give them once");
  CHECK(fit({{m.x, kX}, {m.u, kU}, {m.y, kY}, {m.w, kX}}).find("'w', which is not observed") != std::string::npos);
  CHECK(fit({{VariableId{99}, kX}}).find("variable 99 is not of the graph of this plan") != std::string::npos);
  std::vector<double> wrong = kX;
  wrong[2] = std::numeric_limits<double>::quiet_NaN();
  CHECK(fit({{m.x, wrong}, {m.u, kU}, {m.y, kY}}) ==
        "variable 'x', example 2, element 0: the value is nan; a finite number is expected");
  CHECK(learner.memory().epochs.empty());
}

TEST_CASE("learn data: spans for predictions have room for exactly the predictions") {
  const TwoInputs m;
  Learner learner = m.learner();
  learner.fit({{m.x, kX}, {m.u, kU}, {m.y, kY}});
  std::vector<double> four(4), three(3), five(5);
  const Data inputs{{m.x, kX}, {m.u, kU}};
  for (std::vector<double>* wrong : {&three, &five}) {
    CHECK_THROWS_AS(learner.predict(inputs, *wrong, four), Error);
    CHECK_THROWS_AS(learner.predict(inputs, four, *wrong), Error);
    CHECK_THROWS_AS(learner.predict_left_out(inputs, *wrong, four), Error);
  }
  CHECK_THROWS_AS(m.learner().predict_left_out(inputs, four, four), Error);  // nothing learned
  learner.predict(inputs, four, four);
}

TEST_CASE("learn data: a memory that cannot be one of this learner is refused and changes nothing") {
  const TwoInputs m;
  Learner learner = m.learner();
  learner.fit({{m.x, kX}, {m.u, kU}, {m.y, kY}});
  const LearnMemory good = learner.memory();
  const Gaussian before = learner.belief(m.w)[0];
  const auto refused = [&](const auto& damage) {
    LearnMemory memory = good;
    damage(memory);
    const std::string error = oracle::error_of([&] { learner.restore(memory); });
    CHECK(learner.belief(m.w)[0] == before);
    return !error.empty();
  };
  CHECK(refused([](LearnMemory& memory) { memory.tau.clear(), memory.rho.clear(); }));
  CHECK(refused([](LearnMemory& memory) { memory.rho.clear(); }));
  CHECK(refused([](LearnMemory& memory) { memory.rho.pop_back(); }));
  CHECK(refused([](LearnMemory& memory) { memory.active.clear(); }));
  CHECK(refused([](LearnMemory& memory) { memory.rho[1].pop_back(); }));
  CHECK(refused([](LearnMemory& memory) { memory.tau[0].push_back(0); }));
  CHECK(refused([](LearnMemory& memory) { memory.rho[1][0] = -0.1; }));
  CHECK(refused([](LearnMemory& memory) { memory.rho[1][0] = std::numeric_limits<double>::quiet_NaN(); }));
  CHECK(refused([](LearnMemory& memory) { memory.tau[1][1] = std::numeric_limits<double>::infinity(); }));
  CHECK(!refused([](LearnMemory&) {}));
}

TEST_CASE("learn data: options out of range, unknown and doubled targets are refused") {
  const TwoInputs m;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const LearnOptions& wrong :
       {LearnOptions{.batches = 0}, LearnOptions{.epochs = -1}, LearnOptions{.tolerance = nan},
        LearnOptions{.patience = -1}, LearnOptions{.least_gain = nan}, LearnOptions{.step = 1.5}})
    CHECK_THROWS_AS(m.learner(wrong), Error);
  const auto with_targets = [&](std::vector<VariableId> targets) {
    return Learner(m.g, standard_registry(), forward_backward(), forward(), {.targets = std::move(targets)});
  };
  CHECK_THROWS_AS(with_targets({}), Error);
  CHECK_THROWS_AS(with_targets({VariableId{99}}), Error);
  CHECK_THROWS_AS(with_targets({m.y, m.y}), Error);
  CHECK_THROWS_AS(with_targets({m.w}), Error);
  Learner learner = m.learner();
  CHECK_THROWS_AS(learner.set_stopping({.tolerance = nan}), Error);
  CHECK_THROWS_AS(learner.belief(VariableId{99}), Error);
  CHECK_THROWS_AS(learner.belief(m.x), Error);
}

TEST_CASE("learn data: batch_size makes the mini-batches, whatever batches says") {
  const TwoInputs m;
  const Data data{{m.x, kX}, {m.u, kU}, {m.y, kY}};
  Learner learner = m.learner({.batches = 100, .batch_size = 3, .epochs = 2, .tolerance = 0});
  learner.fit(data);
  CHECK(learner.memory().tau.size() == 2);
  Learner again = m.learner({.batch_size = 3, .epochs = 4, .tolerance = 0});
  again.restore(learner.memory());
  again.fit(data);
  Learner other = m.learner({.batch_size = 1, .epochs = 4, .tolerance = 0});
  other.restore(learner.memory());
  CHECK_THROWS_WITH_AS(other.fit(data), "the restored messages are those of 2 batches, but 4 examples make 4", Error);
}

TEST_CASE("learn data: examples by an order are those examples in that order, learned, left out and scored") {
  const TwoInputs model;
  const std::vector<std::uint32_t> order = {3, 0, 2};
  std::vector<double> x, u, y;
  for (const std::uint32_t n : order) x.push_back(kX[n]), u.push_back(kU[n]), y.push_back(kY[n]);
  Learner by_order = model.learner(), copied = model.learner();
  Data data{{model.x, kX}, {model.u, kU}, {model.y, kY}};
  data.order = order;
  by_order.fit(data);
  const Data copy{{model.x, x}, {model.u, u}, {model.y, y}};
  copied.fit(copy);
  CHECK(by_order.memory().tau == copied.memory().tau);
  CHECK(by_order.memory().rho == copied.memory().rho);
  CHECK(by_order.memory().epochs[1].log_likelihood == copied.memory().epochs[1].log_likelihood);
  std::vector<double> means(3), variances(3), others(3), spreads(3);
  by_order.predict_left_out(data, means, variances);
  copied.predict_left_out(copy, others, spreads);
  CHECK(means == others);
  CHECK(variances == spreads);
  const std::vector<std::uint32_t> outside = {0, 4};
  data.order = outside;
  CHECK(oracle::error_of([&] { model.learner().fit(data); }).find("names example 4, but there are 4 (0 to 3)") !=
        std::string::npos);
}
