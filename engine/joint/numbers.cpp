#include "engine/joint/numbers.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/kinds/kind.h"

namespace dma::joint_system {

namespace {

// Ratio of standard deviations beyond which variances keep fewer than nine digits: they lose its square.
constexpr double kWide = 1e7;

}  // namespace

Numbers::Numbers(const System& s)
    : system(&s),
      values(s.role.size()),
      weights(s.rows),
      taus(s.rows),
      offsets(s.rows),
      sums(s.rows),
      row_values(s.pattern.columns.size()),
      x(s.pattern.unknowns),
      trial(x.size()),
      gradient(x.size()),
      step(x.size()),
      room(x.size()),
      points(s.points.empty() ? 0 : x.size()),
      site_tau(s.site_messages),
      site_rho(s.site_messages),
      missing(s.role.size()),
      fronts(s.elimination),
      gains_(s.gain_count),
      coefficients_(s.coefficient_count),
      traced_gains_(s.gain_count),
      adjoint_(s.role.size()),
      conditional_variance_(x.size()),
      row_variances_(s.first_cavity_row) {
  coefficients_[0] = 1;
  std::size_t widest = 0, longest = 0;
  for (const Batch& b : s.batches) {
    widest = std::max(widest, b.arguments.size());
    longest = std::max(longest, std::size_t{b.slots} * b.views);
  }
  inputs_.resize(widest);
  results_.resize(longest);
  if (!s.has_constant_gains) return;
  at_zero_.resize(s.role.size());
  base_.resize(s.rows);
}

void Numbers::place(std::span<const double> at, bool with_gains) {
  for (std::uint32_t u = 0; u < at.size(); ++u) values[system->element_of[u]] = at[u];
  for (const System::Point& p : system->points)
    p.chart->retract(points.data() + p.unknown, at.data() + p.unknown, values.data() + p.element);
  for (std::size_t i = 0; i < system->batches.size(); ++i) {
    const Batch& batch = system->batches[i];
    const Group& group = plan_->groups[batch.group];
    for (std::size_t q = 0; q < batch.arguments.size(); ++q) inputs_[q] = values[batch.arguments[q]];
    const bool is_solved = batch.solved_for != kNowhere;
    if (is_solved) std::fill_n(inputs_.data() + std::size_t{batch.solved_for} * batch.slots, batch.slots, 0.0);
    group.kind->linear_view()({.slots = batch.slots,
                               .inputs = batch.inputs,
                               .outputs = batch.views,
                               .values = inputs_.data(),
                               .parameters = views_.data() + batch_views_[i],
                               .parameter_count = group.parameters.size(),
                               .value = results_.data(),
                               .gains = with_gains || is_solved ? gains_.data() + batch.gains : nullptr});
    if (is_solved) solve_batch(batch);
    if (with_gains) turn_gains(batch);
    const std::size_t found = std::size_t{batch.slots} * batch.views;
    for (std::size_t q = 0; q < batch.results.size(); ++q) values[batch.results[q]] = results_[q % found];
  }
  gains_evaluated_ |= with_gains;
}

void Numbers::recentre() {
  for (const System::Point& p : system->points) {
    std::copy_n(values.data() + p.element, p.chart->size, points.data() + p.unknown);
    std::fill_n(x.data() + p.unknown, p.chart->size, 0.0);
  }
}

// df / dstep_j = sum over i of df / dvalue_i times dvalue_i / dstep_j.
void Numbers::turn_gains(const Batch& batch) {
  std::vector<double> slopes, before;
  for (const Batch::Point& p : batch.points) {
    const std::size_t size = p.chart->size;
    slopes.resize(size * size);
    before.resize(size);
    p.chart->slopes(values.data() + p.element, slopes.data());
    for (std::size_t o = 0; o < batch.views; ++o) {
      double* const gains = gains_.data() + batch.gains + (o * batch.inputs + p.input) * batch.slots + p.slot;
      for (std::size_t i = 0; i < size; ++i) before[i] = std::exchange(gains[i * batch.slots], 0.0);
      for (std::size_t i = 0; i < size; ++i)
        for (std::size_t j = 0; j < size; ++j) gains[j * batch.slots] += before[i] * slopes[i * size + j];
    }
  }
}

// y = f(x, e) is linear: e = (y - f(x, 0)) / g, and the gains by y and x are 1 / g and -f' / g.
void Numbers::solve_batch(const Batch& batch) {
  double* const gains = gains_.data() + batch.gains;
  double* const own = gains + std::size_t{batch.solved_for} * batch.slots;
  const std::uint32_t* const y = batch.arguments.data() + std::size_t{batch.solved_for} * batch.slots;
  for (std::uint32_t s = 0; s < batch.slots; ++s) {
    own[s] = 1 / own[s];
    results_[s] = (values[y[s]] - results_[s]) * own[s];
  }
  for (std::uint32_t i = 0; i < batch.inputs; ++i)
    for (std::uint32_t s = 0; s < batch.slots && i != batch.solved_for; ++s)
      gains[std::size_t{i} * batch.slots + s] *= -own[s];
}

double Numbers::log_gains_of_noise() const {
  double sum = 0;
  for (const Batch& batch : system->batches)
    for (std::uint32_t s = 0; batch.solved_for != kNowhere && s < batch.slots; ++s)
      sum += std::log(std::abs(gains_[batch.gains + std::size_t{batch.solved_for} * batch.slots + s]));
  return sum;
}

double Numbers::evaluate(std::span<const double> at, bool with_gains) {
  place(at, with_gains);
  return objective(system->rows);
}

double Numbers::evaluate_rows(std::span<const double> at) {
  place(at, false);
  return objective(system->first_site_row);
}

void Numbers::sum_plate(const RowPlate& plate, const std::vector<double>& from, std::vector<double>& out) const {
  double* const s = out.data() + plate.first_row;
  const double* const offset = offsets.data() + plate.first_row;
  for (std::uint32_t k = 0; k < plate.slots; ++k) s[k] = -offset[k];
  for (std::uint32_t i = 0; i < plate.count; ++i) {
    const double* const c = coefficients_.data() + plate.coefficients + std::size_t{i} * plate.slots;
    const std::uint32_t* const e = plate.arguments.data() + std::size_t{i} * plate.slots;
    for (std::uint32_t k = 0; k < plate.slots; ++k) s[k] += c[k] * from[e[k]];
  }
}

double Numbers::objective(std::uint32_t rows) {
  for (const RowPlate& plate : system->plates) sum_plate(plate, values, sums);
  for (std::uint32_t r = system->first_cavity_row; r < system->first_site_row; ++r)
    sums[r] = values[system->cavity_elements[r - system->first_cavity_row]];
  for (std::uint32_t r = system->first_site_row; r < rows; ++r)
    sums[r] = values[system->site_elements[r - system->first_site_row]];
  return cost(rows);
}
double Numbers::cost(std::uint32_t rows) const {
  double total = 0;
  for (std::uint32_t r = 0; r < rows; ++r) total += (0.5 * weights[r] * sums[r] - taus[r]) * sums[r];
  return total;
}

bool Numbers::trace() {
  const System& s = *system;
  const bool is_same = traced_ && !coefficients_changed_ && (!gains_evaluated_ || gains_ == traced_gains_);
  gains_evaluated_ = coefficients_changed_ = false;
  if (is_same) return false;
  const std::uint32_t* const columns = s.pattern.columns.data();
  for (std::uint32_t r = 0; r < s.rows; ++r) {
    const std::uint32_t begin = s.pattern.first[r], end = s.pattern.first[r + 1];
    if (begin == end) continue;
    if (s.sources[begin] != kNowhere) {
      for (std::uint32_t k = begin; k < end; ++k) row_values[k] = coefficients_[s.sources[k]];
      continue;
    }
    for (std::uint32_t k = s.first_seed[r]; k < s.first_seed[r + 1]; ++k)
      adjoint_[s.seeds[k].element] += coefficients_[s.seeds[k].coefficient];
    for (std::uint32_t k = s.first_program[r]; k < s.first_program[r + 1]; ++k) {
      const std::uint32_t e = s.programs[k];
      const double weight = adjoint_[e];
      adjoint_[e] = 0;
      for (const System::Edge& edge : s.edges_of(e)) adjoint_[edge.element] += weight * gains_[edge.gain];
    }
    for (std::uint32_t k = begin; k < end; ++k) {
      double& found = adjoint_[s.element_of[columns[k]]];
      row_values[k] = found;
      found = 0;
    }
  }
  traced_gains_ = gains_;
  traced_ = true;
  factored_ = false;
  return true;
}

void Numbers::find_gradient() {
  std::ranges::fill(gradient, 0.0);
  const RowPattern& pattern = system->pattern;
  for (std::uint32_t r = 0; r < system->rows; ++r) {
    const double pull = taus[r] - weights[r] * sums[r];
    if (pull == 0) continue;
    for (std::uint32_t k = pattern.first[r]; k < pattern.first[r + 1]; ++k)
      gradient[pattern.columns[k]] += pull * row_values[k];
  }
}

void Numbers::begin_linear(bool at_zero) {
  if (gains_stale_) {
    std::ranges::fill(trial, 0.0);
    (void)evaluate(trial, true);
    at_zero_ = values;
    base_ = sums;
    gains_stale_ = false;
  } else {
    for (std::size_t i = 0; i < system->plates.size(); ++i)
      if (const RowPlate& plate = system->plates[i]; plate.has_known || plate_changed_[i])
        sum_plate(plate, at_zero_, base_);
  }
  (void)trace();
  if (!at_zero) return;
  sums = base_;
  find_gradient();
}

double Numbers::follow(std::span<const double> at) {
  std::ranges::fill(gradient, 0.0);
  const std::uint32_t *const first = system->pattern.first.data(), *const columns = system->pattern.columns.data();
  double total = 0;
  for (std::uint32_t r = 0, k = 0; r < system->rows; ++r) {
    const std::uint32_t end = first[r + 1];
    double s = base_[r];
    for (std::uint32_t i = k; i < end; ++i) s += row_values[i] * at[columns[i]];
    sums[r] = s;
    const double pull = taus[r] - weights[r] * s;
    total -= 0.5 * (pull + taus[r]) * s;
    for (; k < end; ++k) gradient[columns[k]] += pull * row_values[k];
  }
  return total;
}

void Numbers::polish(std::vector<double>& direction) {
  const std::uint32_t *const first = system->pattern.first.data(), *const columns = system->pattern.columns.data();
  for (int turn = 0; turn < 2; ++turn) {
    std::ranges::fill(step, 0.0);
    for (std::uint32_t r = 0; r < system->rows; ++r) {
      double moved = 0;
      for (std::uint32_t k = first[r]; k < first[r + 1]; ++k) moved += row_values[k] * direction[columns[k]];
      for (std::uint32_t k = first[r]; k < first[r + 1]; ++k) step[columns[k]] -= weights[r] * moved * row_values[k];
    }
    fronts.solve(step, room);
    for (std::size_t u = 0; u < direction.size(); ++u) direction[u] += step[u];
  }
}

bool Numbers::factorise(double damping) {
  if (is_factor_of(damping)) return whole_;
  const Rows rows{&system->pattern, row_values, weights};
  whole_ = fronts.factorise(rows, damping);
  inverted_ = damping == 0 && whole_;
  if (inverted_) fronts.invert();
  // Largest information on an unknown given the others times its variance: how much wider it is than its conditional.
  spread_ = 1;
  is_finite_ = true;
  const auto diagonal = fronts.diagonal();
  for (std::uint32_t p = 0; p < diagonal.size(); ++p) {
    const std::uint32_t u = system->elimination.unknown[p];
    conditional_variance_[u] = diagonal[p] > 0 ? 1 / diagonal[p] : 0;
    is_finite_ &= diagonal[p] < kInfinity;
    if (inverted_) spread_ = std::max(spread_, diagonal[p] * fronts.variance(u));
  }
  if (damping == 0 && is_finite_ && !(whole_ && spread_ < kWide)) {
    whole_ = fronts.factorise_by_qr(rows);
    inverted_ = false;
    spread_ = kInfinity;
  }
  factored_ = true;
  factored_damping_ = damping;
  return whole_;
}

void Numbers::invert() {
  if (!inverted_) fronts.invert();
  inverted_ = true;
}

double Numbers::gradient_size() const {
  double largest = 0;
  for (std::size_t u = 0; u < gradient.size(); ++u)
    largest = std::max(largest, gradient[u] * gradient[u] * conditional_variance_[u]);
  return std::sqrt(largest);
}

double Numbers::rounding_left() {
  invert();
  std::ranges::fill(step, 0.0);
  const RowPattern& pattern = system->pattern;
  for (std::uint32_t r = 0; r < system->rows; ++r) {
    const double pull = std::abs(taus[r] - weights[r] * sums[r]);
    for (std::uint32_t k = pattern.first[r]; k < pattern.first[r + 1]; ++k)
      step[pattern.columns[k]] += pull * std::abs(row_values[k]);
  }
  double largest = 0;
  for (std::uint32_t u = 0; u < step.size(); ++u) largest = std::max(largest, step[u] * std::sqrt(fronts.variance(u)));
  return std::numeric_limits<double>::epsilon() * largest;
}

}  // namespace dma::joint_system
