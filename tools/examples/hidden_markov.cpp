// A hidden Markov model: which of two dice was thrown, a fair one or one that loves sixes? The die is changed now and
// then, and only the throws are seen. One sweep forward and one backward: exact, and so is the evidence.
//
// Prints:
//   exact
//   loaded: 0.40 0.40 0.50 0.75 0.82 0.78 0.88 0.89 0.83 0.64 0.60 0.34 0.22 0.17 0.17
//   log evidence -24.7803, exact
//   exact
//   loaded: 0.50 0.45 0.41 0.39 0.37 0.36 0.35 0.35 0.34 0.34 0.34 0.34 0.34 0.33 0.33
//   log evidence -26.8764, exact
//   a loaded die is 8.1 times as likely as none
#include <dma.h>
#include <fmt/core.h>

int main() {
  using namespace dma;
  const std::vector<double> throws{1, 3, 0, 5, 5, 2, 5, 5, 5, 4, 5, 0, 2, 1, 3};  // 5 is a six
  const std::vector<double> stay{0.9, 0.1, 0.2, 0.8};                            // from fair, from loaded
  const std::vector<double> faces{1. / 6, 1. / 6, 1. / 6, 1. / 6, 1. / 6, 1. / 6, 0.1, 0.1, 0.1, 0.1, 0.1, 0.5};

  const auto model = [&](const std::vector<double>& of_faces) {
    Graph g;  // as plates: slot t of the second factor leads from throw t - 1 to throw t
    const auto die = g.variable("die", throws.size(), "categorical(2)");
    const auto seen = g.observed("throws", throws.size(), "categorical(6)");
    g.factor("categorical_prior", {gather(die, {0})}, {{"probability", {0.5, 0.5}}});
    g.factor("table", {shift(die), die}, {{"probability", stay}});
    g.factor("table", {die, seen}, {{"probability", of_faces}});
    const Plan plan = compile(g, forward_backward(), standard_registry());
    State state(plan);
    state.observe(seen, throws);
    const Report report = run(plan, state);
    fmt::print("{}\nloaded:", report.stop == Report::Stop::exact ? "exact" : report.line());
    for (std::size_t t = 0; t < throws.size(); ++t) fmt::print(" {:.2f}", state.belief(die).mean(t, 1));
    fmt::print("\n{}\n", evidence(plan, state));
    return log_evidence(plan, state);
  };
  const double loaded = model(faces), fair = model(std::vector<double>(12, 1. / 6));
  fmt::print("a loaded die is {:.1f} times as likely as none\n", std::exp(loaded - fair));
}
