#include "models/graphs/vectors.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

#include "engine/joint/joint.h"
#include "engine/run/state.h"
#include "engine/support/error.h"

namespace dma {

namespace {

// Decorrelates a residual r ~ N(0, matrix): sum_j weights[k][j] r_j ~ N(0, variances[k]) independently, with
// weights[k][k] = 1. For a covariance, row k has the elements up to k, for a precision those from k on; in both cases
// the determinant of the weights is 1.
struct BlockRows {
  std::size_t size;
  std::vector<double> weights, variances;
  double weight(std::size_t k, std::size_t j) const { return weights[k * size + j]; }
  bool is_diagonal() const { return std::ranges::count(weights, 0.0) == std::ptrdiff_t(size * (size - 1)); }
};

std::size_t rows_of(const std::string& who, std::size_t numbers) {
  const auto size = static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(numbers))));
  if (size == 0 || size * size != numbers)
    fail("{}: a matrix of {} numbers; a square one, row by row, is expected", who, numbers);
  return size;
}

// From L D L' with ones on the diagonal of L.
BlockRows rows_of(const std::vector<double>& l, const std::vector<double>& d, bool is_precision) {
  const std::size_t n = d.size();
  BlockRows rows{n, std::vector<double>(n * n), std::vector<double>(n)};
  for (std::size_t k = 0; k < n; ++k) {
    rows.variances[k] = is_precision ? 1 / d[k] : d[k];
    for (std::size_t j = 0; j < n; ++j) {
      double& weight = rows.weights[k * n + j];
      if (is_precision) {
        weight = l[j * n + k];
      } else if (j <= k) {  // the inverse of L
        weight = k == j ? 1 : 0;
        for (std::size_t i = j; i < k; ++i) weight -= l[k * n + i] * rows.weights[i * n + j];
      }
    }
  }
  return rows;
}

BlockRows rows_of(const std::string& who, std::span<const double> matrix, bool is_precision, int block = -1) {
  const std::size_t n = rows_of(who, matrix.size());
  const char* const what = is_precision ? "precision" : "covariance";
  const auto place = [&] { return block < 0 ? who : who + ", block " + std::to_string(block); };
  std::vector<double> l(n * n), d(n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      const double own = matrix[i * n + j], mirrored = matrix[j * n + i];
      if (!(std::abs(own - mirrored) <= 1e-9 * (std::abs(own) + std::abs(mirrored))))
        fail("{}: the {} is not symmetric: {} in row {}, column {}, but {} in row {}, column {}", place(), what, own, i,
             j, mirrored, j, i);
      double rest = 0.5 * (own + mirrored);
      for (std::size_t k = 0; k < j; ++k) rest -= l[i * n + k] * l[j * n + k] * d[k];
      if (i != j) {
        l[i * n + j] = rest / d[j];
        continue;
      }
      if (!(rest > 0 && std::isfinite(rest)))
        fail("{}: the {} is not positive definite: its pivot is {} in row {}; add to its diagonal", place(), what, rest,
             i);
      l[i * n + i] = 1;
      d[i] = rest;
    }
  return rows_of(l, d, is_precision);
}

// The elements of a variable that a connection lists.
std::vector<std::uint32_t> elements_of(const std::string& who, const Graph& g, const Connection& c) {
  std::vector<std::uint32_t> out;
  if (c.reach == Reach::gather) {
    out.assign(c.table.begin(), c.table.end());
  } else if (c.reach == Reach::identical) {
    for (std::uint32_t i = 0; i < g[c.variable].size; ++i) out.push_back(i);
  } else {
    fail("{}: a block is a variable or gather(...) of its elements", who);
  }
  return out;
}

std::size_t blocks_of(const std::string& who, std::size_t elements, std::size_t size) {
  if (elements == 0 || elements % size != 0)
    fail("{}: {} elements do not make blocks of {}, as the matrix has rows", who, elements, size);
  return elements / size;
}

// One entry for all blocks, or one per block.
using Blocks = std::vector<BlockRows>;
Blocks blocks_of(const std::string& who, const SpreadMatrix& matrix, std::size_t size) {
  const std::size_t each = size * size, count = matrix.numbers.size() / each;
  const std::span<const double> all = matrix.numbers;
  if (count <= 1 || count * each != all.size()) return {rows_of(who, all, matrix.is_precision)};
  Blocks blocks;
  for (std::size_t i = 0; i < count; ++i)
    blocks.push_back(rows_of(who, all.subspan(i * each, each), matrix.is_precision, static_cast<int>(i)));
  return blocks;
}

std::size_t blocks_of(const std::string& who, std::size_t elements, const Blocks& rows) {
  const std::size_t blocks = blocks_of(who, elements, rows[0].size);
  if (rows.size() != 1 && rows.size() != blocks)
    fail("{}: {} matrices for {} blocks; one, or one for each, is expected", who, rows.size(), blocks);
  return blocks;
}

// Indices of the elements that row k reads; all covariances of a block may change, but zeros of a precision stay.
std::vector<std::size_t> read_by(const Blocks& blocks, bool is_precision, std::size_t k) {
  std::vector<std::size_t> out;
  for (std::size_t j = is_precision ? k + 1 : 0; j < (is_precision ? blocks[0].size : k); ++j)
    if (!is_precision || std::ranges::any_of(blocks, [&](const BlockRows& rows) { return rows.weight(k, j) != 0; }))
      out.push_back(j);
  return out;
}

// sum_j weight(k, j) gains(j, i): the row's coefficient of element i of x.
double gain_of(const BlockRows& rows, const std::vector<double>& gains, std::size_t columns, std::size_t k,
               std::size_t i) {
  double sum = 0;
  for (std::size_t j = 0; j < rows.size; ++j) sum += rows.weight(k, j) * gains[j * columns + i];
  return sum;
}

struct RowNumbers {
  std::vector<double> a, b, variances;
};
// y_k = b + a (x, the others of its block) + noise, for every block.
RowNumbers numbers_of(const Blocks& blocks, const VectorFactor& factor, std::size_t k) {
  RowNumbers out;
  const std::vector<std::size_t> read = read_by(blocks, factor.is_precision, k);
  for (const BlockRows& rows : blocks) {
    const std::size_t columns = factor.gains.size() / rows.size;
    for (std::size_t i = 0; i < columns; ++i) out.a.push_back(gain_of(rows, factor.gains, columns, k, i));
    for (const std::size_t j : read) out.a.push_back(-rows.weight(k, j));
    double b = 0;
    for (std::size_t j = 0; j < rows.size && !factor.mean.empty(); ++j) b += rows.weight(k, j) * factor.mean[j];
    out.b.push_back(b);
    out.variances.push_back(rows.variances[k]);
  }
  return out;
}

VectorFactor add_rows(const std::string& who, Graph& g, const Connection* x, const Connection& y, const Blocks& rows,
                      VectorFactor factor) {
  const std::vector<std::uint32_t> ys = elements_of(who, g, y);
  const std::size_t n = rows[0].size, blocks = blocks_of(who, ys.size(), rows), columns = factor.gains.size() / n;
  std::vector<std::uint32_t> xs;
  if (x != nullptr) {
    xs = elements_of(who, g, *x);
    if (blocks_of(who, xs.size(), columns) != blocks)
      fail("{}: {} blocks of '{}' and {} of '{}'; equally many are expected", who, xs.size() / columns,
           g[x->variable].name, blocks, g[y.variable].name);
  }
  for (std::size_t k = 0; k < n; ++k) {
    const RowNumbers numbers = numbers_of(rows, factor, k);
    const std::vector<std::size_t> read = read_by(rows, factor.is_precision, k);
    std::vector<std::uint32_t> own, others;
    for (std::size_t b = 0; b < blocks; ++b) {
      own.push_back(ys[b * n + k]);
      for (const std::size_t j : read) others.push_back(ys[b * n + j]);
    }
    if (numbers.a.empty()) {
      factor.rows.push_back(g.factor("gaussian_prior", {gather(y.variable, own)},
                                     {{"mean", numbers.b}, {"variance", numbers.variances}}));
      continue;
    }
    std::vector<Connection> ends;
    if (!xs.empty()) ends.emplace_back("x", gather(x->variable, xs));
    if (!others.empty()) ends.emplace_back("x", gather(y.variable, others));
    ends.emplace_back("y", gather(y.variable, own));
    factor.rows.push_back(g.factor("gaussian_linear", std::move(ends),
                                   {{"A", numbers.a}, {"b", numbers.b}, {"variance", numbers.variances}}));
  }
  return factor;
}

void refuse_precision(const char* who, const VectorFactor& factor) {
  if (factor.is_precision)
    fail(
        "{}: the zeros of a precision are part of the "
        "graph; build the factor from a covariance",
        who);
}

void set_rows(State& state, const VectorFactor& factor, const BlockRows& found) {
  for (std::size_t k = 0; k < factor.rows.size(); ++k) {
    const RowNumbers numbers = numbers_of({found}, factor, k);
    if (!numbers.a.empty()) state.set_parameter(factor.rows[k], "A", numbers.a);
    state.set_parameter(factor.rows[k], numbers.a.empty() ? "mean" : "b", numbers.b);
    state.set_parameter(factor.rows[k], "variance", numbers.variances);
  }
}

// Standard deviations, then partial correlations row by row, as a triangle L with covariance L L': element j of row i
// is its correlation times the row's remaining standard deviation after the elements before it.
std::vector<double> triangle_of(std::size_t n, std::span<const double> values) {
  std::vector<double> l(n * n);
  for (std::size_t i = 0, next = n; i < n; ++i) {
    double left = values[i];
    for (std::size_t j = 0; j < i; ++j) {
      const double r = values[next++];
      l[i * n + j] = r * left;
      left *= std::sqrt((1 - r) * (1 + r));
    }
    l[i * n + i] = left;
  }
  return l;
}

// The names of those hypers, in that order.
std::vector<std::string> names_of(const std::string& name, std::size_t n) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < n; ++i) names.push_back(name + ".sd" + std::to_string(i));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < i; ++j) names.push_back(name + ".r" + std::to_string(i) + std::to_string(j));
  return names;
}

}  // namespace

void VectorFactor::set(State& state, const std::vector<double>& matrix) const {
  const BlockRows found = rows_of("VectorFactor::set", matrix, is_precision);
  refuse_precision("VectorFactor::set", *this);
  if (found.size != rows.size())
    fail("VectorFactor::set: a matrix of {} rows; {} are expected", found.size, rows.size());
  set_rows(state, *this, found);
}

// Partial correlations of LKJ are independent: for n elements, that of a later element and j given those before j is (1
// + r) / 2 ~ beta(b, b) with b = concentration + (n - 2 - j) / 2.
void learn_covariance(JointOptions& options, const std::string& name, const VectorFactor& factor, const HyperPrior& sd,
                      double concentration) {
  refuse_precision("learn_covariance", factor);
  if (sd.is_correlation)
    fail(
        "learn_covariance: prior '{}' is for correlations; the "
        "standard deviations of '{}' need one for positive numbers",
        sd.name, name);
  const std::size_t n = factor.rows.size(), first = options.hypers.size();
  const std::vector<std::string> names = names_of(name, n);
  for (std::size_t i = 0; i < n; ++i) options.hypers.push_back(hyper(names[i], sd));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < i; ++j)
      options.hypers.push_back(
          hyper(names[options.hypers.size() - first],
                HyperPrior::correlation(concentration + 0.5 * static_cast<double>(n - 2 - j))));
  options.set_by_hypers = [before = options.set_by_hypers, factor, n, first](State& state,
                                                                           std::span<const double> values) {
    if (before) before(state, values);
    std::vector<double> l = triangle_of(n, values.subspan(first)), d(n);
    for (std::size_t j = 0; j < n; ++j) {
      const double diagonal = l[j * n + j];
      d[j] = diagonal * diagonal;
      for (std::size_t i = j; i < n; ++i) l[i * n + j] /= diagonal;
    }
    set_rows(state, factor, rows_of(l, d, false));
  };
}

std::vector<double> learned_covariance(const JointPosterior& posterior, const std::string& name,
                                       const VectorFactor& factor) {
  const std::size_t n = factor.rows.size();
  std::vector<HyperBelief> known;
  for (const std::string& each : names_of(name, n)) known.push_back(posterior.hyper(each));
  std::vector<double> mean(n * n), values(known.size());
  for (std::size_t k = 0; k < known[0].weights().size(); ++k) {
    for (std::size_t h = 0; h < known.size(); ++h) values[h] = known[h].values()[k];
    const std::vector<double> l = triangle_of(n, values);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        for (std::size_t c = 0; c < n; ++c) mean[i * n + j] += known[0].weights()[k] * l[i * n + c] * l[j * n + c];
  }
  return mean;
}

VectorFactor gaussian_vector_prior(Graph& g, const Connection& x, const std::vector<double>& mean,
                                   const SpreadMatrix& matrix) {
  const std::string who = "gaussian_vector_prior of '" + g[x.variable].name + "'";
  const Blocks rows = blocks_of(who, matrix, std::max<std::size_t>(1, mean.size()));
  if (mean.size() != rows[0].size) fail("{}: {} means for a matrix of {} rows", who, mean.size(), rows[0].size);
  return add_rows(who, g, nullptr, x, rows,
                  {.rows = {}, .mean = mean, .gains = {}, .is_precision = matrix.is_precision});
}

VectorFactor gaussian_vector_noise(Graph& g, const Connection& x, const Connection& y, const SpreadMatrix& matrix,
                                   const std::vector<double>& a) {
  const std::string who = "gaussian_vector_noise of '" + g[y.variable].name + "'";
  const Blocks rows{rows_of(who, matrix.numbers, matrix.is_precision)};
  const std::size_t n = rows[0].size;
  VectorFactor factor{.rows = {}, .mean = {}, .gains = a, .is_precision = matrix.is_precision};
  if (a.empty()) {
    factor.gains.assign(n * n, 0.0);
    for (std::size_t k = 0; k < n; ++k) factor.gains[k * n + k] = 1;
  } else if (a.size() % n != 0) {
    fail("{}: A has {} numbers, which do not make {} rows", who, a.size(), n);
  }
  return add_rows(who, g, &x, y, rows, std::move(factor));
}

void weigh_residuals(Graph& g, const Connection& r, std::size_t size, const SpreadMatrix& matrix, const Loss& loss) {
  const std::string who = "residuals '" + g[r.variable].name + "'";
  const Blocks rows = blocks_of(who, matrix, size);
  if (rows[0].size != size) fail("{}: a matrix of {} rows; {} are expected", who, rows[0].size, size);
  const std::vector<std::uint32_t> all = elements_of(who, g, r);
  const std::size_t blocks = blocks_of(who, all.size(), rows);
  if (loss.kind.empty() && std::ranges::all_of(rows, &BlockRows::is_diagonal)) {  // one factor covers all rows
    std::vector<double> variances;
    for (std::size_t i = 0; i < all.size(); ++i) variances.push_back(rows[i / size % rows.size()].variances[i % size]);
    return (void)g.factor("gaussian_prior", {r}, {{"mean", 0.0}, {"variance", std::move(variances)}});
  }
  if (loss.kind.empty())
    return (void)add_rows(who, g, nullptr, r, rows, {{}, std::vector<double>(size), {}, matrix.is_precision});
  const VariableId white = g.variable("", all.size()), scaled = g.variable("", all.size());
  std::vector<Connection> ends, outputs;
  for (std::size_t k = 0; k < size; ++k) {
    std::vector<std::size_t> read = read_by(rows, matrix.is_precision, k);
    read.push_back(k);
    std::vector<std::uint32_t> from, own;
    std::vector<double> a;
    for (std::uint32_t b = 0; b < blocks; ++b) {
      own.push_back(static_cast<std::uint32_t>(b * size + k));
      for (const std::size_t j : read) from.push_back(all[b * size + j]);
    }
    for (const BlockRows& block : rows)
      for (const std::size_t j : read) a.push_back(block.weight(k, j) / std::sqrt(block.variances[k]));
    g.factor("linear", {{"x", gather(r.variable, from)}, {"y", gather(white, own)}}, {{"A", a}});
    ends.emplace_back("r", gather(white, own));
    outputs.emplace_back("y", gather(scaled, own));
  }
  ends.insert(ends.end(), outputs.begin(), outputs.end());
  g.factor(loss.kind, std::move(ends), {{"width", loss.width}});
  g.factor("gaussian_prior", {scaled}, {{"mean", 0.0}, {"variance", 1.0}});
}

}  // namespace dma
