#include "factors/authoring/from_function.h"
#include "tests/engine/learn/gaussian/learned_graphs.h"
#include "tests/oracles/high_precision.h"

namespace {

using oracle::PlainMatrix, oracle::diagonal_matrix, oracle::largest_difference, oracle::largest_size,
    oracle::random_matrix;
using Digits = oracle::Real;

// f of one row at scalars m, in 50 digits.
using Formula = std::function<Digits(const std::vector<Digits>& m, const std::vector<Digits>& row)>;

std::vector<Digits> digits(const PlainMatrix& numbers) {
  std::vector<Digits> all;
  for (const double number : numbers.values()) all.push_back(Digits(number));
  return all;
}

// Values and gains of one output against the formula, whose derivatives are central differences with a step of 1e-16;
// then the gains in all other forms against the dense ones.
void check(const RowProgram& program, const Matrix& rows, const Vector& m, Index output, const Formula& formula,
           double tolerance = 1e-12) {
  Matrix f, gains, again;
  program.linearise(m, rows, f, gains);
  program.evaluate(m, rows, again);
  CHECK(largest_difference(f, again) < 1e-14);
  const Digits step("1e-16");
  for (Index n = 0; n < rows.rows(); ++n) {
    const auto row = digits(PlainMatrix(rows).row(n)), at = digits(m);
    CHECK(f(n, output) == oracle::relative(static_cast<double>(formula(at, row)), tolerance));
    for (Index i = 0; i < m.size(); ++i) {
      auto above = at, below = at;
      above[static_cast<std::size_t>(i)] += step;
      below[static_cast<std::size_t>(i)] -= step;
      const auto slope = static_cast<double>((formula(above, row) - formula(below, row)) / (2 * step));
      CHECK(std::abs(gains(output * rows.rows() + n, i) - slope) < tolerance * (1 + std::abs(slope)));
    }
  }
}

void check_forms(const RowProgram& program, const Matrix& rows, const Matrix& others, const Vector& m) {
  Matrix f, gains, other_gains, g;
  program.linearise(m, others, f, other_gains);
  program.linearise(m, rows, f, gains);
  for (const bool even : {true, false}) {
    Vector variance = random_matrix(m.size(), 1, 11);
    for (Index i = 0; i < m.size(); ++i)
      variance(i) = even ? 1 / program.prior().precision(i) : 1 + std::abs(variance(i));
    const auto own = program.gains(m, rows, variance, g), its = program.gains(m, others, variance, g);
    const PlainMatrix spread = gains * diagonal_matrix(variance), kernel = spread * PlainMatrix(gains).transpose();
    const double rounding = 1e-12 * (1 + largest_size(kernel)), of_gains = 1e-12 * (1 + largest_size(gains));
    CHECK(largest_difference(own->kernel(variance), kernel) < rounding);
    CHECK(largest_difference(own->kernel_diagonal(variance), kernel.diagonal()) < rounding);
    CHECK(largest_difference(own->kernel_with(*its, variance), spread * PlainMatrix(other_gains).transpose()) <
          rounding);
    const Vector u = random_matrix(m.size(), 1, 4), e = random_matrix(gains.rows(), 1, 5);
    CHECK(largest_difference(own->forward(u), PlainMatrix(gains) * u) < of_gains);
    CHECK(largest_difference(own->backward(e), PlainMatrix(gains).transpose() * e) < of_gains);
  }
  PlainMatrix by_units(gains.rows(), gains.cols());
  const Index n = rows.rows();
  std::vector<int> seen(static_cast<std::size_t>(m.size()));
  for (const UnitGains& unit : program.units(m, rows, g))
    for (std::size_t i = 0; i < unit.scalars.size(); ++i) {
      ++seen[static_cast<std::size_t>(unit.scalars[i])];
      for (Index k = 0; k < program.outputs(); ++k)
        for (Index row = 0; row < n; ++row)
          by_units(k * n + row, unit.scalars[i]) = unit.inputs(row, static_cast<Index>(i)) * unit.up(row, k);
    }
  CHECK(seen == std::vector<int>(seen.size(), 1));
  CHECK(largest_difference(by_units, gains) < 1e-12 * (1 + largest_size(gains)));
  CHECK(largest_difference(g, f) < 1e-14);
}

void prior(Graph& g, VariableId v) { g.factor("gaussian_prior", {v}, {{"mean", 0.25}, {"variance", 0.5}}); }

// Two outputs over two hidden layers, noise on the inputs of both, a skip connection around the second.
struct Skipping {
  Graph graph;
  VariableId x, y;
};
Skipping skipping(double noise) {
  Graph g;
  const auto x = g.observed("x", 2), y = g.observed("y", 2);
  VariableId h = x;
  std::vector<VariableId> hidden;
  for (const std::string layer : {"1", "2"}) {
    const std::size_t width = layer == "1" ? 2 : 3;
    const auto w = g.shared("W" + layer, 3 * width), b = g.shared("b" + layer, 3),
               p = g.variable("p" + layer, 3 * width), s = g.variable("s" + layer, 3), z = g.variable("z" + layer, 3),
               noisy = g.variable("n" + layer, width), a = g.variable("a" + layer, 3);
    prior(g, w), prior(g, b);
    g.factor("gaussian_noise", {h, noisy}, {{"variance", noise}});
    g.factor("product", {w, column(noisy), p});
    g.factor("sum", {p, s});
    g.factor("add", {s, b, z});
    g.factor("leaky_relu", {z, a}, {{"slope", 0.2}});
    hidden.push_back(h = a);
  }
  const auto sum = g.variable("sum", 3), v = g.shared("V", 6), q = g.variable("q", 6), f = g.variable("f", 2);
  prior(g, v);
  g.factor("add", {hidden[0], hidden[1], sum});
  g.factor("product", {v, column(sum), q});
  g.factor("sum", {q, f});
  g.factor("gaussian_noise", {f, y}, {{"variance", {0.1, 0.2}}});
  return {std::move(g), x, y};
}

Digits averaged_leaky(const Digits& mean, const Digits& variance, const Digits& slope) {
  const Digits sd = sqrt(variance), t = mean / sd;
  const auto [density, below, above] = oracle::halves(t);
  return slope * mean + (1 - slope) * (mean * below + sd * density);
}

}  // namespace

TEST_CASE("row program: a smoothed network with a skip connection is its formula in 50 digits") {
  const Skipping net = skipping(0.25);
  const RowProgram program(net.graph, standard_registry(), {net.y});
  CHECK(program.noise() == std::vector<double>{0.1, 0.2});
  CHECK(program.inputs() == std::vector<VariableId>{net.x});
  const Matrix rows = random_matrix(3, 2, 1);
  const Vector m = draw(program.prior(), 3);
  for (const int output : {0, 1}) {
    const Formula formula = [output](const std::vector<Digits>& w, const std::vector<Digits>& x) {
      std::vector<Digits> h = x, sum(3);
      std::size_t at = 0;
      for (int layer = 0; layer < 2; ++layer) {
        std::vector<Digits> next;
        for (std::size_t j = 0; j < 3; ++j) {
          Digits z = w[at + 3 * h.size() + j], v = 0;
          for (std::size_t i = 0; i < h.size(); ++i) {
            const Digits& weight = w[at + j * h.size() + i];
            z += weight * h[i], v += weight * weight / 4;
          }
          next.push_back(averaged_leaky(z, v, Digits(1) / 5));
          sum[j] += next.back();
        }
        at += 3 * h.size() + 3;
        h = next;
      }
      Digits f = 0;
      for (std::size_t j = 0; j < 3; ++j) f += w[at + static_cast<std::size_t>(output) * 3 + j] * sum[j];
      return f;
    };
    check(program, rows, m, output, formula);
  }
  check_forms(program, rows, random_matrix(2, 2, 8), m);
  const std::string text = describe(program);
  CHECK(text.starts_with("row program: inputs 2, shared scalars 27, outputs 2, steps 6\n"));
  CHECK(text.find("affine     z1 (3) = W1 n1 + b1\n") != std::string::npos);
  CHECK(text.find("function   a1 (3) = leaky_relu(z1), averaged over noise\n") != std::string::npos);
  CHECK(text.find("linear     sum (3) = a1 + a2\n") != std::string::npos);
  CHECK(text.find("affine     f (2) = V sum\n") != std::string::npos);
}

// A filter of three weights over a series of five, each result through tanh, then a sum: weights are used three times.
TEST_CASE("row program: a convolution by gathered weights is its formula in 50 digits") {
  Registry registry = standard_registry();
  registry.add(factor_from_function("tanh", [](double x) { return std::tanh(x); }));
  Graph g;
  const auto x = g.observed("x", 5), k = g.shared("k", 3), p = g.variable("p", 9), z = g.variable("z", 3),
             a = g.variable("a", 3), f = g.variable("f"), y = g.observed("y");
  prior(g, k);
  g.factor("product", {gather(k, {0, 1, 2, 0, 1, 2, 0, 1, 2}), gather(x, {0, 1, 2, 1, 2, 3, 2, 3, 4}), p});
  g.factor("sum", {p, z});
  g.factor("tanh", {z, a});
  g.factor("sum", {a, f}, {{"coefficients", {1.0, -0.5, 2.0}}});
  g.factor("gaussian_noise", {f, y}, {{"variance", 0.1}});
  const RowProgram program(g, registry, {y});
  const Matrix rows = random_matrix(4, 5, 1);
  const Vector m = draw(program.prior(), 3);
  const Formula formula = [](const std::vector<Digits>& w, const std::vector<Digits>& v) {
    const auto filtered = [&](std::size_t i) -> Digits {
      return tanh(w[0] * v[i] + w[1] * v[i + 1] + w[2] * v[i + 2]);
    };
    return Digits(filtered(0) - filtered(1) / 2 + 2 * filtered(2));
  };
  check(program, rows, m, 0, formula, 1e-9);  // the lambda is differentiated numerically
  check_forms(program, rows, random_matrix(2, 5, 8), m);
  CHECK(describe(program).find("products   z (3) = k x\n") != std::string::npos);
}

TEST_CASE("row program: a formula of scalars alone, without a matrix in it") {
  Graph g;  // y = a exp(-b t) + c
  const auto a = g.shared("a"), b = g.shared("b"), c = g.shared("c"), t = g.observed("t"), bt = g.variable("bt"),
             minus = g.variable("minus"), e = g.variable("e"), ae = g.variable("ae"), f = g.variable("f"),
             y = g.observed("y");
  for (const VariableId v : {a, b, c}) prior(g, v);
  g.factor("product", {b, t, bt});
  g.factor("affine", {bt, minus}, {{"a", -1.0}, {"b", 0.0}});
  g.factor("exponential", {minus, e});
  g.factor("product", {e, a, ae});
  g.factor("add", {ae, c, f});
  g.factor("gaussian_noise", {f, y}, {{"variance", 0.1}});
  const RowProgram program(g, standard_registry(), {y});
  Matrix rows = random_matrix(4, 1, 1);
  for (Index n = 0; n < 4; ++n) rows(n, 0) = std::abs(rows(n, 0));
  const Vector m = draw(program.prior(), 3);
  check(program, rows, m, 0, [](const std::vector<Digits>& w, const std::vector<Digits>& v) {
    return Digits(w[0] * exp(-w[1] * v[0]) + w[2]);
  });
  check_forms(program, rows, random_matrix(2, 1, 8), m);
  // The likelihood is another's business where the target is the computed variable.
  const RowProgram of_value(g, standard_registry(), {f});
  CHECK(of_value.noise() == std::vector<double>{0});
  Matrix one, other;
  program.evaluate(m, rows, one);
  of_value.evaluate(m, rows, other);
  CHECK(PlainMatrix(one).values() == PlainMatrix(other).values());
}

TEST_CASE("row program: an element that a table of the data chooses") {
  Graph g;
  const auto effect = g.shared("effect", 4), w = g.shared("w"), x = g.observed("x"), wx = g.variable("wx"),
             f = g.variable("f"), y = g.observed("y");
  prior(g, effect), prior(g, w);
  g.factor("product", {w, x, wx});
  const auto chosen = g.factor("add", {given(effect), wx, f}, {}, {.name = "effect_of_group"});
  g.factor("gaussian_noise", {f, y}, {{"variance", 0.1}});
  const RowProgram program(g, standard_registry(), {y});
  REQUIRE(program.tables().size() == 1);
  CHECK(program.tables()[0].factor == chosen);
  CHECK(program.tables()[0].choices == 4);
  REQUIRE(program.input_size() == 2);
  Matrix rows = random_matrix(5, 2, 1), others = random_matrix(2, 2, 2);
  rows(0, 1) = 3, rows(1, 1) = 0, rows(2, 1) = 2, rows(3, 1) = 2, rows(4, 1) = 1;
  others(0, 1) = 1, others(1, 1) = 3;
  const Vector m = draw(program.prior(), 3);
  check(program, rows, m, 0, [](const std::vector<Digits>& v, const std::vector<Digits>& row) {
    return Digits(v[static_cast<std::size_t>(static_cast<int>(row[1]))] + v[4] * row[0]);
  });
  check_forms(program, rows, others, m);
}

TEST_CASE("row program: a target that is an input with noise beside one that is computed") {
  Graph g;
  const auto w = g.shared("w"), x = g.observed("x"), f = g.variable("f"), y = g.observed("y"),
             seen = g.observed("seen");
  prior(g, w);
  g.factor("product", {w, x, f});
  g.factor("gaussian_noise", {f, y}, {{"variance", 0.1}});
  g.factor("gaussian_noise", {x, seen}, {{"variance", 0.2}});
  const RowProgram program(g, standard_registry(), {y, seen});
  const Matrix rows = random_matrix(4, 1, 5);
  const Vector m = Vector::Constant(1, 0.7);
  Matrix values, gains;
  program.linearise(m, rows, values, gains);
  CHECK(values.col(0) == 0.7 * rows);
  CHECK(values.col(1) == rows);
  CHECK(gains.topRows(4) == rows);
  CHECK(gains.bottomRows(4) == Matrix::Zero(4, 1));
}

TEST_CASE("row program: noise that is not on its way to a function") {
  Graph g;  // y = w x + noise, in two parts
  const auto w = g.shared("w"), x = g.observed("x"), z = g.variable("z"), noisy = g.variable("noisy"),
             y = g.observed("y");
  prior(g, w);
  g.factor("product", {w, x, z});
  g.factor("gaussian_noise", {z, noisy}, {{"variance", 0.25}});
  g.factor("gaussian_noise", {noisy, y}, {{"variance", 0.5}});
  CHECK(RowProgram(g, standard_registry(), {y}).noise() == std::vector<double>{0.75});

  Graph h;
  const auto v = h.shared("v"), u = h.observed("u"), n = h.variable("n"), f = h.variable("f"), t = h.observed("t");
  prior(h, v);
  h.factor("gaussian_noise", {u, n}, {{"variance", 0.25}});
  h.factor("product", {v, n, f});
  h.factor("gaussian_noise", {f, t}, {{"variance", 0.5}});
  CHECK_THROWS_WITH_AS(
      RowProgram(h, standard_registry(), {t}),
      "Gaussian learning: noise on an input reaches 'f' through weights alone, and its width would depend on them; put "
      "a function between, or the noise behind the weights",
      Error);
}

TEST_CASE("row program: a graph that is none is refused by name, with the way out") {
  const Registry registry = standard_registry();
  const auto refused = [&](const auto& build) -> std::string {
    Graph g;
    const auto w = g.shared("w"), x = g.observed("x"), z = g.variable("z"), y = g.observed("y");
    g.factor("product", {w, x, z});
    build(g, w, x, z, y);
    return oracle::error_of([&] { const RowProgram program(g, registry, {y}); });
  };
  const auto noise = [](Graph& g, VariableId z, VariableId y) {
    g.factor("gaussian_noise", {z, y}, {{"variance", 0.1}});
  };
  CHECK(refused([&](Graph& g, auto w, auto, auto z, auto y) { prior(g, w), noise(g, z, y); }) == "");
  CHECK(
      refused([&](Graph& g, auto w, auto, auto z, auto y) {
        prior(g, w), g.factor("copy", {z, y});
      }) ==
      "Gaussian learning: factor 'copy2' computes 'y', which is observed; let it compute a variable of its own and put "
      "gaussian_noise between the two");
  CHECK(refused([&](Graph& g, auto w, auto, auto z, auto y) { prior(g, w), g.factor("logistic", {z, y}); }) == "");
  CHECK(refused([&](Graph& g, auto w, auto, auto, auto y) { prior(g, w), prior(g, y); }) ==
        "Gaussian learning: target 'y' has no likelihood; put gaussian_noise, another density of one input such as "
        "poisson or logistic, or for a class softmax, between it and computed variables, or learn the graph by message "
        "sweeps (Learner)");
  CHECK(refused([&](Graph& g, auto, auto, auto z, auto y) { noise(g, z, y); }) ==
        "Gaussian learning: shared variable 'w' has no Gaussian prior; give it one by gaussian_prior");
  CHECK(refused([&](Graph& g, auto w, auto, auto, auto y) { prior(g, w), noise(g, g.variable("u"), y); }) ==
        "Gaussian learning: variable 'u' is computed by no function of shared and observed ones; add the factor that "
        "computes it, or learn the graph by message sweeps (Learner)");
  CHECK(refused([&](Graph& g, auto w, auto, auto z, auto y) {
          prior(g, w), noise(g, z, y), g.factor("logistic", {z, g.observed("o")}, {}, {.method = "ep"});
        }) ==
        "Gaussian learning: factor 'logistic3' of kind 'logistic' says something of 'z' and is neither a prior of a "
        "shared variable nor the likelihood of a target; message sweeps (Learner) can learn such a graph");
  CHECK(refused([&](Graph& g, auto w, auto x, auto z, auto y) {
          prior(g, w), noise(g, z, y), g.factor("add", {x, w, z});
        }) == "Gaussian learning: factors 'product0' and 'add3' both compute 'z'; one of them must go");
}

TEST_CASE("row program: the first value or derivative that is not finite is named with its row") {
  Registry registry = standard_registry();
  registry.add(factor_from_function("root", [](double x) { return std::sqrt(x); }));
  Graph g;
  const auto w = g.shared("w"), x = g.observed("x"), z = g.variable("z"), r = g.variable("r"), y = g.observed("y");
  prior(g, w);
  g.factor("product", {w, x, z});
  g.factor("root", {z, r});
  g.factor("gaussian_noise", {r, y}, {{"variance", 0.1}});
  const RowProgram program(g, registry, {y});
  CHECK(program.first_fault(Vector::Ones(1), Matrix::Ones(3, 1)).empty());
  Matrix rows = Matrix::Ones(3, 1);
  rows(1, 0) = -1;
  CHECK(program.first_fault(Vector::Ones(1), rows) == "the value of 'r (1) = root(z)' is not a finite number in row 2");
}
