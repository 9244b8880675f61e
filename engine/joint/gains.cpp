// Evaluates the elements of a system at one point of its roots, with gains.
#include <algorithm>
#include <utility>

#include "engine/joint/numbers.h"
#include "engine/kinds/kind.h"

namespace dma::joint_system {

Gains::Gains(const System& s)
    : Values(s), x(s.pattern.unknowns), trial(x.size()), points(s.points.empty() ? 0 : x.size()), gains_(s.gain_count) {
  std::size_t widest = 0, longest = 0;
  for (const Batch& b : s.batches) {
    widest = std::max(widest, b.arguments.size());
    longest = std::max(longest, std::size_t{b.slots} * b.views);
  }
  inputs_.resize(widest);
  results_.resize(longest);
}

bool Gains::read(const State& state) {
  constexpr double kLargestGain = 1e100;  // its square is far from overflow
  read_values(state);
  if (system->is_solved_for_noise && function_changes_ != checked_at_) {
    std::ranges::fill(trial, 0.0);
    place(trial, true);
    // A factor of 0 hides the noise, and one near 0 leaves too few digits of it.
    can_be_solved_for_noise_ = std::abs(log_gains_of_noise()) < kInfinity &&
                               std::ranges::all_of(gains_, [](double gain) { return std::abs(gain) < kLargestGain; });
    checked_at_ = function_changes_;
  }
  return inferred() == system->inferred && can_be_solved_for_noise_;
}

void Gains::place(std::span<const double> at, bool with_gains) {
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
  gain_changes_ += with_gains;
}

void Gains::recentre() {
  for (const System::Point& p : system->points) {
    std::copy_n(values.data() + p.element, p.chart->size, points.data() + p.unknown);
    std::fill_n(x.data() + p.unknown, p.chart->size, 0.0);
  }
}

// df / dstep_j = sum over i of df / dvalue_i times dvalue_i / dstep_j.
void Gains::turn_gains(const Batch& batch) {
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
void Gains::solve_batch(const Batch& batch) {
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

double Gains::log_gains_of_noise() const {
  double sum = 0;
  for (const Batch& batch : system->batches)
    for (std::uint32_t s = 0; batch.solved_for != kNowhere && s < batch.slots; ++s)
      sum += std::log(std::abs(gains_[batch.gains + std::size_t{batch.solved_for} * batch.slots + s]));
  return sum;
}

void Gains::gradient_of(std::uint32_t element, Reader& reader, Sparse& out) const {
  out.unknowns.clear();
  out.values.clear();
  out.noise = 0;
  reader.from.clear();
  const auto begin_at = [&](std::uint32_t e, double number) {
    if (system->role[e] == Role::known) return;
    reader.from.push_back(e);
    reader.adjoint[e] += number;
  };
  if (const Prediction* const p = prediction_of(element)) {
    out.noise = p->noise;
    for_others(*p, begin_at);
  } else {
    begin_at(element, 1);
  }
  reader.derived.clear();
  reader.roots.clear();
  if (reader.stamp == kNowhere) {
    reader.stamp = 0;
    std::ranges::fill(reader.mark, kNowhere);
  }
  system->ancestors(reader.from, reader.mark, reader.stamp++, reader.derived, reader.roots);
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
