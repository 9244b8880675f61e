// Rows of a Gaussian process. Given the elements N before it, element k has mean a.f_N and variance K_kk - a.K_Nk with
// a = K_NN^-1 K_Nk. With all elements before it, K = L L^T gives every row at once: L^-1 scaled to a unit diagonal.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <string_view>

#include "engine/joint/joint.h"
#include "engine/run/run.h"
#include "engine/support/dense.h"
#include "engine/support/text.h"
#include "models/graphs/expressions.h"

namespace dma {

namespace {

constexpr double kNugget = 1e-10;  // independent part of the variance: pivots of smooth processes stay above rounding

using Shape = double (*)(double square);  // correlation at a squared distance in lengths
struct NamedShape {
  std::string_view name;
  Shape shape;
};
constexpr std::array kShapes = {
    NamedShape{"squared_exponential", [](double square) { return std::exp(-0.5 * square); }},
    NamedShape{"matern12", [](double square) { return std::exp(-std::sqrt(square)); }},
    NamedShape{"matern32",
               [](double square) {
                 const double t = std::sqrt(3 * square);
                 return (1 + t) * std::exp(-t);
               }},
    NamedShape{"matern52",
               [](double square) {
                 const double t = std::sqrt(5 * square);
                 return (1 + t + t * t / 3) * std::exp(-t);
               }},
};

Shape shape_of(const ProcessCovariance& form) {
  const auto found = std::ranges::find(kShapes, std::string_view(form.shape), &NamedShape::name);
  if (found != kShapes.end()) return found->shape;
  std::vector<std::string> known;
  for (const NamedShape& each : kShapes) known.emplace_back(each.name);
  fail("gaussian_process: no covariance '{}'{}", form.shape, suggestion(form.shape, known));
}

void check(const ProcessCovariance& form, std::size_t columns) {
  const auto is_scale = [](double x) { return x > 0 && std::isfinite(x); };
  if (!is_scale(form.sd)) fail("gaussian_process: sd is {}; a positive number is expected", form.sd);
  if (form.lengths.size() != 1 && form.lengths.size() != columns)
    fail("gaussian_process: {} lengths for places of {} columns; one, or one per column, is expected",
         form.lengths.size(), columns);
  for (const double length : form.lengths)
    if (!is_scale(length)) fail("gaussian_process: a length is {}; a positive number is expected", length);
}

// Places in lengths, and covariances between them.
class Covariance {
 public:
  Covariance(const GaussianProcess& process, const ProcessCovariance& form)
      : columns_(process.columns), places_(process.places), shape_(shape_of(form)), signal_(form.sd * form.sd) {
    for (std::size_t i = 0; i < places_.size(); ++i)
      places_[i] /= form.lengths[form.lengths.size() == 1 ? 0 : i % columns_];
  }

  double square(std::size_t i, std::size_t j) const {
    double sum = 0;
    for (std::size_t c = 0; c < columns_; ++c) {
      const double apart = places_[i * columns_ + c] - places_[j * columns_ + c];
      sum += apart * apart;
    }
    return sum;
  }
  double operator()(std::size_t i, std::size_t j) const {
    return signal_ * (shape_(square(i, j)) + (i == j ? kNugget : 0));
  }
  double place(std::size_t i) const { return places_[i * columns_]; }

 private:
  std::size_t columns_;
  std::vector<double> places_;
  Shape shape_;
  double signal_;
};

using ElementList = std::vector<std::uint32_t>;

// Neighbours tell most about an element if those before it are spread over all places: next comes the element that is
// farthest from all before it. Along one column, the order of the places keeps a Markov process exact.
ElementList spread_order(const Covariance& at, std::size_t size, bool is_line) {
  ElementList order(size);
  std::iota(order.begin(), order.end(), 0u);
  if (is_line) {
    std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return at.place(i); });
    return order;
  }
  std::vector<double> nearest(size, std::numeric_limits<double>::infinity());
  for (std::size_t k = 1; k < size; ++k) {
    for (std::size_t i = k; i < size; ++i)
      nearest[order[i]] = std::min(nearest[order[i]], at.square(order[i], order[k - 1]));
    std::iter_swap(order.begin() + std::ptrdiff_t(k),
                   std::ranges::max_element(order.begin() + std::ptrdiff_t(k), order.end(), {},
                                            [&](std::uint32_t i) { return nearest[i]; }));
  }
  return order;
}

ElementList nearest_before(const Covariance& at, const ElementList& order, std::size_t k, std::size_t count) {
  ElementList all(order.begin(), order.begin() + std::ptrdiff_t(k));
  if (k <= count) return all;
  std::ranges::nth_element(all, all.begin() + std::ptrdiff_t(count), {},
                           [&](std::uint32_t i) { return std::pair(at.square(order[k], i), i); });
  all.resize(count);
  return all;
}

struct Row {
  std::vector<double> a;
  double variance;
};

Row row_given(const Covariance& covariance, std::uint32_t own, const ElementList& before) {
  const auto n = static_cast<Eigen::Index>(before.size());
  Eigen::MatrixXd among(n, n);
  Eigen::VectorXd with(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j <= i; ++j) among(i, j) = covariance(before[std::size_t(i)], before[std::size_t(j)]);
    with[i] = covariance(before[std::size_t(i)], own);
  }
  Eigen::VectorXd a = with;
  if (!factorise_lower(among)) fail("gaussian_process: the covariance of neighbours is not positive definite");
  solve_by_factor(among, a);
  // The nugget is independent of all other elements, so no variance given them is smaller.
  return {{a.begin(), a.end()}, std::max(covariance(own, own) - a.dot(with), kNugget * covariance(own, own))};
}

// Every element given all before it, in the order of the elements.
std::vector<Row> rows_given_all(const Covariance& covariance, const ElementList& order) {
  const auto n = static_cast<Eigen::Index>(order.size());
  Eigen::MatrixXd root(n, n);
  for (Eigen::Index i = 0; i < n; ++i)
    for (Eigen::Index j = 0; j <= i; ++j) root(i, j) = covariance(order[std::size_t(i)], order[std::size_t(j)]);
  if (!factorise_lower(root)) fail("gaussian_process: the covariance of the places is not positive definite");
  const Eigen::VectorXd diagonal = root.diagonal();
  Eigen::MatrixXd inverse = Eigen::MatrixXd::Identity(n, n);
  solve_lower(root, inverse);
  std::vector<Row> rows;
  for (Eigen::Index k = 0; k < n; ++k) {
    rows.push_back({std::vector<double>(std::size_t(k)), diagonal[k] * diagonal[k]});
    for (Eigen::Index j = 0; j < k; ++j) rows.back().a[std::size_t(j)] = -inverse(k, j) * diagonal[k];
  }
  return rows;
}

// The parameters of a factor whose rows are those from `first` on, which have equally many neighbours.
struct Rows {
  std::size_t first, count;
  std::vector<double> a, variances;
};
std::vector<Rows> rows_of(const GaussianProcess& process, const ProcessCovariance& form) {
  const Covariance covariance(process, form);
  const std::size_t size = process.order.size();
  const bool is_whole = process.before.back().size() + 1 == size;
  const std::vector<Row> all = is_whole ? rows_given_all(covariance, process.order) : std::vector<Row>();
  std::vector<Rows> found;
  for (std::size_t k = 0; k < size; ++k) {
    const ElementList& before = process.before[k];
    const Row row = is_whole ? all[k] : row_given(covariance, process.order[k], before);
    if (k == 0 || before.size() != process.before[k - 1].size()) found.push_back({k, 0, {}, {}});
    found.back().count += 1;
    found.back().a.insert(found.back().a.end(), row.a.begin(), row.a.end());
    found.back().variances.push_back(row.variance);
  }
  return found;
}

}  // namespace

void GaussianProcess::set(State& state, const ProcessCovariance& other) const {
  check(other, columns);
  const std::vector<Rows> found = rows_of(*this, other);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!found[i].a.empty()) state.set_parameter(rows[i], "A", found[i].a);
    state.set_parameter(rows[i], "variance", found[i].variances);
  }
}

GaussianProcess gaussian_process(Graph& g, VariableId f, std::vector<double> places, const ProcessCovariance& form,
                                 std::size_t neighbours) {
  const std::size_t size = g[f].size;
  if (places.empty() || places.size() % size != 0)
    fail("gaussian_process: {} numbers are no places of the {} elements of '{}'; equally many per element are expected",
         places.size(), size, g[f].name);
  for (const double x : places)
    if (!std::isfinite(x)) fail("gaussian_process: a place is {}; a finite number is expected", x);
  const std::size_t columns = places.size() / size;
  GaussianProcess process{.places = std::move(places), .columns = columns, .form = form};
  check(form, process.columns);
  const Covariance covariance(process, form);
  process.order = spread_order(covariance, size, process.columns == 1);
  for (std::size_t k = 0; k < size; ++k)
    process.before.push_back(nearest_before(covariance, process.order, k, neighbours == 0 ? size : neighbours));
  for (const Rows& rows : rows_of(process, form)) {
    ElementList own, before;
    for (std::size_t k = rows.first; k < rows.first + rows.count; ++k) {
      own.push_back(process.order[k]);
      before.insert(before.end(), process.before[k].begin(), process.before[k].end());
    }
    process.rows.push_back(
        before.empty() ? g.factor("gaussian_prior", {gather(f, own)}, {{"mean", 0.0}, {"variance", rows.variances}})
                       : g.factor("gaussian_linear", {{"x", gather(f, before)}, {"y", gather(f, own)}},
                                  {{"A", rows.a}, {"variance", rows.variances}}));
  }
  return process;
}

void learn_process(JointOptions& options, const std::string& name, const GaussianProcess& process, const HyperPrior& sd,
                   const HyperPrior& length) {
  for (const HyperPrior* prior : {&sd, &length})
    if (prior->is_correlation)
      fail("learn_process: prior '{}' is for correlations; '{}' needs one for positive numbers", prior->name, name);
  const std::size_t first = options.hypers.size(), lengths = process.form.lengths.size();
  options.hypers.push_back(hyper(name + ".sd", sd));
  for (std::size_t i = 0; i < lengths; ++i)
    options.hypers.push_back(hyper(name + ".length" + (lengths == 1 ? "" : std::to_string(i)), length));
  options.set_by_hypers = [before = options.set_by_hypers, process, first, lengths](State& state,
                                                                                    std::span<const double> values) {
    if (before) before(state, values);
    const auto found = values.subspan(first + 1, lengths);
    process.set(state, {process.form.shape, values[first], {found.begin(), found.end()}});
  };
}

}  // namespace dma
