// Random linear Gaussian graphs with loops, plates, index maps and missing values, and their posterior in sixty digits.
#pragma once

#include <boost/random/mersenne_twister.hpp>
#include <boost/random/uniform_01.hpp>

#include "tests/oracles/high_precision.h"
#include "tests/oracles/solved.h"

namespace dma::joint_test {

using oracle::Real;

class RandomLinear {
 public:
  // Variances lie between 10^-decades and 10^decades. Some draws leave unknowns undetermined.
  RandomLinear(std::uint64_t seed, double decades, std::size_t scale = 1) : random_(seed), decades_(decades) {
    for (std::size_t i = scale + below(2 * scale + 1); i > 0; --i) add_root();
    for (std::size_t i = below(4 * scale); i > 0; --i) add_function();
    for (std::size_t i = 2 * scale + below(4 * scale); i > 0; --i) add_noise();
    for (const VariableId v : roots_)
      if (below(6 * scale) > 0) add_prior(v, below(4 * scale) > 0);
  }

  Graph graph;
  void observe(State& state) const {
    for (const auto& [v, values] : given_) {
      state.observe(v, values);
      for (const std::uint32_t i : missing_.at(v.value)) state.observe_missing(v, i);
    }
  }
  const std::vector<VariableId>& latent() const { return latent_; }
  // True if every variable has a factor, as compile() requires.
  bool is_connected() const {
    std::vector<bool> seen(graph.variables().size());
    for (const Graph::Factor& factor : graph.factors())
      for (const Connection& c : factor.connections) seen[c.variable.value] = true;
    return std::ranges::find(seen, false) == seen.end();
  }

  struct Posterior {
    std::vector<std::string> undetermined;  // undetermined roots, in the order of the graph
    // By variable and element, where determined.
    std::map<std::uint32_t, std::vector<Real>> mean, variance, terms;  // terms: sum of |coefficient * mean of root|
    std::map<std::uint32_t, std::vector<bool>> determined;
    Real log_evidence;
    struct Predicted {
      VariableId variable;
      std::uint32_t element;
      bool is_determined;
      Real mean, variance, terms;
    };
    std::vector<Predicted> predicted;  // missing values
  };
  Posterior solve() const;

 private:
  struct Form {  // an element as sum of coefficient * root + constant
    std::map<std::uint32_t, Real> terms;
    Real constant = 0;
    void add(const Form& other, const Real& factor) {
      for (const auto& [u, c] : other.terms) terms[u] += factor * c;
      constant += factor * other.constant;
    }
  };
  struct RowOf {
    Form form;  // ~ N(0, variance)
    Real variance;
  };

  double uniform() { return boost::random::uniform_01<double>()(random_); }
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(uniform() * static_cast<double>(n)); }
  double number() { return 4 * uniform() - 2; }
  double variance() { return std::pow(10.0, decades_ * (2 * uniform() - 1)); }
  VariableId any() { return latent_[below(latent_.size())]; }
  VariableId any_but(VariableId other) {  // a factor takes each variable once
    for (int attempt = 0; attempt < 9; ++attempt)
      if (const VariableId v = any(); !(v == other)) return v;
    return add_root();
  }
  std::vector<double> numbers(std::size_t count) {
    std::vector<double> out(count);
    for (double& x : out) x = number();
    return out;
  }
  std::vector<double> variances(std::size_t count) {
    std::vector<double> out(count);
    for (double& x : out) x = variance();
    return out;
  }
  // Elements of v for `terms` places in each slot, all different within a slot; at most as many terms as v has
  // elements.
  std::vector<std::uint32_t> places(VariableId v, std::size_t slots, std::size_t terms = 1) {
    std::vector<std::uint32_t> out, all(graph[v].size);
    for (std::size_t s = 0; s < slots; ++s) {
      for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = i;
      for (std::size_t t = 0; t < terms; ++t) {
        std::swap(all[t], all[t + below(all.size() - t)]);
        out.push_back(all[t]);
      }
    }
    return out;
  }

  VariableId add_variable(std::size_t size) {
    latent_.push_back(graph.variable("v" + std::to_string(graph.variables().size()), size));
    forms_[latent_.back().value].resize(size);
    return latent_.back();
  }
  VariableId add_root() {
    const VariableId v = add_variable(1 + below(4));
    roots_.push_back(v);
    for (Form& form : forms_[v.value]) form.terms[unknowns_++] = 1;
    return v;
  }
  VariableId add_observed(std::vector<double> values) {
    const VariableId v = graph.observed("", values.size());
    for (const double y : values) forms_[v.value].push_back({{}, Real(y)});
    given_.emplace_back(v, std::move(values));
    missing_[v.value];
    return v;
  }
  void add_function();
  void add_noise();
  void add_prior(VariableId v, bool whole);

  boost::random::mt19937_64 random_;
  double decades_;
  std::uint32_t unknowns_ = 0;
  std::vector<VariableId> roots_, latent_;
  std::map<std::uint32_t, std::vector<Form>> forms_;
  std::vector<std::pair<VariableId, std::vector<double>>> given_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> missing_;
  std::vector<RowOf> rows_;
  struct Missing {
    VariableId variable;
    std::uint32_t element;
    Form form;
    Real variance;  // the noise's
  };
  std::vector<Missing> predicted_;
};

inline void RandomLinear::add_function() {
  const std::size_t slots = 1 + below(3);
  const VariableId x = any(), y = any_but(x);
  const auto at_x = places(x, slots), at_y = places(y, slots);
  const std::size_t which = below(4);
  if (which == 0) {
    const VariableId z = add_variable(slots);
    graph.factor("add", {gather(x, at_x), gather(y, at_y), z});
    for (std::size_t s = 0; s < slots; ++s)
      forms_[z.value][s].add(forms_[x.value][at_x[s]], 1), forms_[z.value][s].add(forms_[y.value][at_y[s]], 1);
  } else if (which == 1) {
    const VariableId factor = add_observed(numbers(slots)), z = add_variable(slots);
    graph.factor("product", {factor, gather(x, at_x), z});
    for (std::size_t s = 0; s < slots; ++s)
      forms_[z.value][s].add(forms_[x.value][at_x[s]], forms_[factor.value][s].constant);
  } else {
    const std::size_t terms = 1 + below(graph[x].size);
    const auto at = places(x, slots, terms);
    const std::vector<double> c = numbers(terms);
    const bool is_sum = which == 2;
    std::vector<double> repeated;
    for (std::size_t q = 0; q < slots * terms; ++q) repeated.push_back(c[q % terms]);
    const VariableId factor = is_sum ? x : add_observed(repeated), z = add_variable(slots);
    if (is_sum)
      graph.factor("sum", {gather(x, at), z}, {{"coefficients", c}});
    else
      graph.factor("inner_product", {gather(x, at), factor, z});
    for (std::size_t q = 0; q < slots * terms; ++q)
      forms_[z.value][q / terms].add(forms_[x.value][at[q]], Real(c[q % terms]));
  }
}

inline void RandomLinear::add_noise() {
  const std::size_t slots = 1 + below(4);
  const VariableId x = any(), y = below(2) == 0 ? any_but(x) : add_observed(numbers(slots));
  const auto at_x = places(x, slots);
  const bool is_observed = graph[y].observed;
  std::vector<std::uint32_t> at_y = is_observed ? std::vector<std::uint32_t>{} : places(y, slots);
  const std::vector<double> v = variances(slots);
  graph.factor("gaussian_noise", {gather(x, at_x), is_observed ? Connection(y) : gather(y, at_y)}, {{"variance", v}});
  for (std::uint32_t s = 0; s < slots; ++s) {
    if (is_observed && below(5) == 0) {
      missing_[y.value].push_back(s);
      predicted_.push_back({y, s, forms_[x.value][at_x[s]], Real(v[s])});
      continue;
    }
    Form form = forms_[x.value][at_x[s]];
    form.add(forms_[y.value][is_observed ? s : at_y[s]], -1);
    rows_.push_back({std::move(form), Real(v[s])});
  }
}

inline void RandomLinear::add_prior(VariableId v, bool whole) {
  const std::size_t slots = whole ? graph[v].size : 1;
  const auto at = whole ? std::vector<std::uint32_t>{} : places(v, slots);
  const std::vector<double> mean = numbers(slots), var = variances(slots);
  graph.factor("gaussian_prior", {whole ? Connection(v) : gather(v, at)}, {{"mean", mean}, {"variance", var}});
  for (std::uint32_t s = 0; s < slots; ++s) {
    Form form = forms_[v.value][whole ? s : at[s]];
    form.constant -= Real(mean[s]);
    rows_.push_back({std::move(form), Real(var[s])});
  }
}

// [information | pull | identity] is reduced with the largest pivot first; columns without a pivot span the null space.
inline RandomLinear::Posterior RandomLinear::solve() const {
  const std::size_t n = unknowns_;
  std::vector<std::vector<Real>> a(n, std::vector<Real>(2 * n + 1));
  Real constants = 0;
  const Real two_pi = 2 * oracle::pi();
  for (const RowOf& row : rows_) {
    for (const auto& [i, ci] : row.form.terms) {
      a[i][n] -= ci * row.form.constant / row.variance;
      for (const auto& [j, cj] : row.form.terms) a[i][j] += ci * cj / row.variance;
    }
    constants -= (row.form.constant * row.form.constant / row.variance + log(two_pi * row.variance)) / 2;
  }
  std::vector<Real> pull(n), scale(n);
  for (std::size_t i = 0; i < n; ++i) a[i][n + 1 + i] = 1, pull[i] = a[i][n], scale[i] = a[i][i];
  std::vector<bool> done(n);
  Real log_determinant = 0;
  for (;;) {
    std::size_t best = n;
    for (std::size_t i = 0; i < n; ++i)
      if (!done[i] && a[i][i] > scale[i] * 1e-45 && (best == n || a[i][i] / scale[i] > a[best][best] / scale[best]))
        best = i;
    if (best == n) break;
    done[best] = true;
    const Real pivot = a[best][best];
    log_determinant += log(pivot);
    for (Real& x : a[best]) x /= pivot;
    for (std::size_t i = 0; i < n; ++i) {
      if (i == best) continue;
      const Real factor = a[i][best];
      if (factor != 0)
        for (std::size_t k = 0; k < 2 * n + 1; ++k) a[i][k] -= factor * a[best][k];
    }
  }
  // A form is determined if it is constant along every direction of the null space: e_f - sum_i a[i][f] e_i for f
  // without pivot.
  const auto is_determined = [&](const Form& form) {
    for (std::size_t f = 0; f < n; ++f) {
      if (done[f]) continue;
      Real moved = 0, size = 0;
      for (const auto& [u, c] : form.terms) {
        moved += c * (u == f ? Real(1) : done[u] ? Real(-a[u][f]) : Real(0));
        size += abs(c);
      }
      if (abs(moved) > size * 1e-20) return false;
    }
    return true;
  };
  Posterior out;
  std::vector<Real> mean(n);
  for (std::size_t i = 0; i < n; ++i) mean[i] = done[i] ? a[i][n] : Real(0);
  struct Moments {
    Real mean, variance = 0, terms = 0;
  };
  const auto moments_of = [&](const Form& form) {
    Moments m{form.constant};
    for (const auto& [u, c] : form.terms) {
      m.mean += c * mean[u], m.terms += abs(c * mean[u]);
      for (const auto& [w, d] : form.terms) m.variance += done[u] && done[w] ? c * d * a[u][n + 1 + w] : Real(0);
    }
    return m;
  };
  for (const VariableId v : latent_)
    for (const Form& form : forms_.at(v.value)) {
      const Moments m = moments_of(form);
      out.determined[v.value].push_back(is_determined(form));
      out.mean[v.value].push_back(m.mean);
      out.variance[v.value].push_back(m.variance);
      out.terms[v.value].push_back(m.terms);
    }
  for (const Missing& y : predicted_) {
    const Moments m = moments_of(y.form);
    out.predicted.push_back({y.variable, y.element, is_determined(y.form), m.mean, m.variance + y.variance, m.terms});
  }
  for (const VariableId v : roots_)
    for (std::size_t i = 0; i < graph[v].size; ++i)
      if (!out.determined[v.value][i])
        out.undetermined.push_back(graph[v].size == 1 ? graph[v].name.text()
                                                      : graph[v].name.text() + "[" + std::to_string(i) + "]");
  Real fit = 0;
  for (std::size_t i = 0; i < n; ++i) fit += pull[i] * mean[i];
  out.log_evidence = constants + fit / 2 + static_cast<int>(n) * log(two_pi) / 2 - log_determinant / 2;
  return out;
}

}  // namespace dma::joint_test
