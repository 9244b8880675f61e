#include "engine/run/held_cavities.h"

#include <doctest/doctest.h>

#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>

#include "engine/compile/compile.h"
#include "engine/compile/flow.h"
#include "engine/compile/plan_data.h"
#include "engine/learn/messages/learner.h"
#include "engine/learn/messages/stored_messages.h"
#include "factors/standard_registry.h"
#include "schedules/flooding.h"
#include "schedules/forward_backward.h"
#include "tests/oracles/relative.h"

namespace {

using namespace dma;

// y = w . x + noise, one example.
struct HeldRegression {
  explicit HeldRegression(std::size_t inputs, bool prior = true)
      : w(g.shared("w", inputs)), x(g.observed("x", inputs)), y(g.observed("y")) {
    const VariableId p = g.variable("p", inputs), z = g.variable("z");
    if (prior) g.factor("gaussian_prior", {w}, {{"mean", 0.5}, {"variance", 2}});
    g.factor("product", {w, x, p});
    g.factor("sum", {p, z});
    g.factor("gaussian_noise", {z, y}, {{"variance", 0.3}});
  }
  Plan plan(const Scheduler& schedule = forward_backward(), bool fuse = true) const {
    return compile(g, schedule, standard_registry(), {.fuse = fuse, .constants_in_cavity = true});
  }
  Learner learner(bool fuse) const {
    return {g,
            standard_registry(),
            forward_backward(),
            forward(),
            {.targets = {y}, .batches = 7, .epochs = 3, .tolerance = 0},
            {.fuse = fuse}};
  }
  Graph g;
  VariableId w, x, y;
};

struct CavitiesOf {
  explicit CavitiesOf(const Plan& plan) : tau(plan->slots, 0.7), rho(plan->slots, 1.3) {}
  MessageArrays messages() { return {tau.data(), rho.data()}; }
  std::vector<double> tau, rho;
};

struct Examples {
  Examples(std::size_t rows, std::size_t inputs, std::size_t silent) {
    boost::random::mt19937_64 random(3);
    boost::random::normal_distribution<double> normal;
    for (std::size_t n = 0; n < rows; ++n) {
      for (std::size_t j = 0; j < inputs; ++j) x.push_back(j == silent ? 0 : normal(random));
      y.push_back(normal(random) + x[n * inputs]);
    }
  }
  Data data(const HeldRegression& model) const { return {{model.x, x}, {model.y, y}}; }
  std::vector<double> x, y;
};

}  // namespace

TEST_CASE("held cavities: proper ones of a fused plan that is swept once, and no others") {
  const HeldRegression model(3);
  const auto is_held = [&](const Plan& plan, double rho) {
    HeldCavities held(*plan);
    CavitiesOf cavities(plan);
    cavities.rho[plan->variable(model.w).first_slot + 1] = rho;
    return held.hold(model.w, cavities.messages(), {});
  };
  CHECK(is_held(model.plan(), 1.0));
  CHECK_FALSE(is_held(model.plan(), kInfinity));
  CHECK_FALSE(is_held(model.plan(), 0.0));
  CHECK_FALSE(is_held(model.plan(), 1e-200));
  CHECK_FALSE(is_held(model.plan(forward_backward(), false), 1.0));
  CHECK_FALSE(is_held(model.plan(flooding({.tolerance = 1e-9, .limit = 10})), 1.0));
  const HeldRegression single(1);
  HeldCavities one_term(*single.plan());
  CHECK_FALSE(one_term.hold(single.w, CavitiesOf(single.plan()).messages(), {}));
}

// y = v . relu(W x) + noise: a tree, because W and v are shared and x and y known. Its messages are ordered
// individually.
struct HeldTree {
  HeldTree() {
    for (const VariableId shared : {w, v}) g.factor("gaussian_prior", {shared}, {{"mean", 0.3}, {"variance", 2}});
    g.factor("product", {w, column(x), p});
    g.factor("sum", {p, z});
    g.factor("leaky_relu", {z, h}, {{"slope", 0.1}});
    g.factor("product", {v, h, q});
    g.factor("sum", {q, total});
    g.factor("gaussian_noise", {total, y}, {{"variance", 0.3}});
  }
  Learner learner(bool fuse) const {
    return {g,
            standard_registry(),
            forward_backward(),
            forward(),
            {.targets = {y}, .batches = 5, .epochs = 3, .tolerance = 0},
            {.fuse = fuse}};
  }
  Graph g;
  VariableId w = g.shared("w", 12), v = g.shared("v", 4), x = g.observed("x", 3), p = g.variable("p", 12),
             z = g.variable("z", 4), h = g.variable("h", 4), q = g.variable("q", 4), total = g.variable("total"),
             y = g.observed("y");
};

TEST_CASE(
    "held cavities: the one output of a tree as well, for what it sends to weights and activations is one message") {
  const HeldTree model;
  const Plan plan = compile(model.g, forward_backward(), standard_registry(), {.constants_in_cavity = true});
  CHECK(describe(plan).find("-> x, y from (x, y, total), 1 slots") != std::string::npos);
  HeldCavities held(*plan);
  CavitiesOf cavities(plan), arrivals(plan);
  CHECK(held.hold(model.v, cavities.messages(), arrivals.messages()));
  CHECK(held.hold(model.w, cavities.messages(), arrivals.messages()));
  const Examples examples(30, 3, 2);
  const Data data{{model.x, examples.x}, {model.y, examples.y}};
  Learner one = model.learner(true), other = model.learner(false);
  one.fit(data);
  other.fit(data);
  for (const VariableId shared : {model.w, model.v}) {
    const Belief a = one.belief(shared), b = other.belief(shared);
    for (std::size_t i = 0; i < a.size(); ++i) {
      CHECK(a[i].tau == oracle::relative(b[i].tau, 1e-10));
      CHECK(a[i].rho == oracle::relative(b[i].rho, 1e-10));
    }
  }
}

TEST_CASE("held cavities: not where a message is read from it after it has learned") {
  const HeldRegression model(3);
  const Scheduler again{"again", [](const Flow& flow) {
                          Schedule schedule = forward_backward().make(flow);
                          const Schedule forward_again = forward().make(flow);
                          schedule.visits.insert(schedule.visits.end(), forward_again.visits.begin(),
                                                 forward_again.visits.end());
                          return schedule;
                        }, true};
  const Plan plan = model.plan(again);
  HeldCavities held(*plan);
  CHECK_FALSE(held.hold(model.w, CavitiesOf(plan).messages(), {}));
}

TEST_CASE("held cavities: released without anything learned they are what they were, to the last digit") {
  const HeldRegression model(3);
  const Plan plan = model.plan();
  HeldCavities held(*plan);
  CavitiesOf cavities(plan);
  for (std::size_t i = 0; i < cavities.rho.size(); ++i) cavities.rho[i] = 0.1 + 0.37 * static_cast<double>(i);
  const CavitiesOf before = cavities;
  CHECK(held.hold(model.w, cavities.messages(), {}));
  CHECK(held.is_held(model.w));
  CHECK_FALSE(held.release());
  CHECK_FALSE(held.is_held(model.w));
  CHECK(cavities.tau == before.tau);
  CHECK(cavities.rho == before.rho);
}

TEST_CASE("held cavities: learned moments are released as natural parameters, and a precision never shrinks") {
  CHECK(learned({2, 4}, 0.75, 0.125) == Natural{6, 8});
  CHECK(learned({2, 4}, 0.5, 0.25) == Natural{2, 4});
  CHECK(learned({2, 4}, 0.5, 0.25 * (1 + 1e-15)).rho == 4);
  CHECK(learned({2, 4}, 0.75, 0) == Natural{0.75, kInfinity});
}

TEST_CASE("held cavities: a learner that holds them learns what one that does not learns") {
  for (const bool prior : {true, false}) {
    const HeldRegression model(4, prior);
    const Examples examples(50, 4, 2);
    Learner held = model.learner(true), natural = model.learner(false);
    held.fit(examples.data(model));
    natural.fit(examples.data(model));
    const Belief a = held.belief(model.w), b = natural.belief(model.w);
    for (std::size_t i = 0; i < 4; ++i) {
      CAPTURE(i);
      CHECK(a[i].tau == oracle::relative(b[i].tau, 1e-11, 1));
      CHECK(a[i].rho == oracle::relative(b[i].rho, 1e-11, 1));
    }
    // The weight of an input that is always 0 has learned nothing.
    for (const auto& site : held.memory().rho) CHECK(site[2] == 0);
    for (const auto& site : held.memory().tau) CHECK(site[2] == 0);
  }
}
