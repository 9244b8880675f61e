// Growing graphs whose motions, readings and priors are chosen by discrete variables. Until one of these has left, the
// beliefs are those of gates() around joint() for the whole graph.
#include <algorithm>
#include <cmath>

#include "engine/gates/gates.h"
#include "engine/joint/joint.h"
#include "engine/support/text.h"
#include "models/graphs/growing.h"
#include "tests/fuzz/graphs.h"
#include "tests/fuzz/targets.h"

namespace dma::fuzz {

namespace {

class RandomSwitching {
 public:
  RandomSwitching(Choices& choices, GrowingGraph& growing)
      : choices_(choices), growing_(growing), values_(choices.between(2, 3)) {}

  // The same nodes for both graphs, which number them alike.
  void step() {
    if (choosers_.empty() || !choices_.one_in(4)) {
      const VariableId z = both([&](Graph& g) { return g.variable("", 1, fmt::format("categorical({})", values_)); });
      const bool is_first = choosers_.empty() || choices_.one_in(4);
      const ParameterValue numbers = choices_.table(is_first ? 1 : values_, values_, choices_.one_in(2));
      if (is_first)
        factor("categorical_prior", {z}, {{"probability", numbers}});
      else
        factor("table", {choosers_.back(), z}, {{"probability", numbers}});
      choosers_.push_back(z);
    }
    const bool is_first = x_.empty();
    x_.push_back(both([](Graph& g) { return g.variable(""); }));
    const VariableId before = x_[x_.size() - (is_first ? 1 : 2)];
    const bool is_gated = !choices_.one_in(3);
    for (std::uint32_t k = 0; k < (is_gated ? values_ : 1); ++k)
      if (is_first || choices_.one_in(8))
        factor("gaussian_prior", {x_.back()}, {{"mean", choices_.ordinary()}, {"variance", width()}}, is_gated, k);
      else
        factor("gaussian_linear", {{"x", before}, {"y", x_.back()}},
               {{"A", 2 * choices_.unit() - 1}, {"b", choices_.unit()}, {"variance", width()}}, is_gated, k);
    for (std::size_t i = choices_.below(3); i > 0; --i) {
      const VariableId y = both([](Graph& g) { return g.observed(""); });
      seen_.emplace_back(y, choices_.ordinary());
      growing_.observe(y, {seen_.back().second});
      const bool has_gate = choices_.one_in(2);
      for (std::uint32_t k = 0; k < (has_gate ? values_ : 1); ++k)
        if (has_gate && choices_.one_in(4))
          factor("gaussian_prior", {y}, {{"mean", 0.0}, {"variance", 100.0}}, true, k);
        else
          factor("gaussian_noise", {choices_.one_in(4) ? before : x_.back(), y}, {{"variance", width()}}, has_gate, k);
    }
  }

  // An error of one is, in this graph, one of the other.
  void compare(const Report& report) const {
    const Plan plan = compile(whole_, gates(joint()), registry());
    State state(plan);
    for (const auto& [y, value] : seen_) state.observe(y, {value});
    if (run(plan, state).stop != report.stop) return;
    for (const std::vector<VariableId>* const list : {&choosers_, &x_})
      for (const VariableId v : *list) {
        const Belief a = growing_.belief(v), b = state.belief(v);
        for (std::size_t k = 0; k < (list == &x_ ? 1 : values_); ++k) {
          const double scale = std::max({b.sd(0, k), 1e-6 * std::abs(b.mean(0, k)), 1e-6});
          promise(std::abs(a.mean(0, k) - b.mean(0, k)) + std::abs(a.sd(0, k) - b.sd(0, k)) <= 1e-4 * scale,
                  "growing {}, as a whole {} of\n{}", a.text(), b.text(), describe(whole_));
        }
      }
  }

  void check(const Report& report) const {
    promise(report.stop == Report::Stop::exact || report.stop == Report::Stop::approximate, "'{}' of\n{}",
            report.line(), describe(whole_));
    const Belief x = growing_.belief(x_.back()), z = growing_.belief(choosers_.back());
    promise(std::isfinite(x.mean()) && x.variance() > 0, "belief {} of\n{}", x.text(), describe(whole_));
    double sum = 0;
    for (std::size_t k = 0; k < values_; ++k) sum += z.mean(0, k);
    promise(std::abs(sum - 1) < 1e-9, "belief {} of\n{}", z.text(), describe(whole_));
  }

 private:
  double width() { return std::exp(6 * choices_.unit() - 3); }
  template <class Add>
  VariableId both(const Add& add) {
    (void)add(growing_.graph());
    return VariableId{add(whole_).value};
  }
  void factor(std::string_view kind, const std::vector<Connection>& ends, const ParameterList& parameters,
              bool is_gated = false, std::uint32_t value = 0) {
    FactorOptions options;
    if (is_gated) options.when = {{choosers_.back(), value}};
    for (Graph* const g : {&growing_.graph(), &whole_}) g->factor(kind, ends, parameters, options);
  }

  Choices& choices_;
  GrowingGraph& growing_;
  std::size_t values_;
  Graph whole_;
  std::vector<VariableId> choosers_, x_;
  std::vector<std::pair<VariableId, double>> seen_;
};

}  // namespace

std::size_t fuzz_switching(Choices& choices) {
  const bool is_whole = choices.one_in(2);
  const std::size_t lag = is_whole ? 100 : choices.between(1, 3), discrete_lag = is_whole ? 100 : choices.between(1, 3);
  GrowingGraph growing(registry(), {.lag = lag, .discrete_lag = discrete_lag});
  RandomSwitching drawn(choices, growing);
  for (std::size_t t = choices.between(1, is_whole ? 5 : 12); t > 0; --t) {
    drawn.step();
    try {
      const Report report = growing.update();
      drawn.check(report);
      if (is_whole) drawn.compare(report);
    } catch (const Error& e) {
      promise_one_line(e.what());
      break;
    }
  }
  return 1;
}

}  // namespace dma::fuzz
