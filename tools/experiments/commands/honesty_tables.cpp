#include "tools/experiments/commands/honesty_tables.h"

#include <fmt/format.h>

#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/uniform_real_distribution.hpp>
#include <cmath>
#include <map>
#include <numbers>
#include <tuple>

#include "engine/support/text.h"

namespace dma::validation {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Row = Eigen::RowVectorXd;

struct Source {
  explicit Source(std::uint64_t seed) : random(seed) {}
  double normal() { return gaussian(random); }
  double uniform(double low, double high) {
    return boost::random::uniform_real_distribution<double>(low, high)(random);
  }
  double student(int degrees) {
    const double top = normal();
    double squares = 0;
    for (int k = 0; k < degrees; ++k) squares += std::pow(normal(), 2);
    return top / std::sqrt(squares / degrees);
  }
  int poisson(double mean) {
    int count = 0;
    for (double product = uniform(0, 1); product > std::exp(-mean); product *= uniform(0, 1)) ++count;
    return count;
  }
  boost::random::mt19937_64 random;
  boost::random::normal_distribution<double> gaussian;
};

// Columns of tables that no setting was made for.
double far(double z) { return std::sinh(1.5 * z); }                                          // heavy tails
double code(double z) { return std::floor(5 * 0.5 * std::erfc(-z / std::numbers::sqrt2)); }  // 0 to 4

// Friedman's laws are of columns uniform on [0, 1]: standard normal ones through their own distribution function.
double uniform_of(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }
void uniform_columns(MatrixXd& x, Source&) { x = x.unaryExpr(&uniform_of); }

double friedman_1(const Row& z) {
  const Row x = z.unaryExpr(&uniform_of);
  return 10 * std::sin(std::numbers::pi * x(0) * x(1)) + 20 * std::pow(x(2) - 0.5, 2) + 10 * x(3) + 5 * x(4);
}

struct Circuit {  // resistance, angular frequency, inductance, capacity
  explicit Circuit(const Row& z)
      : r(100 * uniform_of(z(0))), reactance(w(z) * uniform_of(z(2)) - 1 / (w(z) * (1 + 10 * uniform_of(z(3))))) {}
  static double w(const Row& z) { return std::numbers::pi * (40 + 520 * uniform_of(z(1))); }
  double r, reactance;
};
double friedman_impedance(const Row& z) {
  const Circuit c(z);
  return std::hypot(c.r, c.reactance);
}
double friedman_phase(const Row& z) {
  const Circuit c(z);
  return std::atan(c.reactance / c.r);
}

using Mean = double (*)(const Row&);
using Target = double (*)(const Row&, Source&);
using Columns = void (*)(MatrixXd&, Source&);

// The target is a function of standard normal features and normal noise, or drawn by a function of its own.
struct Law {
  Index features, rows;
  double noise = 0;
  Mean mean = nullptr;
  Target target = nullptr;
  Columns columns = nullptr;  // changes the features, or adds some, afterwards
  double least = 0.90, most = 0.99;
  Index test_rows = 1000;

  double draw(const Row& x, Source& s) const {
    return target != nullptr ? target(x, s) : mean(x) + (noise > 0 ? noise * s.normal() : 0);
  }
};

double nothing(const Row&) { return 0; }
double signal(const Row& x) { return x(0) + 0.5 * x(1) * x(2); }
double strong(const Row& x) { return 3 * signal(x); }
double sine_of_3(const Row& x) { return std::sin(3 * x(0)); }

const std::map<std::string, Law>& laws() {
  static const std::map<std::string, Law> kLaws = {
      {"noise, 20 features", {20, 1000, 1, nothing}},
      {"noise, 50 features", {50, 1000, 1, nothing}},
      {"noise, 150 features x 60", {150, 60, 1, nothing}},
      {"weak signal, 20 x 300", {20, 300, 1.5, signal}},
      {"weak signal, 50 x 1000", {50, 1000, 1.5, signal}},
      {"strong signal, 50 x 1000", {50, 1000, 0.3, strong}},
      {"linear, no noise", {5, 300, 0, [](const Row& x) { return x.sum(); }, nullptr, nullptr, 0.90, 1}},
      {"10 rows", {3, 10, 0.5, [](const Row& x) { return x(0); }, nullptr, nullptr, 0.90, 1}},
      {"sin(3x)", {1, 200, 0.1, sine_of_3}},
      {"sin(3x), 50 rows", {1, 50, 0.03, sine_of_3}},
      {"step", {1, 200, 0.1, [](const Row& x) { return x(0) > 0 ? 1.0 : -1.0; }}},
      {"feature x 1e9", {5, 500, 0.3, signal, nullptr, [](MatrixXd& x, Source&) { x.col(0) *= 1e9; }}},
      {"duplicated, constant",
       {5, 500, 0.3, signal, nullptr,
        [](MatrixXd& x, Source&) {
          const MatrixXd old = x;
          x.resize(old.rows(), 8);
          x << old, old.col(0), MatrixXd::Constant(old.rows(), 1, 7), 2 * old.col(1);
        }}},
      {"200 features x 100", {200, 100, 0.3, [](const Row& x) { return x.head(5).sum(); }}},
      {"Friedman 1", {10, 300, 1, friedman_1, nullptr, uniform_columns}},
      {"Friedman 2", {4, 300, 125, friedman_impedance, nullptr, uniform_columns}},
      {"Friedman 3", {4, 300, 0.1, friedman_phase, nullptr, uniform_columns}},
      {"sparse, 100 features x 300", {100, 300, 0.5, [](const Row& x) { return x(3) - 2 * x(17) + x(58); }}},
      {"interactions, 10 x 1000",
       {10, 1000, 0.3, [](const Row& x) { return x(0) * x(1) + std::sin(x(2)) + std::abs(x(3)); }}},
      {"product, 10 x 500", {10, 500, 0.1, [](const Row& x) { return x(0) * x(1); }}},
      {"codes",
       {3, 600, 0.5, [](const Row& x) { return (code(x(0)) == 2 ? 4 : -code(x(0))) + (code(x(1)) > 2 ? x(2) : 0); },
        nullptr, [](MatrixXd& x, Source&) { x.leftCols(2) = x.leftCols(2).unaryExpr(&code).eval(); }}},
      {"heavy-tailed inputs",
       {4, 400, 0.2, [](const Row& x) { return std::atan(far(x(0))) + 0.3 * far(x(1)); }, nullptr,
        [](MatrixXd& x, Source&) { x = x.unaryExpr(&far).eval(); }}},
      {"5 % outliers",
       {.features = 5,
        .rows = 500,
        .target = [](const Row& x, Source& s) { return signal(x) + (s.uniform(0, 1) < 0.05 ? 5 : 0.2) * s.normal(); }}},
      {"heavy tails",
       {.features = 5, .rows = 500, .target = [](const Row& x, Source& s) { return signal(x) + 0.3 * s.student(3); }}},
      {"counts",
       {.features = 4,
        .rows = 400,
        .target = [](const Row& x,
                     Source& s) { return static_cast<double>(s.poisson(std::exp(0.5 + 0.6 * x(0) + 0.3 * x(1)))); }}},
      {"yes or no, as 1 and 0",
       {.features = 4,
        .rows = 400,
        .target = [](const Row& x,
                     Source& s) { return s.uniform(0, 1) < 1 / (1 + std::exp(-2 * x(0) - x(1) * x(2))) ? 1.0 : 0.0; }}},
      {"one row in ten shifted",
       {.features = 3,
        .rows = 500,
        .target = [](const Row& x, Source& s) { return x(0) + (s.uniform(0, 1) < 0.1 ? 3 : 0) + 0.3 * s.normal(); }}},
      {"heteroscedastic",
       {.features = 3,
        .rows = 800,
        .target = [](const Row& x, Source& s) { return signal(x) + std::exp(-1 + x(0)) * s.normal(); }}},
  };
  return kLaws;
}

// Five functions, each in seven sizes.
const std::map<std::string, Law>& sized_laws() {
  static const std::map<std::string, Law> kLaws = [] {
    const std::tuple<const char*, double, Mean> functions[] = {
        {"wave and product", 0.3, [](const Row& x) { return 2 * x(0) + std::sin(2 * x(1)) + x(2) * x(3); }},
        {"Friedman 1", 1, friedman_1},
        {"sum of waves", 0.5, [](const Row& x) { return x.head(5).array().sin().sum() + std::cos(2 * x(0)); }},
        {"steps", 0.3, [](const Row& x) { return (x(0) > 0 ? 1.0 : 0.0) + (x(1) > x(2) ? 1 : 0) + 0.5 * x(3); }},
        {"little but noise", 1, [](const Row& x) { return 0.3 * x(0) + 0.2 * x(1) * x(2); }}};
    constexpr std::pair<Index, Index> kSizes[] = {{5, 200},   {10, 300},  {5, 500}, {10, 500},
                                                  {10, 1000}, {10, 2000}, {5, 3000}};
    std::map<std::string, Law> all;
    for (const auto& [name, noise, mean] : functions)
      for (const auto& [features, rows] : kSizes)
        all.emplace(fmt::format("{}, {} x {}", name, features, rows),
                    Law{features, rows, noise, mean, nullptr, nullptr, 0.93, 0.97, 4000});
    return all;
  }();
  return kLaws;
}

void draw(const Law& law, Index rows, Source& source, MatrixXd& inputs, MatrixXd& targets) {
  inputs.resize(rows, law.features);
  targets.resize(rows, 1);
  for (Index n = 0; n < rows; ++n) {
    for (Index j = 0; j < law.features; ++j) inputs(n, j) = source.normal();
    targets(n, 0) = law.draw(inputs.row(n), source);
  }
  if (law.columns != nullptr) law.columns(inputs, source);
}

HonestyTable table_of(const std::string& name, const Law& law, std::uint64_t seed) {
  Source source(seed);
  HonestyTable table{name, {}, {}, {}, {}, law.least, law.most};
  draw(law, law.rows, source, table.inputs, table.targets);
  draw(law, law.test_rows, source, table.test_inputs, table.test_targets);
  return table;
}

NoDataTable sine(std::uint64_t seed, bool gap) {
  constexpr Index kRows = 100, kTest = 100;
  Source source(seed);
  NoDataTable table{MatrixXd(kRows, 1), MatrixXd(kRows, 1), MatrixXd(kTest, 1), MatrixXd(kTest, 1)};
  for (Index n = 0; n < kRows; ++n) {
    const double side = n % 2 == 0 ? 1 : -1;
    const double x = gap ? side * source.uniform(0.7, 2) : source.uniform(-2, 2);
    table.inputs(n, 0) = x;
    table.targets(n, 0) = std::sin(2 * x) + 0.1 * source.normal();
  }
  for (Index n = 0; n < kTest; ++n) {
    const double fraction = (static_cast<double>(n) + 0.5) / kTest;
    const double x = gap ? -0.7 + 1.4 * fraction : (n % 2 == 0 ? 1 : -1) * (2 + 4 * fraction);
    table.gap_inputs(n, 0) = x;
    table.gap_targets(n, 0) = std::sin(2 * x);
  }
  return table;
}

}  // namespace

std::vector<std::string> honesty_names(bool sized) {
  std::vector<std::string> names;
  for (const auto& [name, law] : sized ? sized_laws() : laws()) names.push_back(name);
  return names;
}

HonestyTable honesty_table(const std::string& name, std::uint64_t seed) {
  const auto sized = sized_laws().find(name);
  const bool is_sized = sized != sized_laws().end();
  if (!is_sized && !laws().contains(name))
    fail("no honesty table '{}'{}", name, suggestion(name, honesty_names(false)));
  const Law& law = is_sized ? sized->second : laws().at(name);
  if (is_sized) seed += 1'000'003 * static_cast<std::uint64_t>(std::distance(sized_laws().begin(), sized));
  return table_of(name, law, seed);
}

HonestyTable growing_table(Index rows, std::uint64_t seed) {
  const Mean mean = [](const Row& x) {
    return std::sin(x(0) + x(1)) + 0.5 * x(2) * x(3) + std::cos(x(4)) + 0.3 * x(5);
  };
  return table_of("growing", {.features = 10, .rows = rows, .noise = 0.3, .mean = mean, .test_rows = 2000}, seed);
}

NoDataTable gap_table(std::uint64_t seed) { return sine(seed, true); }
NoDataTable beyond_table(std::uint64_t seed) { return sine(seed, false); }

}  // namespace dma::validation
