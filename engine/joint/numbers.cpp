#include "engine/joint/numbers.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/support/error.h"

namespace dma::joint_system {

namespace {
constexpr std::uint32_t kNone = System::kNone;
}

void append_views(const State& state, std::uint32_t group, std::vector<ParameterView>& views) {
  for (std::size_t i = 0; i < state.plan()->groups[group].parameters.size(); ++i) {
    views.push_back(state.parameter(group, i));
    views.back().row = 0;
  }
}

Numbers::Numbers(const System& s)
    : system(&s), values(s.role.size()), weights(s.rows), taus(s.rows), offsets(s.rows), sums(s.rows),
      row_values(s.pattern.columns.size()), x(s.pattern.unknowns), trial(x.size()), start(x.size(), std::nan("")),
      gradient(x.size()), step(x.size()), room(x.size()), site_tau(s.site_messages), site_rho(s.site_messages),
      missing(s.role.size()), fronts(s.elimination), gains_(s.gain_count), coefficients_(s.coefficient_count),
      traced_gains_(s.gain_count), traced_coefficients_(s.coefficient_count), factored_weights_(s.rows),
      adjoint_(s.role.size()) {
  coefficients_[0] = 1;
  std::size_t widest = 0, longest = 0;
  for (const Batch& b : s.batches) {
    widest = std::max(widest, b.arguments.size());
    longest = std::max<std::size_t>(longest, b.slots);
  }
  inputs_.resize(widest);
  results_.resize(longest);
}

void Numbers::set_views(const State& state) {
  views_.clear();
  batch_views_.clear();
  plate_views_.clear();
  std::size_t wanted = 0;
  for (const Batch& batch : system->batches)
    for (std::size_t i = 0; i < plan_->groups[batch.group].parameters.size(); ++i)
      if (const ParameterView view = state.parameter(batch.group, i); !batch.slot.empty() && view.column != 0)
        wanted += std::size_t{batch.slots} * view.terms;
  gathered_.resize(wanted);
  double* next = gathered_.data();
  for (const Batch& batch : system->batches) {
    batch_views_.push_back(views_.size());
    const Group& group = plan_->groups[batch.group];
    append_views(state, batch.group, views_);
    if (batch.slot.empty()) continue;
    for (std::size_t k = 0; k < group.parameters.size(); ++k) {
      ParameterView& view = views_[batch_views_.back() + k];
      if (view.column == 0) continue;
      const double* const from = view.values;
      view.values = next;
      for (const std::uint32_t s : batch.slot) next = std::copy_n(from + std::size_t{s} * view.terms, view.terms, next);
    }
  }
  for (const RowPlate& plate : system->plates) {
    plate_views_.push_back(views_.size());
    append_views(state, plate.group, views_);
  }
}

void Numbers::read_values(const State& state) {
  any_missing = false;
  for (std::uint32_t v = 0; v < plan_->variables.size(); ++v) {
    const auto& variable = plan_->variables[v];
    if (!variable.observed) continue;
    if (!state.is_given({v})) fail("observed variable '{}' has no value; give it one with state.observe(...)", variable.name);
    for (std::uint32_t i = 0; i < variable.size; ++i) {
      const Natural m = state.message(variable.first_slot + i);
      values[variable.first_element + i] = m.tau;
      missing[variable.first_element + i] = !m.is_point();
      any_missing |= !m.is_point();
    }
  }
}

// Integrated over, a value that only one Gaussian row knows takes that row with it.
void Numbers::drop_missing(const PlanData& plan) {
  for (std::uint32_t e = 0; e < missing.size(); ++e)
    if (missing[e] && (system->feeds_function[e] || system->factors_at[e] > 1))
      fail("joint: '{}' is missing, but more than one factor or a function depends on it; compile with {{.unobserved = {{...}}}} to "
           "infer it",
           element_name(plan, e));
  for (const RowPlate& plate : system->plates)
    for (std::uint32_t q = 0; q < plate.arguments.size(); ++q)
      if (missing[plate.arguments[q]]) weights[plate.first_row + q % plate.slots] = 0;
}

void Numbers::read(const State& state) {
  plan_ = &*state.plan();
  set_views(state);
  read_values(state);
  for (std::size_t i = 0; i < system->plates.size(); ++i) {
    const RowPlate& plate = system->plates[i];
    const Group& group = plan_->groups[plate.group];
    double* const variances = weights.data() + plate.first_row;
    group.kind->gaussian_row()({.slots = plate.slots, .arguments = plate.count, .parameters = views_.data() + plate_views_[i],
                                .coefficients = coefficients_.data() + plate.coefficients,
                                .offset = offsets.data() + plate.first_row, .variance = variances});
    for (std::uint32_t s = 0; s < plate.slots; ++s) {
      if (!(variances[s] > 0))
        fail("joint: factor '{}' has variance {}, a constraint of infinite precision; give it a small positive variance, or declare "
             "its variable observed",
             plan_->slot_name(plate.group, s), variances[s]);
      variances[s] = 1 / variances[s];
    }
  }
  for (std::uint32_t k = 0; k < system->context_slots.size(); ++k) {
    const Natural m = state.message(system->context_slots[k]);
    if (m.is_point()) fail("joint: what shared '{}' learned elsewhere is a point mass; declare it observed",
                           element_name(*plan_, system->context_elements[k]));
    weights[system->first_context_row + k] = m.rho;
    taus[system->first_context_row + k] = m.tau;
  }
  if (any_missing) drop_missing(*plan_);
}

double Numbers::evaluate(std::span<const double> at, bool with_gains) {
  for (std::uint32_t u = 0; u < at.size(); ++u) values[system->element_of[u]] = at[u];
  for (std::size_t i = 0; i < system->batches.size(); ++i) {
    const Batch& batch = system->batches[i];
    const Group& group = plan_->groups[batch.group];
    for (std::size_t q = 0; q < batch.arguments.size(); ++q) inputs_[q] = values[batch.arguments[q]];
    group.kind->linear_view()({.slots = batch.slots, .inputs = batch.inputs, .values = inputs_.data(),
                               .parameters = views_.data() + batch_views_[i], .parameter_count = group.parameters.size(),
                               .value = results_.data(), .gains = with_gains ? gains_.data() + batch.gains : nullptr});
    for (std::size_t q = 0; q < batch.results.size(); ++q) values[batch.results[q]] = results_[q % batch.slots];
  }
  return objective();
}

double Numbers::objective() {
  for (const RowPlate& plate : system->plates) {
    double* const s = sums.data() + plate.first_row;
    const double* const offset = offsets.data() + plate.first_row;
    for (std::uint32_t k = 0; k < plate.slots; ++k) s[k] = -offset[k];
    for (std::uint32_t i = 0; i < plate.count; ++i) {
      const double* const c = coefficients_.data() + plate.coefficients + std::size_t{i} * plate.slots;
      const std::uint32_t* const e = plate.arguments.data() + std::size_t{i} * plate.slots;
      for (std::uint32_t k = 0; k < plate.slots; ++k) s[k] += c[k] * values[e[k]];
    }
  }
  for (std::uint32_t r = system->first_context_row; r < system->first_site_row; ++r)
    sums[r] = values[system->context_elements[r - system->first_context_row]];
  for (std::uint32_t r = system->first_site_row; r < system->rows; ++r)
    sums[r] = values[system->site_elements[r - system->first_site_row]];
  double total = 0;
  for (std::uint32_t r = 0; r < system->rows; ++r) total += (0.5 * weights[r] * sums[r] - taus[r]) * sums[r];
  return total;
}

bool Numbers::trace() {
  const System& s = *system;
  if (traced_ && gains_ == traced_gains_ && coefficients_ == traced_coefficients_) return false;
  const std::uint32_t* const columns = s.pattern.columns.data();
  for (std::uint32_t r = 0; r < s.rows; ++r) {
    const std::uint32_t begin = s.pattern.first[r], end = s.pattern.first[r + 1];
    if (begin == end) continue;
    if (s.sources[begin] != kNone) {
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
  traced_coefficients_ = coefficients_;
  traced_ = true;
  factored_ = false;
  return true;
}

void Numbers::find_gradient() {
  std::ranges::fill(gradient, 0.0);
  const RowPattern& pattern = system->pattern;
  for (std::uint32_t r = 0; r < system->rows; ++r) {
    const double pull = taus[r] - weights[r] * sums[r];
    for (std::uint32_t k = pattern.first[r]; k < pattern.first[r + 1]; ++k) gradient[pattern.columns[k]] += pull * row_values[k];
  }
}

bool Numbers::factorise(double damping) {
  if (is_factor_of(damping) && weights == factored_weights_) return whole_;
  whole_ = fronts.factorise({&system->pattern, row_values, weights}, damping);
  factored_ = true;
  inverted_ = false;
  factored_damping_ = damping;
  factored_weights_ = weights;
  return whole_;
}

void Numbers::invert() {
  if (!inverted_) fronts.invert();
  inverted_ = true;
}

double Numbers::gradient_size() const {
  double largest = 0;
  const auto diagonal = fronts.diagonal();
  for (std::uint32_t u = 0; u < gradient.size(); ++u) {
    const double d = diagonal[system->elimination.position[u]];
    if (d > 0) largest = std::max(largest, std::abs(gradient[u]) / std::sqrt(d));
  }
  return largest;
}

void Numbers::gradient_of(std::uint32_t element, Reader& reader, Sparse& out) const {
  out.unknowns.clear();
  out.values.clear();
  if (system->role[element] == Role::known) return;
  reader.derived.clear();
  reader.roots.clear();
  system->ancestors({&element, 1}, reader.mark, reader.stamp++, reader.derived, reader.roots);
  reader.adjoint[element] = 1;
  for (const std::uint32_t e : reader.derived) {
    const double weight = std::exchange(reader.adjoint[e], 0.0);
    for (const System::Edge& edge : system->edges_of(e)) reader.adjoint[edge.element] += weight * gains_[edge.gain];
  }
  for (const std::uint32_t e : reader.roots) {
    out.unknowns.push_back(system->unknown_of[e]);
    out.values.push_back(std::exchange(reader.adjoint[e], 0.0));
  }
}

}  // namespace dma::joint_system
