// The pieces of code on the pages of tools/docs that are no part of a program in tools/examples: they stand here line
// by line as they stand there (tests/tools/docs/docs_test.cpp compares), and run.
#include <dma_models.h>
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <cmath>
#include <limits>
#include <optional>
#include <sstream>

#include "engine/run/state_data.h"

using namespace dma;

namespace {

// A parabola of the first column, and something of the others.
Eigen::MatrixXd some_inputs(Eigen::Index rows, Eigen::Index columns) {
  return Eigen::MatrixXd::NullaryExpr(rows, columns, [](Eigen::Index i, Eigen::Index j) {
    return std::sin(1.7 * static_cast<double>(i * (j + 1)) + 0.3 * static_cast<double>(j));
  });
}
Eigen::MatrixXd some_targets(const Eigen::MatrixXd& x) {
  return x.col(0).array().square().matrix() + 0.5 * x.col(x.cols() - 1);
}

std::vector<std::optional<double>> a_series(int length) {
  std::vector<std::optional<double>> values;
  for (int t = 0; t < length; ++t) values.push_back(0.1 * t + std::sin(0.5236 * t) + 0.2 * std::sin(12.9898 * t * t));
  return values;
}

struct Shift {                                             // y = x + offset
  struct Parameters { double offset; };
  static Gaussian to_y(const Gaussian& x, Parameters p) {
    return Gaussian::from_moments(x.mean() + p.offset, x.variance());
  }
  static Gaussian to_x(const Gaussian& y, Parameters p) {
    return Gaussian::from_moments(y.mean() - p.offset, y.variance());
  }
};

}  // namespace

TEST_CASE("docs/methods: a schedule of one's own is exact where it is proved to be") {
const Scheduler backward_forward{"backward_forward", [](const Flow& flow) {
  Schedule schedule{.name = "backward_forward", .visits = {}};
  const auto factors = static_cast<std::uint32_t>(flow.factors());
  for (std::uint32_t f = factors; f-- > 0;) schedule.visits.push_back({f, flow.reads(f), flow.inputs(f)});
  for (std::uint32_t f = 0; f < factors; ++f) schedule.visits.push_back({f, flow.reads(f), flow.outputs(f)});
  return schedule;
}};
  Graph g;
  const auto a = g.variable("a"), b = g.variable("b"), y = g.observed("y");
  g.factor("gaussian_prior", {a}, {{"mean", 0.0}, {"variance", 1.0}});
  g.factor("gaussian_noise", {a, b}, {{"variance", 1.0}});
  g.factor("gaussian_noise", {b, y}, {{"variance", 1.0}});
  const Answer tree = solve(g, {{y, 3.0}}, backward_forward);
  CHECK(tree.report.stop == Report::Stop::exact);
  CHECK(tree[b].mean() == doctest::Approx(2));
  const auto z = g.observed("z");
  g.factor("gaussian_noise", {a, z}, {{"variance", 1.0}});  // b hears of z too late
  CHECK(solve(g, {{y, 3.0}, {z, 1.0}}, backward_forward).report.stop == Report::Stop::exact);
}

TEST_CASE("docs/solvers: a Gaussian process below counts") {
  const std::vector<double> times{0, 1, 2, 3, 4, 5, 6, 7}, seen{2, 3, 6, 9, 8, 5, 3, 1};
  Graph g;
const VariableId f = g.variable("f", times.size()), counts = g.observed("counts", times.size());
const GaussianProcess process = gaussian_process(g, f, times, {.shape = "matern52", .sd = 2, .lengths = {6}});
g.factor("poisson", {f, counts});
JointOptions options;
learn_process(options, "f", process, HyperPrior::half_normal(2), HyperPrior::gamma(25, 4));
  const Answer found = solve(g, {{counts, seen}}, {.joint = options});
  CHECK(found.report.converged());
  CHECK(found[f].mean(3) > found[f].mean(0));
}

TEST_CASE("docs/tables: a network from C++") {
  const Eigen::MatrixXd X = some_inputs(40, 8), y = some_targets(X), X_new = X.topRows(5);
  auto net = dma::Bnn({.layers = {8, 6, 5, 1}, .slopes = {0.4, 0.8}, .noise = 0.2, .seed = 1});
  auto fit = net.fit(X, y, {.batches = 10});
  auto [mean, sd] = net.predict(X_new);
  CHECK(!fit.members.empty());
  CHECK(mean.allFinite());
  CHECK(sd.minCoeff() > 0);
}

TEST_CASE("docs/tables: a network that was saved predicts what it predicted") {
  const Eigen::MatrixXd X = some_inputs(30, 2), y = some_targets(X);
  auto model = TableModel::network({.layers = {2, 4, 1}, .members = 1}, {"a", "b"}, {"y"});
  model.fit({X, y}, {.options = {.epochs = 3}});
  const std::string text = model.text();
  const TableModel loaded = TableModel::from_text(text, "model.dma", standard_registry());
  CHECK(loaded.predict(X).mean == model.predict(X).mean);
}

TEST_CASE("docs/tables: classes from C++") {
  const Eigen::MatrixXd X = some_inputs(30, 2), X_new = X.topRows(4);
  std::vector<std::string> labels;
  for (Eigen::Index i = 0; i < X.rows(); ++i) labels.push_back(X(i, 0) > 0 ? "right" : "left");
  dma::Classifier net;
  net.fit(X, labels);                      // one text per row
  Eigen::MatrixXd p = net.predict(X_new);  // rows x net.classes()
  CHECK(p.rowwise().sum().isApproxToConstant(1));
}

TEST_CASE("docs/models: a series from C++") {
  const auto values = a_series(60);
  StateSpace model({local_trend(), seasonal(12)});
  model.learn(values);                               // std::nullopt: missing
  const Smoothed series = model.smooth(values, 24);  // and 24 steps beyond the end
  CHECK(series.sd.size() == 84);
}

TEST_CASE("docs/series: a model that is chosen") {
  const auto values = a_series(60);
  const SeriesChoice choice(usual_series(values, {.seasons = {12}}), values);
  const Smoothed ahead = choice.smooth(values, 24);  // in the units of the values
  const double median = ahead.quantile(83, 0.5), high = ahead.quantile(83, 0.975);
  CHECK(median < high);
  CHECK(!choice.best().candidate.is_log);
}

TEST_CASE("docs/models: games from C++") {
  const std::vector<Game> games{{{{{0}, 1}, {{1}, 2}}}, {{{{1}, 1}, {{2}, 2}}}};
  const std::size_t players = 3;
  const std::uint32_t ann[] = {0}, ben[] = {2};
  const Season season = rate_season(games, players);
  const Chances next = chances(season, ann, ben);
  CHECK(next.win > 0.5);
}

TEST_CASE("docs/models: other models from C++") {
  const Eigen::MatrixXd x = some_inputs(30, 2);
  const Eigen::VectorXd y = some_targets(x);
  const Eigen::Vector2d start(0.5, 0.5), mean(0, 3), variance(1, 1);
  const Eigen::Matrix2d transition = (Eigen::Matrix2d() << 0.9, 0.1, 0.1, 0.9).finished();
  const auto series = a_series(40);
  Eigen::MatrixXd with_gaps = x;
  with_gaps(3, 1) = std::numeric_limits<double>::quiet_NaN();

  const LinearFit fit = linear_regression(x, y);     // weights together, noise and size of weights inferred
  HiddenMarkov model(start, transition, GaussianEmission{mean, variance});   // or SymbolEmission{probability}
  model.learn(series);                               // std::nullopt: missing
  const auto states = model.decode(series);          // the probability of each state at each step; exact
  const Factorisation table = factorise(with_gaps, {.rank = 2});             // NaN: missing; mean and sd of every entry
  const MixtureFit clusters = gaussian_mixture(x);   // as many as the evidence is for

  CHECK(states.probability.rows() == 40);
  CHECK(std::isfinite(table.mean(3, 1)));
  (void)fit;
  (void)clusters;
}

TEST_CASE("docs/message: the operations of a linear neuron") {
  const std::string shown = R"(
//   once:
//     send      gaussian_prior0 -> x from (), 3 slots, exact
//   sweep:
//     send      product1+sum2 -> total from (x, y), 1 slots, dma
//     send      gaussian_noise3 -> x from (y), 1 slots, exact
//     send      product1+sum2 -> x from (x, y, total), 1 slots, dma
)";
  Graph g;
  auto w = gaussian_prior(g, g.variable("w", 3), 0.0, 1.0), x = g.observed("x", 3), y = g.observed("y");
  gaussian_noise(g, sum(g, product(g, w, x)), 0.04, y);
  std::string expected;
  for (std::size_t at = 0; (at = shown.find("//   ", at)) != shown.npos;) {
    at += 5;
    expected += shown.substr(at, shown.find('\n', at) + 1 - at);
  }
  CHECK(describe(compile(g, forward_backward(), standard_registry())).find(expected) != std::string::npos);
}

TEST_CASE("docs/factors: three ways in") {
  Registry registry = standard_registry();
  registry.add(factor_from_function("softplus", [](double x) { return std::log1p(std::exp(x)); }));
  registry.add(likelihood_from_log_density("poisson_log", [](double x, double y) { return y * x - std::exp(x); }));
  registry.add(likelihood_from_log_density(
      "laplace", [](double x, double y, std::span<const double> p) { return -std::abs(y - x) / p[0]; },
      "y = x and noise with outliers", {{"scale", above(0)}}));
  registry.add(kind("shift", "y = x + offset").input("x").output("y").parameter("offset", finite())
                   .function([](auto x, auto p) { return x[0] + p[0]; })
                   .message<&Shift::to_y>("dma", "y").message<&Shift::to_x>("dma", "x"));
  const Certificate certificate = certify(registry.kind("shift"), "dma", quick_certification());
  fmt::print("shift: {}\n", name(certificate.band));
  CHECK(certificate.band != Band::unbounded);
}

namespace {

using Ends = std::vector<std::pair<std::string, VariableId>>;

// A line for each port, or each term of one: the elements that its slots reach.
std::string picture_of(const State& state, FactorId factor, const Ends& ends) {
  const PlanData& plan = *state.plan();
  const Group& group = plan.groups[plan.membership(factor).group];
  std::size_t width = 0;
  for (const auto& [name, variable] : ends) width = std::max(width, name.size());
  std::string slots = fmt::format("{:<{}}", "slot", width), lines;
  std::size_t end = 0;
  const bool is_one_term_each = ends.size() > 1;
  for (const Group::Port& port : group.ports)
    for (std::uint32_t term = 0; term < (is_one_term_each ? port.terms : 1) && end < ends.size(); ++term, ++end) {
      lines += fmt::format("{:<{}}", ends[end].first, width);
      for (std::uint32_t q = term; q < group.slots * port.terms; q += is_one_term_each ? port.terms : 1) {
        if (end == 0) slots += fmt::format("{:>3}", q / port.terms);
        lines += fmt::format("{:>3}", state.data().element(port, q) - plan.variable(ends[end].second).first_element);
      }
      lines += "\n";
    }
  return slots + "\n" + lines;
}

}  // namespace

TEST_CASE("docs/index_maps: slots reach the elements that the page shows") {
  const std::string on_page = R"(
//   slot       0  1  2  3  4  5
//   row(a)     0  0  0  1  1  1
//   column(b)  0  1  2  0  1  2
//   pairs      0  1  2  3  4  5

//   slot                0  1  2  3  4  5
//   gather(parcel)      0  1  2  0  1  2
//   gather(scale)       0  0  0  1  1  1
//   all_to_one(offset)  0  0  0  0  0  0
//   shown               0  1  2  3  4  5

//   slot          0  1  2  3
//   shift(level)  0  1  2  3
//   level         1  2  3  4

//   slot          0  0
//   given(skill)  3  7
)";
  std::string found;
  const auto show = [&](const Graph& g, FactorId factor, const Ends& ends) {
    State state(compile(g, joint(), standard_registry(), {.fuse = false}));
    std::istringstream lines(picture_of(state, factor, ends));
    for (std::string line; std::getline(lines, line);) found += "//   " + line + "\n";
    found += "\n";
  };
  {
    Graph g;
    const auto a = gaussian_prior(g, g.variable("a", 2), 0.0, 1.0), b = gaussian_prior(g, g.variable("b", 3), 0.0, 1.0),
               pairs = g.variable("pairs", 6);
    g.factor("product", {row(a), column(b), pairs});
    show(g, g.find_factor("product2"), Ends{{"row(a)", a}, {"column(b)", b}, {"pairs", pairs}});
  }
  {
    Graph g;
    const auto parcel = g.variable("parcel", 3), scale = g.variable("scale", 2), offset = g.variable("offset"),
               shown = g.variable("shown", 6);
    for (const VariableId v : {parcel, scale, offset}) gaussian_prior(g, v, 0.0, 1.0);
    g.factor("sum", {gather(parcel, {0, 1, 2, 0, 1, 2}), gather(scale, {0, 0, 0, 1, 1, 1}), all_to_one(offset), shown});
    show(g, g.find_factor("sum3"),
         Ends{{"gather(parcel)", parcel}, {"gather(scale)", scale}, {"all_to_one(offset)", offset}, {"shown", shown}});
  }
  {
    Graph g;
    const auto level = gaussian_prior(g, g.variable("level", 5), 0.0, 1.0);
    g.factor("gaussian_noise", {shift(level), level}, {{"variance", 0.2}});
    show(g, g.find_factor("gaussian_noise1"), Ends{{"shift(level)", level}, {"level", level}});
  }
  Graph g;
  const auto skill = gaussian_prior(g, g.variable("skill", 9), 0.0, 1.0), total = g.variable("total");
  const FactorId game = g.factor("sum", {given(skill, 2), total});
  State state(compile(g, flooding(), standard_registry(), {.fuse = false}));
  state.set_table(game, "terms", {3, 7});
  std::istringstream lines(picture_of(state, game, {{"given(skill)", skill}}));
  for (std::string line; std::getline(lines, line);) found += "//   " + line + "\n";
  CHECK("\n" + found == on_page);
}
