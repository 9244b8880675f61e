#include "engine/run/held_cavities.h"

#include "engine/compile/schedule.h"
#include "tests/oracles/learned_line.h"

namespace {

using oracle::LearnedLine;

Plan plan_of(const LearnedLine& model, const Scheduler& schedule = forward_backward(), bool fuse = true) {
  return compile(model.graph, schedule, standard_registry(), {.fuse = fuse, .constants_in_cavity = true});
}

struct CavitiesOf {
  explicit CavitiesOf(const Plan& plan) : tau(plan->slots, 0.7), rho(plan->slots, 1.3) {}
  MessageArrays messages() { return {tau.data(), rho.data()}; }
  std::vector<double> tau, rho;
};

// One of the inputs is always 0.
oracle::LineExamples with_silent_input(std::size_t rows, std::size_t inputs, std::size_t silent) {
  oracle::LineExamples examples(rows, inputs, 3);
  for (std::size_t n = 0; n < rows; ++n) examples.x[n * inputs + silent] = 0;
  return examples;
}

}  // namespace

TEST_CASE("held cavities: proper ones of a fused plan that is swept once, and no others") {
  const LearnedLine model(3);
  const auto is_held = [&](const Plan& plan, double rho) {
    HeldCavities held(*plan);
    CavitiesOf cavities(plan);
    cavities.rho[plan->variable(model.w).first_slot + 1] = rho;
    return held.hold(model.w, cavities.messages(), {});
  };
  CHECK(is_held(plan_of(model), 1.0));
  CHECK_FALSE(is_held(plan_of(model), kInfinity));
  CHECK_FALSE(is_held(plan_of(model), 0.0));
  CHECK_FALSE(is_held(plan_of(model), 1e-200));
  CHECK_FALSE(is_held(plan_of(model, forward_backward(), false), 1.0));
  CHECK_FALSE(is_held(plan_of(model, flooding({.tolerance = 1e-9, .limit = 10})), 1.0));
  const LearnedLine single(1);
  HeldCavities one_term(*plan_of(single));
  CHECK_FALSE(one_term.hold(single.w, CavitiesOf(plan_of(single)).messages(), {}));
}

TEST_CASE("held cavities: not where a message is read from it after it has learned") {
  const LearnedLine model(3);
  const Scheduler again{"again",
                        [](const Flow& flow) {
                          Schedule schedule = forward_backward().make(flow);
                          const Schedule forward_again = forward().make(flow);
                          schedule.visits.insert(schedule.visits.end(), forward_again.visits.begin(),
                                                 forward_again.visits.end());
                          return schedule;
                        },
                        true};
  const Plan plan = plan_of(model, again);
  HeldCavities held(*plan);
  CHECK_FALSE(held.hold(model.w, CavitiesOf(plan).messages(), {}));
}

TEST_CASE("held cavities: released without anything learned they are what they were, to the last digit") {
  const LearnedLine model(3);
  const Plan plan = plan_of(model);
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
    const LearnedLine model(4, prior);
    const oracle::LineExamples examples = with_silent_input(50, 4, 2);
    const LearnOptions options{.batches = 7, .epochs = 3, .tolerance = 0};
    Learner held = model.learner(options), natural = model.learner(options, {.fuse = false});
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
