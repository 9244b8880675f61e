// Damaged graph files: refused in one line, or read as a graph that survives writing and reading, and runs.
#include <string_view>

#include "engine/compile/memory_need.h"
#include "engine/exact/exact.h"
#include "engine/joint/joint.h"
#include "engine/support/error.h"
#include "models/graphs/graph_file.h"
#include "schedules/flooding.h"
#include "schedules/forward_backward.h"
#include "tests/fuzz/graphs.h"
#include "tests/fuzz/targets.h"

namespace dma::fuzz {

namespace {

constexpr double kMostGraphBytes = 64e6;

constexpr std::string_view kGraphFiles[] = {
    R"({"variables": {"x": {"size": 3}, "y": {"size": 2, "observed": [1.5, null]}}, "factors": [
      {"kind": "gaussian_prior", "connects": ["x"], "parameters": {"mean": 0, "variance": [1, 2, 3]}},
      {"kind": "gaussian_noise", "connects": [{"variable": "x", "reach": "gather", "table": [0, 2]}, "y"],
       "parameters": {"variance": 1}}], "schedule": "flooding"})",
    R"json({"variables": {"rain": {"family": "categorical(2)"}, "mood": {"family": "categorical(3)"},
      "wet": {"family": "categorical(2)", "observed": 1}}, "factors": [
      {"kind": "categorical_prior", "connects": ["rain"], "parameters": {"probability": [0.8, 0.2]}},
      {"kind": "categorical_prior", "connects": ["mood"], "parameters": {"probability": [0.5, 0, 0.5]}},
      {"kind": "table", "connects": ["rain", "mood", "wet"],
       "parameters": {"probability": [0.9, 0.1, 1, 0, 0.5, 0.5, 0.2, 0.8, 0, 1, 0.3, 0.7]}}]})json",
    R"json({"variables": {"t": {"family": "gamma"}, "m": {}, "y": {"size": 3, "observed": [1, 2, 4]},
      "p": {"family": "dirichlet(3)"}, "k": {"size": 2, "family": "categorical(3)", "observed": [0, 2]}}, "factors": [
      {"kind": "gamma_prior", "connects": ["t"], "parameters": {"shape": 2, "rate": 1}},
      {"kind": "gaussian_prior", "connects": ["m"], "parameters": {"mean": 0, "variance": 10}},
      {"kind": "gaussian_precision", "connects": [{"variable": "m", "reach": "all_to_one"},
       {"variable": "t", "reach": "all_to_one"}, "y"], "method": "ep", "damping": 0.1},
      {"kind": "dirichlet_prior", "connects": ["p"], "parameters": {"concentration": 1}},
      {"kind": "categorical_draw", "connects": [{"variable": "p", "reach": "all_to_one"}, "k"]}], "method": "ep"})json",
    R"({"variables": {"x": {"size": 5}, "y": {"size": 5, "observed": [1, 2, 3, 4, 5]}}, "factors": [
      {"kind": "gaussian_prior", "connects": [{"variable": "x", "reach": "gather", "table": [0]}],
       "parameters": {"mean": 0, "variance": 1}},
      {"kind": "gaussian_noise", "connects": [{"variable": "x", "reach": "shift", "lag": 1}, "x"],
       "parameters": {"variance": 0.5}},
      {"kind": "poisson", "connects": ["x", "y"]}], "schedule": "joint"})",
    R"({"variables": {"m": {}, "x": {"size": 3}, "y": {"size": 3, "observed": [1, 3, -2]}}, "factors": [
      {"kind": "gaussian_prior", "connects": ["m"], "parameters": {"mean": 0, "variance": 25}},
      {"kind": "gaussian_noise", "name": "e", "connects": [{"variable": "m", "reach": "all_to_one"}, "x"],
       "parameters": {"variance": 1}},
      {"kind": "gaussian_linear", "connects": ["x", "y"], "parameters": {"A": 2, "variance": [1, 2, 1]}}],
      "hypers": {"t": {"prior": {"half_student_t": [3, 2]}, "of": [{"factor": "e", "parameter": "variance", "power": 2,
       "times": [1, 2, 3]}]}}, "schedule": "joint"})",
    R"json({"variables": {"pulse": {"categories": ["LOW", "HIGH"]}, "s": {"size": 3, "family": "categorical(2)"},
      "seen": {"categories": ["no", "yes"], "observed": "yes"}}, "factors": [
      {"kind": "potential", "connects": ["s", {"variable": "s", "reach": "gather", "table": [1, 2, 0]}],
       "parameters": {"weight": [2, 1, 1, 2]}},
      {"kind": "table", "connects": [{"variable": "s", "reach": "gather", "table": [0]}, "pulse"],
       "parameters": {"probability": [0.9, 0.1, 0, 1]}},
      {"kind": "table", "connects": ["pulse", "seen"], "parameters": {"probability": [0.3, 0.7, 0.5, 0.5]}}],
      "schedule": "exact"})json",
    R"json({"variables": {"x": {"size": 3}, "c": {"size": 2}, "k": {"family": "categorical(3)", "observed": 2},
      "l": {"family": "categorical(2)"}, "y": {"size": 3, "observed": [0, 2, 1]}}, "factors": [
      {"kind": "gaussian_prior", "connects": ["x"], "parameters": {"mean": 0, "variance": 2}},
      {"kind": "gaussian_prior", "connects": ["c"], "parameters": {"mean": [-1, 1], "variance": 0.5}},
      {"kind": "softmax", "connects": ["x", "k"]},
      {"kind": "ordered", "connects": ["x", {"variable": "c", "reach": "gather", "table": [0, 1, 0, 1, 0, 1]}, "y"]},
      {"kind": "interval", "connects": [{"variable": "x", "reach": "gather", "table": [0]}, "l"],
       "parameters": {"cuts": 0.5, "noise": 1}}], "schedule": "flooding", "method": "ep"})json",
    R"json({"variables": {"w": {"size": "2 * n", "shared": true}, "v": {"size": "n"}, "y": {"observed": 1}},
      "factors": [
      {"kind": "gaussian_prior", "connects": ["w"], "parameters": {"mean": 0, "variance": "1 / (n + s * s)"}},
      {"kind": "sum", "connects": ["w", "v"]}, {"kind": "gaussian_noise", "connects": [{"variable": "v",
       "reach": "gather", "table": [0]}, "y"], "parameters": {"variance": "-(n - 4) / 2"}}], "schedule": "joint",
      "choices": {"sizes": {"n": [2, 3], "m": [1, 5]}, "smoothing": {"s": [0.5, 1]}}})json",
    R"(network n { property x = (1); }
      variable a { type discrete [ 2 ] { no, yes }; }
      variable b { type discrete [ 3 ] { x, "y z", w }; }
      probability ( a ) { table 0.4, 0.6; } // first
      probability ( b | a ) { (no) 0.2, 0.3, 0.5; default 0.1, 0.1, 0.8; })",
    "MARKOV\n3\n2 2 3\n2\n2 0 1\n2 2 0\n4\n1 2 3 4\n6\n0 1 2.5 1 1e-3 4\n"};

}  // namespace

std::size_t fuzz_graph_file(Choices& choices) {
  const std::string seed(choices.any_of(kGraphFiles));
  const std::string text = mutated(seed, choices);
  try {
    const GraphFile file = parse_graph(text);
    const std::string written = graph_text(file);
    promise(graph_text(parse_graph(written)) == written, "a graph is read as another than was written:\n{}", written);
    for (const std::vector<std::size_t>& sizes : file.choices.sizes)
      promise(file.chosen(sizes, 1).choices.empty(), "a graph leaves open what was chosen");
    if (memory_need(file.graph, registry()).bytes > kMostGraphBytes) return 1;
    const CompileOptions options{.method = file.method.empty() ? "ep" : file.method};
    const Joint whole = joint({.limit = 50, .hypers = file.hypers});
    const Plan plan = file.schedule == "joint" ? compile(file.graph, whole, registry(), options)
                      : file.schedule == "exact"
                          ? compile(file.graph, exact({.memory = 1u << 24}), registry(), options)
                      : file.schedule == "flooding" ? compile(file.graph, flooding({.limit = 50}), registry(), options)
                                                    : compile(file.graph, forward_backward(), registry(), options);
    State state(plan);
    file.observe(state);
    const Report report = run(plan, state);
    check_beliefs(file.graph, state, report);
    (void)exact_evidence(plan, state, file.graph);
  } catch (const Error& e) {
    promise_one_line(e.what());
  }
  return 1;
}

}  // namespace dma::fuzz
