#include "models/graphs/expressions.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

#include "engine/joint/joint.h"
#include "engine/run/run.h"
#include "engine/support/dense.h"
#include "engine/support/text.h"

namespace dma {

namespace {

using Eigen::Index;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Decorrelates a residual r ~ N(0, matrix): weights r ~ N(0, diag(variances)), with ones on the diagonal. For a
// covariance the weights are a lower triangle, for a precision an upper one, so that their determinant is 1.
struct BlockRows {
  Eigen::MatrixXd weights;
  Eigen::VectorXd variances;
  std::size_t size() const { return static_cast<std::size_t>(variances.size()); }
};

// From L D L' with ones on the diagonal of L.
BlockRows rows_of(const Eigen::MatrixXd& l, const Eigen::VectorXd& d, bool is_precision) {
  if (is_precision) return {l.transpose(), d.cwiseInverse()};
  Eigen::MatrixXd inverse = Eigen::MatrixXd::Identity(d.size(), d.size());
  for (Index k = 0; k < d.size(); ++k)
    for (Index i = 0; i < k; ++i) inverse.row(k) -= l(k, i) * inverse.row(i);
  return {inverse, d};
}

BlockRows rows_of(const std::string& who, std::span<const double> numbers, bool is_precision, int block = -1) {
  const Index n = std::lround(std::sqrt(static_cast<double>(numbers.size())));
  if (n == 0 || n * n != std::ssize(numbers))
    fail("{}: a matrix of {} numbers; a square one, row by row, is expected", who, numbers.size());
  const Eigen::Map<const RowMajor> matrix(numbers.data(), n, n);
  const char* const what = is_precision ? "precision" : "covariance";
  const std::string place = block < 0 ? who : who + ", block " + std::to_string(block);
  Eigen::MatrixXd l = Eigen::MatrixXd::Identity(n, n);
  Eigen::VectorXd d(n);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j <= i; ++j) {
      const double own = matrix(i, j), mirrored = matrix(j, i);
      if (!(std::abs(own - mirrored) <= 1e-9 * (std::abs(own) + std::abs(mirrored))))
        fail("{}: the {} is not symmetric: {} in row {}, column {}, but {} in row {}, column {}", place, what, own, i,
             j, mirrored, j, i);
      double rest = 0.5 * (own + mirrored);
      for (Index k = 0; k < j; ++k) rest -= l(i, k) * l(j, k) * d[k];
      if (i != j) {
        l(i, j) = rest / d[j];
        continue;
      }
      if (!(rest > 0 && std::isfinite(rest)))
        fail("{}: the {} is not positive definite: its pivot is {} in row {}; add to its diagonal", place, what, rest,
             i);
      d[i] = rest;
    }
  return rows_of(l, d, is_precision);
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

// The elements of a variable that a connection lists, as blocks of that size.
struct Elements {
  std::vector<std::uint32_t> all;
  std::size_t blocks;
};
Elements elements_of(const std::string& who, const Graph& g, const Connection& c, std::size_t size) {
  if (c.reach != Reach::gather && c.reach != Reach::identical)
    fail("{}: a block is a variable or gather(...) of its elements", who);
  std::vector<std::uint32_t> all(c.table.begin(), c.table.end());
  for (std::uint32_t i = 0; c.reach == Reach::identical && i < g[c.variable].size; ++i) all.push_back(i);
  if (all.empty() || all.size() % size != 0)
    fail("{}: {} elements do not make blocks of {}, as the matrix has rows", who, all.size(), size);
  const std::size_t blocks = all.size() / size;
  return {std::move(all), blocks};
}
Elements elements_of(const std::string& who, const Graph& g, const Connection& c, const Blocks& rows) {
  Elements elements = elements_of(who, g, c, rows[0].size());
  if (rows.size() != 1 && rows.size() != elements.blocks)
    fail("{}: {} matrices for {} blocks; one, or one for each, is expected", who, rows.size(), elements.blocks);
  return elements;
}

// Indices of the elements that row k reads; all covariances of a block may change, but zeros of a precision stay.
std::vector<Index> read_by(const Blocks& blocks, bool is_precision, Index k) {
  std::vector<Index> out;
  for (Index j = is_precision ? k + 1 : 0; j < (is_precision ? blocks[0].variances.size() : k); ++j)
    if (!is_precision || std::ranges::any_of(blocks, [&](const BlockRows& rows) { return rows.weights(k, j) != 0; }))
      out.push_back(j);
  return out;
}

struct RowNumbers {
  std::vector<double> a, b, variances;
};
// y_k = b + a (x, the others of its block) + noise, for every block.
RowNumbers numbers_of(const Blocks& blocks, const VectorFactor& factor, Index k) {
  RowNumbers out;
  for (const BlockRows& rows : blocks) {
    const Index n = rows.variances.size(), columns = std::ssize(factor.gains) / n;
    const auto weights = rows.weights.row(k);
    const Eigen::RowVectorXd gains = weights.lazyProduct(Eigen::Map<const RowMajor>(factor.gains.data(), n, columns));
    out.a.insert(out.a.end(), gains.begin(), gains.end());
    for (const Index j : read_by(blocks, factor.is_precision, k)) out.a.push_back(-weights[j]);
    out.b.push_back(factor.mean.empty() ? 0.0 : weights.dot(Eigen::Map<const Eigen::VectorXd>(factor.mean.data(), n)));
    out.variances.push_back(rows.variances[k]);
  }
  return out;
}

// The elements of row k of every block, and of the elements that it reads.
struct RowElements {
  std::vector<std::uint32_t> own, others;
};
RowElements row_elements(const Elements& elements, std::size_t size, std::size_t k, const std::vector<Index>& read) {
  RowElements out;
  for (std::size_t b = 0; b < elements.blocks; ++b) {
    out.own.push_back(elements.all[b * size + k]);
    for (const Index j : read) out.others.push_back(elements.all[b * size + static_cast<std::size_t>(j)]);
  }
  return out;
}

VectorFactor add_rows(const std::string& who, Graph& g, const Connection* x, const Connection& y, const Blocks& rows,
                      VectorFactor factor) {
  const std::size_t n = rows[0].size(), columns = factor.gains.size() / n;
  const Elements ys = elements_of(who, g, y, rows), xs = x == nullptr ? Elements{} : elements_of(who, g, *x, columns);
  if (x != nullptr && xs.blocks != ys.blocks)
    fail("{}: {} blocks of '{}' and {} of '{}'; equally many are expected", who, xs.blocks, g[x->variable].name,
         ys.blocks, g[y.variable].name);
  for (std::size_t k = 0; k < n; ++k) {
    const auto row = static_cast<Index>(k);
    const RowNumbers numbers = numbers_of(rows, factor, row);
    const auto [own, others] = row_elements(ys, n, k, read_by(rows, factor.is_precision, row));
    if (numbers.a.empty()) {
      factor.rows.push_back(g.factor("gaussian_prior", {gather(y.variable, own)},
                                     {{"mean", numbers.b}, {"variance", numbers.variances}}));
      continue;
    }
    std::vector<Connection> ends;
    if (x != nullptr) ends.emplace_back("x", gather(x->variable, xs.all));
    if (!others.empty()) ends.emplace_back("x", gather(y.variable, others));
    ends.emplace_back("y", gather(y.variable, own));
    factor.rows.push_back(g.factor("gaussian_linear", std::move(ends),
                                   {{"A", numbers.a}, {"b", numbers.b}, {"variance", numbers.variances}}));
  }
  return factor;
}

void refuse_precision(const char* who, const VectorFactor& factor) {
  if (factor.is_precision)
    fail("{}: the zeros of a precision are part of the graph; build the factor from a covariance", who);
}

void set_rows(State& state, const VectorFactor& factor, const BlockRows& found) {
  for (std::size_t k = 0; k < factor.rows.size(); ++k) {
    const RowNumbers numbers = numbers_of({found}, factor, static_cast<Index>(k));
    if (!numbers.a.empty()) state.set_parameter(factor.rows[k], "A", numbers.a);
    state.set_parameter(factor.rows[k], numbers.a.empty() ? "mean" : "b", numbers.b);
    state.set_parameter(factor.rows[k], "variance", numbers.variances);
  }
}

// Standard deviations, then partial correlations row by row, as a triangle L with covariance L L': element j of row i
// is its correlation times the row's remaining standard deviation after the elements before it.
Eigen::MatrixXd triangle_of(std::size_t size, std::span<const double> values) {
  const auto n = static_cast<Index>(size);
  Eigen::MatrixXd l = Eigen::MatrixXd::Zero(n, n);
  const double* next = values.data() + n;
  for (Index i = 0; i < n; ++i) {
    l(i, i) = values[static_cast<std::size_t>(i)];
    for (Index j = 0; j < i; ++j, ++next) {
      l(i, j) = *next * l(i, i);
      l(i, i) *= std::sqrt((1 - *next) * (1 + *next));
    }
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
  if (found.size() != rows.size())
    fail("VectorFactor::set: a matrix of {} rows; {} are expected", found.size(), rows.size());
  set_rows(state, *this, found);
}

// Partial correlations of LKJ are independent: for n elements, that of a later element and j given those before j is (1
// + r) / 2 ~ beta(b, b) with b = concentration + (n - 2 - j) / 2.
void learn_covariance(JointOptions& options, const std::string& name, const VectorFactor& factor, const HyperPrior& sd,
                      double concentration) {
  refuse_precision("learn_covariance", factor);
  if (sd.is_correlation)
    fail(
        "learn_covariance: prior '{}' is for correlations; "
        "the standard deviations of '{}' need one for positive numbers",
        sd.name, name);
  const std::size_t n = factor.rows.size(), first = options.hypers.size();
  const std::vector<std::string> names = names_of(name, n);
  for (std::size_t i = 0; i < n; ++i) options.hypers.push_back(hyper(names[i], sd));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < i; ++j)
      options.hypers.push_back(hyper(names[options.hypers.size() - first],
                                     HyperPrior::correlation(concentration + 0.5 * static_cast<double>(n - 2 - j))));
  options.set_by_hypers = [before = options.set_by_hypers, factor, n, first](State& state,
                                                                             std::span<const double> values) {
    if (before) before(state, values);
    Eigen::MatrixXd l = triangle_of(n, values.subspan(first));
    const Eigen::VectorXd sd_left = l.diagonal();
    for (Index j = 0; j < sd_left.size(); ++j) l.col(j) /= sd_left[j];
    set_rows(state, factor, rows_of(l, sd_left.cwiseAbs2(), false));
  };
}

std::vector<double> learned_covariance(const JointPosterior& posterior, const std::string& name,
                                       const VectorFactor& factor) {
  const std::size_t n = factor.rows.size();
  std::vector<HyperBelief> known;
  for (const std::string& each : names_of(name, n)) known.push_back(posterior.hyper(each));
  std::vector<double> mean(n * n), values(known.size());
  Eigen::Map<Eigen::MatrixXd> sum(mean.data(), static_cast<Index>(n), static_cast<Index>(n));
  for (std::size_t k = 0; k < known[0].weights().size(); ++k) {
    for (std::size_t h = 0; h < known.size(); ++h) values[h] = known[h].values()[k];
    const Eigen::MatrixXd l = triangle_of(n, values);
    add_product_by_transposed(sum, l, l, known[0].weights()[k]);
  }
  return mean;
}

VectorFactor gaussian_vector_prior(Graph& g, const Connection& x, const std::vector<double>& mean,
                                   const SpreadMatrix& matrix) {
  const std::string who = "gaussian_vector_prior of '" + g[x.variable].name.text() + "'";
  const Blocks rows = blocks_of(who, matrix, std::max<std::size_t>(1, mean.size()));
  if (mean.size() != rows[0].size()) fail("{}: {} means for a matrix of {} rows", who, mean.size(), rows[0].size());
  return add_rows(who, g, nullptr, x, rows,
                  {.rows = {}, .mean = mean, .gains = {}, .is_precision = matrix.is_precision});
}

VectorFactor gaussian_vector_noise(Graph& g, const Connection& x, const Connection& y, const SpreadMatrix& matrix,
                                   const std::vector<double>& a) {
  const std::string who = "gaussian_vector_noise of '" + g[y.variable].name.text() + "'";
  const Blocks rows{rows_of(who, matrix.numbers, matrix.is_precision)};
  const std::size_t n = rows[0].size();
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
  const std::string who = "residuals '" + g[r.variable].name.text() + "'";
  const Blocks rows = blocks_of(who, matrix, size);
  if (rows[0].size() != size) fail("{}: a matrix of {} rows; {} are expected", who, rows[0].size(), size);
  const Elements elements = elements_of(who, g, r, rows);
  const auto is_diagonal = [](const BlockRows& block) { return block.weights.isDiagonal(0); };
  if (loss.kind.empty() && std::ranges::all_of(rows, is_diagonal)) {  // one factor covers all rows
    std::vector<double> variances;
    for (std::size_t b = 0; b < elements.blocks; ++b)
      for (const double variance : rows[b % rows.size()].variances) variances.push_back(variance);
    return (void)g.factor("gaussian_prior", {r}, {{"mean", 0.0}, {"variance", std::move(variances)}});
  }
  if (loss.kind.empty())
    return (void)add_rows(who, g, nullptr, r, rows, {{}, std::vector<double>(size), {}, matrix.is_precision});
  const VariableId white = g.variable("", elements.all.size()), scaled = g.variable("", elements.all.size());
  std::vector<Connection> ends, outputs;
  for (std::size_t k = 0; k < size; ++k) {
    const auto row = static_cast<Index>(k);
    std::vector<Index> read = read_by(rows, matrix.is_precision, row);
    read.push_back(row);
    std::vector<double> a;
    for (const BlockRows& block : rows)
      for (const Index j : read) a.push_back(block.weights(row, j) / std::sqrt(block.variances[row]));
    std::vector<std::uint32_t> own;
    for (std::uint32_t b = 0; b < elements.blocks; ++b) own.push_back(static_cast<std::uint32_t>(b * size + k));
    const auto from = row_elements(elements, size, k, read).others;
    g.factor("linear", {{"x", gather(r.variable, from)}, {"y", gather(white, own)}}, {{"A", a}});
    ends.emplace_back("r", gather(white, own));
    outputs.emplace_back("y", gather(scaled, own));
  }
  ends.insert(ends.end(), outputs.begin(), outputs.end());
  g.factor(loss.kind, std::move(ends), {{"width", loss.width}});
  g.factor("gaussian_prior", {scaled}, {{"mean", 0.0}, {"variance", 1.0}});
}

}  // namespace dma
