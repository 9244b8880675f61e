// The part of Numbers that reads a State. A run with other observations finds its parameters, and therefore its matrix,
// unchanged.
#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/joint/numbers.h"
#include "engine/support/error.h"

namespace dma::joint_system {

void append_views(const State& state, std::uint32_t group, std::vector<ParameterView>& views) {
  for (std::size_t i = 0; i < state.plan()->groups[group].parameters.size(); ++i) {
    views.push_back(state.parameter(group, i));
    views.back().row = 0;
  }
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

bool Numbers::keep_parameters(std::size_t first_view, std::size_t count, std::size_t slots, std::vector<double>& kept) {
  bool is_same = true;
  std::size_t at = 0;
  for (std::size_t i = first_view; i < first_view + count; ++i) {
    const ParameterView& view = views_[i];
    const std::size_t numbers = (slots - 1) * static_cast<std::size_t>(view.column) + view.terms;
    if (kept.size() < at + numbers) kept.resize(at + numbers), is_same = false;
    double* const own = kept.data() + at;
    if (!std::equal(view.values, view.values + numbers, own)) {
      std::copy_n(view.values, numbers, own);
      is_same = false;
    }
    at += numbers;
  }
  return is_same;
}

void Numbers::read_values(const State& state) {
  bool is_any_missing = false, is_missing_changed = false, is_stale = false;
  double* const at_zero = at_zero_.empty() ? values.data() : at_zero_.data();
  for (std::uint32_t v = 0; v < plan_->variables.size(); ++v) {
    const auto& variable = plan_->variables[v];
    if (!variable.observed) continue;
    if (!state.is_given({v}))
      fail("observed variable '{}' has no value; give it one with state.observe(...)", variable.name);
    for (std::uint32_t i = 0; i < variable.size; ++i) {
      const Natural m = state.message(variable.first_slot + i);
      const std::uint32_t e = variable.first_element + i;
      const std::uint8_t is_missing = !m.is_point();
      is_any_missing |= is_missing != 0;
      is_missing_changed |= is_missing != missing[e];
      is_stale |= (values[e] != m.tau) & (system->feeds_function[e] != 0);
      values[e] = at_zero[e] = m.tau;
      missing[e] = is_missing;
    }
  }
  any_missing = is_any_missing;
  missing_changed_ = is_missing_changed;
  gains_stale_ |= is_stale;
}

// Integrated over, a value that only one Gaussian row knows takes that row with it.
void Numbers::drop_missing(const PlanData& plan) {
  for (std::uint32_t e = 0; e < missing.size(); ++e)
    if (missing[e] && (system->feeds_function[e] || system->factors_at[e] > 1))
      fail(
          "joint: '{}' is missing, but more than one factor or a function depends on it; compile with {{.unobserved = "
          "{{...}}}} to "
          "infer it",
          element_name(plan, e));
  for (const RowPlate& plate : system->plates)
    for (std::uint32_t q = 0; q < plate.arguments.size(); ++q)
      if (missing[plate.arguments[q]]) weights[plate.first_row + q % plate.slots] = 0;
}

void Numbers::read_plate(std::size_t i) {
  const RowPlate& plate = system->plates[i];
  const std::size_t count = std::size_t{plate.count} * plate.slots;
  new_coefficients_.resize(std::max(new_coefficients_.size(), count));
  double* const variances = weights.data() + plate.first_row;
  plan_->groups[plate.group].kind->gaussian_row()({.slots = plate.slots,
                                                   .arguments = plate.count,
                                                   .parameters = views_.data() + plate_views_[i],
                                                   .coefficients = new_coefficients_.data(),
                                                   .offset = offsets.data() + plate.first_row,
                                                   .variance = variances});
  for (std::uint32_t s = 0; s < plate.slots; ++s) {
    constexpr double kLeast = 1 / std::numeric_limits<double>::max();
    if (!(variances[s] > kLeast))
      fail(
          "joint: factor '{}' has variance {}, a constraint of infinite precision; give it a small positive variance, "
          "or declare "
          "its variable observed",
          plan_->slot_name(plate.group, s), variances[s]);
    variances[s] = 1 / variances[s];
  }
  double* const own = coefficients_.data() + plate.coefficients;
  if (std::equal(own, own + count, new_coefficients_.data())) return;
  std::copy_n(new_coefficients_.data(), count, own);
  coefficients_changed_ = true;
}

void Numbers::read(const State& state) {
  plan_ = &*state.plan();
  const bool is_fresh = !is_read_;
  is_read_ = false;  // until all of it is: what is refused half-way is read again
  set_views(state);
  read_values(state);
  batch_parameters_.resize(system->batches.size());
  plate_parameters_.resize(system->plates.size());
  plate_changed_.resize(system->plates.size());
  for (std::size_t i = 0; i < system->batches.size(); ++i) {
    const Batch& batch = system->batches[i];
    if (!keep_parameters(batch_views_[i], plan_->groups[batch.group].parameters.size(), batch.slots,
                         batch_parameters_[i]))
      gains_stale_ = true;
  }
  for (std::size_t i = 0; i < system->plates.size(); ++i) {
    const RowPlate& plate = system->plates[i];
    const std::size_t parameters = plan_->groups[plate.group].parameters.size();
    const bool is_same = keep_parameters(plate_views_[i], parameters, plate.slots, plate_parameters_[i]);
    plate_changed_[i] = is_fresh || missing_changed_ || !is_same;
    if (!plate_changed_[i]) continue;
    read_plate(i);
    weights_changed();
  }
  for (std::uint32_t k = 0; k < system->context_slots.size(); ++k) {
    const Natural m = state.message(system->context_slots[k]);
    if (m.is_point())
      fail("joint: what shared '{}' learned elsewhere is a point mass; declare it observed",
           element_name(*plan_, system->context_elements[k]));
    if (double& weight = weights[system->first_context_row + k]; weight != m.rho) weight = m.rho, weights_changed();
    taus[system->first_context_row + k] = m.tau;
  }
  if (any_missing) drop_missing(*plan_);
  if (is_fresh) gains_stale_ = true;
  is_read_ = true;
}

}  // namespace dma::joint_system
