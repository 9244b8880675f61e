// The rows of a system over its roots, the objective, and the factor.
#include "engine/joint/numbers.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace dma::joint_system {

namespace {

// Ratio of standard deviations beyond which variances keep fewer than nine digits: they lose its square.
constexpr double kWide = 1e7;

}  // namespace

RootRows::RootRows(const System& s)
    : Gains(s),
      sums(s.rows),
      row_values(s.pattern.columns.size()),
      gradient(x.size()),
      traced_gains_(s.gain_count),
      adjoint_(s.role.size()),
      base_(s.has_constant_gains ? s.rows : 0) {}

double RootRows::evaluate(std::span<const double> at, bool with_gains) {
  place(at, with_gains);
  return objective(system->rows);
}

double RootRows::evaluate_rows(std::span<const double> at) {
  place(at, false);
  return objective(system->first_site_row);
}

void RootRows::sum_plate(const RowPlate& plate, const std::vector<double>& from, std::vector<double>& out) const {
  double* const s = out.data() + plate.first_row;
  const double* const offset = offsets.data() + plate.first_row;
  for (std::uint32_t k = 0; k < plate.slots; ++k) s[k] = -offset[k];
  for (std::uint32_t i = 0; i < plate.count; ++i) {
    const double* const c = coefficients_.data() + plate.coefficients + std::size_t{i} * plate.slots;
    const std::uint32_t* const e = plate.arguments.data() + std::size_t{i} * plate.slots;
    for (std::uint32_t k = 0; k < plate.slots; ++k) s[k] += c[k] * from[e[k]];
  }
}

double RootRows::objective(std::uint32_t rows) {
  for (const RowPlate& plate : system->plates) sum_plate(plate, values, sums);
  for (std::uint32_t r = system->first_cavity_row; r < system->first_site_row; ++r)
    sums[r] = values[system->cavity_elements[r - system->first_cavity_row]];
  for (std::uint32_t r = system->first_site_row; r < rows; ++r)
    sums[r] = values[system->site_elements[r - system->first_site_row]];
  return cost(rows);
}
double RootRows::cost(std::uint32_t rows) const {
  double total = 0;
  for (std::uint32_t r = 0; r < rows; ++r) total += (0.5 * weights[r] * sums[r] - taus[r]) * sums[r];
  return total;
}

void RootRows::trace() {
  const System& s = *system;
  const bool is_same = row_changes_ > 0 && traced_coefficients_at_ == coefficient_changes_ &&
                       (traced_gains_at_ == gain_changes_ || gains_ == traced_gains_);
  traced_coefficients_at_ = coefficient_changes_;
  traced_gains_at_ = gain_changes_;
  if (is_same) return;
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
  ++row_changes_;
}

void RootRows::find_gradient() {
  std::ranges::fill(gradient, 0.0);
  const RowPattern& pattern = system->pattern;
  for (std::uint32_t r = 0; r < system->rows; ++r) {
    const double pull = taus[r] - weights[r] * sums[r];
    if (pull == 0) continue;
    for (std::uint32_t k = pattern.first[r]; k < pattern.first[r + 1]; ++k)
      gradient[pattern.columns[k]] += pull * row_values[k];
  }
}

void RootRows::begin_linear(bool at_zero) {
  if (base_functions_at_ != function_changes_) {
    std::ranges::fill(trial, 0.0);
    (void)evaluate(trial, true);
    at_zero_ = values;
    base_ = sums;
    base_functions_at_ = function_changes_;
  } else {
    for (const RowPlate& plate : system->plates)
      if (plate.has_known || base_plates_at_ != plate_changes_) sum_plate(plate, at_zero_, base_);
  }
  base_plates_at_ = plate_changes_;
  trace();
  if (!at_zero) return;
  sums = base_;
  find_gradient();
}

double RootRows::follow(std::span<const double> at) {
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

Numbers::Numbers(const System& s)
    : RootRows(s),
      fronts(s.elimination),
      step(x.size()),
      room(x.size()),
      site_tau(s.site_messages),
      site_rho(s.site_messages),
      conditional_variance_(x.size()) {}

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
  const std::tuple now(row_changes_, weight_changes_, damping);
  if (made_from_ == now) return fronts.lost_pivots() == 0;
  const Rows rows{&system->pattern, row_values, weights};
  bool is_whole = fronts.factorise(rows, damping);
  inverted_ = damping == 0 && is_whole;
  if (inverted_) fronts.invert();
  // Largest information on an unknown given the others times its variance: how much wider it is than its conditional.
  spread_ = 1;
  const auto diagonal = fronts.diagonal();
  for (std::uint32_t p = 0; p < diagonal.size(); ++p) {
    const std::uint32_t u = system->elimination.unknown[p];
    conditional_variance_[u] = diagonal[p] > 0 ? 1 / diagonal[p] : 0;
    if (inverted_) spread_ = std::max(spread_, diagonal[p] * fronts.variance(u));
  }
  if (damping == 0 && is_finite() && !(is_whole && spread_ < kWide)) {
    is_whole = fronts.factorise_by_qr(rows);
    inverted_ = false;
    spread_ = kInfinity;
  }
  made_from_ = now;
  return is_whole;
}

bool Numbers::is_finite() const {
  return std::ranges::all_of(fronts.diagonal(), [](double number) { return number < kInfinity; });
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
