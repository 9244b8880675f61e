// Reads a State. A run with other observations finds its parameters, and therefore its matrix, unchanged.
#include <algorithm>
#include <limits>
#include <utility>

#include "engine/joint/numbers.h"
#include "engine/kinds/kind.h"
#include "engine/run/state_data.h"
#include "engine/support/text.h"

namespace dma::joint_system {

Values::Values(const System& s)
    : system(&s),
      values(s.role.size()),
      weights(s.rows),
      taus(s.rows),
      offsets(s.rows),
      missing(s.role.size()),
      coefficients_(s.coefficient_count),
      at_zero_(s.has_constant_gains ? s.role.size() : 0),
      batch_parameters_(s.batches.size()),
      plate_parameters_(s.plates.size()),
      row_variances_(s.first_cavity_row) {
  coefficients_[0] = 1;
}

void append_views(const State& state, std::uint32_t group, std::vector<ParameterView>& views) {
  for (std::size_t i = 0; i < state.plan()->groups[group].parameters.size(); ++i) {
    views.push_back(state.data().parameter(group, i));
    views.back().row = 0;
  }
}

void Values::set_views(const State& state) {
  views_.clear();
  batch_views_.clear();
  plate_views_.clear();
  std::size_t wanted = 0;
  for (const Batch& batch : system->batches)
    for (std::size_t i = 0; i < plan_->groups[batch.group].parameters.size(); ++i)
      if (const ParameterView view = state.data().parameter(batch.group, i); !batch.slot.empty() && view.column != 0)
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

bool Values::keep_parameters(std::size_t first_view, std::size_t count, std::size_t slots,
                             std::vector<double>& kept) const {
  bool is_same = true;
  std::size_t at = 0;
  for (std::size_t i = first_view; i < first_view + count; ++i) {
    const ParameterView& view = views_[i];
    const std::size_t numbers = (slots - 1) * static_cast<std::size_t>(view.column) + view.terms;
    if (kept.size() < at + numbers) {
      kept.resize(at + numbers);
      is_same = false;
    }
    double* const own = kept.data() + at;
    if (!std::equal(view.values, view.values + numbers, own)) {
      std::copy_n(view.values, numbers, own);
      is_same = false;
    }
    at += numbers;
  }
  return is_same;
}

bool Values::read_elements(const State& state) {
  bool is_any_missing = false, is_stale = false;
  double* const at_zero = at_zero_.empty() ? values.data() : at_zero_.data();
  for (std::uint32_t v = 0; v < plan_->variables.size(); ++v) {
    const auto& variable = plan_->variables[v];
    if (!variable.observed) continue;
    if (!state.is_given({v}))
      fail("observed variable '{}' has no value; give it one with state.observe(...)", variable.name);
    for (std::uint32_t i = 0; i < variable.size; ++i) {
      const Natural m = state.data().message(variable.first_slot + i);
      const std::uint32_t e = variable.first_element + i;
      missing[e] = !m.is_point();
      is_any_missing |= missing[e] != 0;
      if (system->role[e] != Role::known) continue;
      is_stale |= (values[e] != m.tau) & (system->feeds_function[e] != 0);
      values[e] = at_zero[e] = m.tau;
    }
  }
  function_changes_ += is_stale;
  return is_any_missing;
}

// The weight of a row that predicts an element is 0.
void Values::place_missing(bool is_any_missing) {
  const auto row_of = [&](const Prediction& p) { return system->plates[p.plate].first_row + p.slot; };
  for (const Prediction& p : predictions_) weights[row_of(p)] = 1 / row_variances_[row_of(p)];
  std::swap(predictions_, predictions_before_);
  predictions_.clear();
  inferred_.clear();
  if (is_any_missing) list_missing();
  for (const Prediction& p : predictions_) weights[row_of(p)] = 0;
  if (predictions_ != predictions_before_) weights_changed();
}

// Decides which missing elements rows predict and which become unknowns: those that a function or several factors
// depend on. A likelihood without a row integrates to 1 over its output.
void Values::list_missing() {
  inferred_.resize(missing.size());
  bool is_any = false;
  const auto infer = [&](std::uint32_t e) {
    if (const auto v = plan_->variables.at_element(e); !v.family->is_like_gaussian)
      fail("joint: a value of '{}' is missing, and it is {}; joint() infers gaussian variables only", v.name,
           v.family.text());
    inferred_[e] = 1;
    is_any = true;
  };
  const auto is_leaf = [&](std::uint32_t e) { return missing[e] && !inferred_[e]; };
  for (std::uint32_t e = 0; e < missing.size(); ++e)
    if (missing[e] && (system->feeds_function[e] || system->factors_at[e] != 1)) infer(e);
  for (const SitePlate& plate : system->sites)
    for (std::size_t p = 0; p < plate.ports.size(); ++p)
      for (const std::uint32_t e : plate.ports[p].elements)
        if (is_leaf(e) && !plan_->groups[plate.group].kind->ports()[p].output) infer(e);
  for (std::uint32_t i = 0; i < system->plates.size(); ++i) {
    const RowPlate& plate = system->plates[i];
    for (std::uint32_t s = 0; s < plate.slots; ++s) {
      bool is_taken = false;  // a row predicts one element, that of its last port
      for (std::size_t q = plate.arguments.size() - plate.slots + s; q < plate.arguments.size(); q -= plate.slots) {
        const std::uint32_t e = plate.arguments[q];
        if (!is_leaf(e)) continue;
        const double c = coefficients_[plate.coefficients + q];
        const std::uint32_t r = plate.first_row + s;
        if (std::exchange(is_taken, true) || c == 0) {
          infer(e);
          continue;
        }
        predictions_.push_back({e, i, s, c, row_variances_[r] / (c * c)});
      }
    }
  }
  std::ranges::sort(predictions_, {}, &Prediction::element);
  if (!is_any) inferred_.clear();
}

void Values::read_plate(std::size_t i) {
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
          "joint: factor '{}' has variance {}, a constraint of infinite precision; "
          "give it a small positive variance, or declare its variable observed",
          plan_->slot_name(plate.group, s), variances[s]);
    row_variances_[plate.first_row + s] = variances[s];
    variances[s] = 1 / variances[s];
  }
  double* const own = coefficients_.data() + plate.coefficients;
  if (std::equal(own, own + count, new_coefficients_.data())) return;
  std::copy_n(new_coefficients_.data(), count, own);
  ++coefficient_changes_;
}

void Values::read_values(const State& state) {
  plan_ = &*state.plan();
  const bool is_fresh = !std::exchange(is_read_, false);
  set_views(state);
  const bool is_any_missing = read_elements(state);
  for (std::size_t i = 0; i < system->batches.size(); ++i) {
    const Batch& batch = system->batches[i];
    const std::size_t parameters = plan_->groups[batch.group].parameters.size();
    if (!keep_parameters(batch_views_[i], parameters, batch.slots, batch_parameters_[i])) ++function_changes_;
  }
  for (std::size_t i = 0; i < system->plates.size(); ++i) {
    const RowPlate& plate = system->plates[i];
    const std::size_t parameters = plan_->groups[plate.group].parameters.size();
    if (keep_parameters(plate_views_[i], parameters, plate.slots, plate_parameters_[i]) && !is_fresh) continue;
    read_plate(i);
    ++plate_changes_;
    weights_changed();
  }
  for (std::uint32_t k = 0; k < system->cavity_slots.size(); ++k) {
    const Natural m = state.data().message(system->cavity_slots[k]);
    if (m.is_point())
      fail("joint: the cavity of shared '{}' is a point mass; declare it observed",
           plan_->element_name(system->cavity_elements[k]));
    if (double& weight = weights[system->first_cavity_row + k]; weight != m.rho) {
      weight = m.rho;
      weights_changed();
    }
    taus[system->first_cavity_row + k] = m.tau;
  }
  place_missing(is_any_missing);
  function_changes_ += is_fresh;
  is_read_ = true;
}

void Values::predict() {
  for (const Prediction& p : predictions_) {
    double mean = offsets[system->plates[p.plate].first_row + p.slot] / p.coefficient;
    for_others(p, [&](std::uint32_t e, double number) { mean += number * values[e]; });
    values[p.element] = mean;
  }
}

const Values::Prediction* Values::prediction_of(std::uint32_t element) const {
  const auto found = std::ranges::lower_bound(predictions_, element, {}, &Prediction::element);
  return found != predictions_.end() && found->element == element ? &*found : nullptr;
}

}  // namespace dma::joint_system
