// Graphs that the tests of GaussianLearner learn, and what these tests begin with.
#pragma once

#include "engine/learn/gaussian/learner.h"
#include "engine/learn/gaussian/posterior.h"
#include "engine/learn/gaussian/prediction.h"
#include "engine/learn/gaussian/program/row_model.h"
#include "engine/learn/gaussian/program/row_program.h"
#include "models/graphs/expressions.h"
#include "tests/oracles/linear_rows.h"
#include "tests/oracles/plain_matrix.h"
#include "tests/oracles/random_matrices.h"
#include "tests/oracles/solved.h"

namespace dma::oracle {

struct Regression {
  Graph graph;
  VariableId w, x, y;

  Data data(const PlainMatrix& inputs, const PlainMatrix& targets) const {
    return {{x, inputs.values()}, {y, targets.values()}};
  }
};

// y = w . x + noise, w ~ N(0.5, 2), noise variance 0.25.
inline Regression regression(std::size_t size) {
  Graph g;
  const auto w = g.shared("w", size), x = g.observed("x", size), p = g.variable("p", size), z = g.variable("z"),
             y = g.observed("y");
  g.factor("gaussian_prior", {w}, {{"mean", 0.5}, {"variance", 2.0}});
  g.factor("product", {w, x, p});
  g.factor("sum", {p, z});
  g.factor("gaussian_noise", {z, y}, {{"variance", 0.25}});
  return {std::move(g), w, x, y};
}

// So many numbers from one to another, in equal steps.
inline PlainMatrix evenly(std::size_t count, double from, double to) {
  PlainMatrix all(count, 1);
  for (std::size_t i = 0; i < count; ++i)
    all[i] = from + (to - from) * static_cast<double>(i) / static_cast<double>(count - 1);
  return all;
}

// x ~ x + 1 hidden layer of leaky rectifiers ~ y, all priors about 0.
struct Network {
  Graph graph;
  VariableId x, y;
};
inline Network network(std::size_t units) {
  Graph g;
  const auto x = g.observed("x"), w = g.shared("w", units), b = g.shared("b", units), p = g.variable("p", units),
             z = g.variable("z", units), h = g.variable("h", units), v = g.shared("v", units),
             q = g.variable("q", units), f = g.variable("f"), y = g.observed("y");
  for (const VariableId prior : {w, b, v}) g.factor("gaussian_prior", {prior}, {{"mean", 0.0}, {"variance", 1.0}});
  g.factor("product", {w, all_to_one(x), p});
  g.factor("add", {p, b, z});
  g.factor("leaky_relu", {z, h}, {{"slope", 0.1}});
  g.factor("product", {v, h, q});
  g.factor("sum", {q, f});
  g.factor("gaussian_noise", {f, y}, {{"variance", 0.3}});
  return {std::move(g), x, y};
}

}  // namespace dma::oracle
