#include "engine/certify/exact_message.h"

#include <algorithm>
#include <cmath>

#include "engine/support/quadrature.h"

namespace dma {

namespace {

// Twelve standard deviations leave out 4e-33 of a Gaussian's mass.
constexpr double kReach = 12;
// Levels of a message, in standard deviations, where an integrand is cut: it is smooth and of one scale in between.
constexpr double kLevels[] = {-12, -5, -2, 0, 2, 5, 12};
// Cells in which to look for roots: along an integrated variable, and along the one that is solved for.
constexpr int kCells = 12, kPivotCells = 8;

using quadrature::for_each_root;

}  // namespace

ExactMessage::Slot::Slot(const Gaussian& m, bool is_output)
    : message(m), output(is_output), mean(m.mean()), sd(m.sd()), peak(std::exp(log_density(m, m.mean()))) {}

double ExactMessage::Slot::weight(double x) const {
  if (message.is_uniform()) return 1;
  const double u = (x - mean) / sd;
  return peak * std::exp(-0.5 * u * u);
}

std::optional<ExactMessage> ExactMessage::make(const Kind& kind, std::size_t port, std::size_t term,
                                               const Arrivals& arrivals, std::span<const double> parameters,
                                               double tolerance) {
  ExactMessage m;
  m.tolerance_ = tolerance;
  m.kind_ = &kind;
  m.parameters_.assign(parameters.begin(), parameters.end());
  for (std::size_t p = 0; p < arrivals.size(); ++p)
    for (std::size_t t = 0; t < arrivals[p].size(); ++t) {
      if (p == port && t == term) m.target_ = m.slots_.size();
      m.slots_.emplace_back(Gaussian(arrivals[p][t]), kind.ports()[p].output);
    }
  m.values_.resize(m.slots_.size());
  bool informed_by_output = false, output_is_point = false;
  for (std::size_t i = 0; i < m.slots_.size(); ++i) {
    const Slot& slot = m.slots_[i];
    const bool integrable = kind.log_density() || !slot.output;
    if (i == m.target_) continue;
    if (integrable && slot.message.is_uniform()) return std::nullopt;
    if (integrable && slot.message.is_proper()) m.free_.push_back(i);
    if (slot.output && !slot.message.is_uniform()) informed_by_output = true;
    if (slot.output && slot.message.is_point()) output_is_point = true, m.output_point_ = slot.message.mean();
  }
  if (kind.log_density()) return m;
  if (!kind.function()) return std::nullopt;
  const bool to_output = m.slots_[m.target_].output;
  if (to_output && output_is_point) return std::nullopt;
  if (!to_output && !informed_by_output) return std::nullopt;
  if (to_output || output_is_point) {  // the delta is spent on an input
    if (m.free_.empty()) return std::nullopt;
    m.pivot_ = m.free_.front();
    m.free_.erase(m.free_.begin());
  }
  return m;
}

double ExactMessage::g() const {
  inputs_.clear();
  for (std::size_t i = 0; i < slots_.size(); ++i)
    if (!slots_[i].output) inputs_.push_back(values_[i]);
  return kind_->function()(inputs_, parameters_);
}

void ExactMessage::set_values_to_means() const {
  for (std::size_t i = 0; i < slots_.size(); ++i) values_[i] = slots_[i].message.mean();
}

// The integrand once every free variable has a value.
double ExactMessage::innermost() const {
  if (kind_->log_density()) return std::exp(kind_->log_density()(values_, parameters_));
  if (pivot_) return over_roots();
  const double z = g();
  double product = 1;
  for (const Slot& slot : slots_)
    if (slot.output) product *= slot.weight(z);
  return product;
}

double ExactMessage::over_roots() const {
  const std::size_t p = *pivot_;
  const Gaussian& pivot = slots_[p].message;
  const double z = output_point_ ? *output_point_ : values_[target_];
  double sum = 0;
  const auto residual = [&](double x) {
    values_[p] = x;
    return g() - z;
  };
  const double reach = kReach * pivot.sd();
  for_each_root(residual, pivot.mean() - reach, pivot.mean() + reach, kPivotCells, [&](double root) {
    values_[p] = root;
    const double slope = std::abs(derivative(p));
    if (slope > 0) sum += slots_[p].weight(root) / slope;
  });
  if (slots_[target_].output)  // the other outputs are equal to this one
    for (std::size_t i = 0; i < slots_.size(); ++i)
      if (slots_[i].output && i != target_) sum *= slots_[i].weight(z);
  return sum;
}

double ExactMessage::derivative(std::size_t slot) const {
  const double at = values_[slot], sd = slots_[slot].message.is_proper() ? slots_[slot].message.sd() : 1.0;
  const double step = std::max(1e-5 * sd, 1e-6 * std::abs(at));
  values_[slot] = at + step;
  const double above = g();
  values_[slot] = at - step;
  const double below = g();
  values_[slot] = at;
  return (above - below) / (2 * step);
}

// The points where the integrand changes its scale along one free variable: at the levels of its own message, where the
// function passes the levels of the output's message, or where the pivot's root passes those of its own; and at 0.
std::vector<double> ExactMessage::breaks(std::size_t slot) const {
  const Gaussian& own = slots_[slot].message;
  const double low = own.mean() - kReach * own.sd(), high = own.mean() + kReach * own.sd();
  std::vector<double> points = {std::clamp(0.0, low, high)};
  for (const double level : kLevels) points.push_back(own.mean() + level * own.sd());
  if (kind_->function()) {
    const auto crossing = [&](const auto& h) {
      for_each_root(h, low, high, kCells, [&](double root) { points.push_back(root); });
    };
    if (pivot_) {
      const Gaussian& pivot = slots_[*pivot_].message;
      const double z = output_point_ ? *output_point_ : values_[target_];
      for (const double level : kLevels) {
        values_[*pivot_] = pivot.mean() + level * pivot.sd();
        crossing([&](double y) {
          values_[slot] = y;
          return g() - z;
        });
      }
    } else {
      for (const Slot& out : slots_)
        if (out.output && out.message.is_proper())
          for (const double level : kLevels)
            crossing([&](double y) {
              values_[slot] = y;
              return g() - (out.message.mean() + level * out.message.sd());
            });
    }
  }
  std::ranges::sort(points);
  return points;
}

double ExactMessage::integrate(std::size_t from) const {
  if (from == free_.size()) return innermost();
  const std::size_t slot = free_[from];
  const std::vector<double> points = breaks(slot);
  const auto integrand = [&](double y) {
    values_[slot] = y;
    return integrate(from + 1) * slots_[slot].weight(y);
  };
  constexpr int kDepth = 12;
  return quadrature::integral(integrand, points, tolerance_, kDepth);
}

double ExactMessage::operator()(double x) const {
  for (std::size_t i = 0; i < slots_.size(); ++i)
    if (slots_[i].message.is_point()) values_[i] = slots_[i].message.mean();
  values_[target_] = x;
  const double value = integrate(0);
  return std::isfinite(value) ? value : 0.0;
}

std::vector<Hint> ExactMessage::hints() const {
  set_values_to_means();
  std::vector<Hint> found;
  const auto spread_of_inputs = [&] {
    double variance = 0;
    for (std::size_t i = 0; i < slots_.size(); ++i)
      if (i != target_ && !slots_[i].output && slots_[i].message.is_proper()) {
        const double slope = derivative(i);
        variance += slope * slope * slots_[i].message.variance();
      }
    return variance;
  };
  if (!kind_->function()) {  // a density has its mass near what arrives
    for (std::size_t i = 0; i < slots_.size(); ++i)
      if (i != target_)
        found.push_back({slots_[i].message.mean(), slots_[i].message.is_proper() ? slots_[i].message.sd() : 1.0});
    if (found.empty()) found.push_back({0, 1});
    return found;
  }
  if (slots_[target_].output) {
    Gaussian others;
    for (std::size_t i = 0; i < slots_.size(); ++i)
      if (i != target_ && slots_[i].output) others = others * slots_[i].message;
    const Gaussian pushed = Gaussian::from_moments(g(), std::max(spread_of_inputs(), 1e-24));
    const Gaussian both = pushed * others;
    found.push_back({both.mean(), both.sd()});
    return found;
  }
  Gaussian output;
  for (const Slot& slot : slots_)
    if (slot.output) output = output * slot.message;
  const auto residual = [&](double x) {
    values_[target_] = x;
    return g() - output.mean();
  };
  const auto add = [&](double root) {
    values_[target_] = root;
    const double slope = derivative(target_);
    const double sd = std::sqrt(spread_of_inputs() + output.variance()) / std::abs(slope);
    if (sd > 0 && std::isfinite(sd)) found.push_back({root, sd});
  };
  // On a geometric grid in both directions: the preimage may be of any size.
  double reach = 1e-6;
  for (int k = 0; k < 12 && found.empty(); ++k, reach *= 10) for_each_root(residual, -reach, reach, 64, add);
  if (found.empty()) found.push_back({0, 1});
  return found;
}

std::optional<Curve> trace_exact(const Kind& kind, std::size_t port, std::size_t term, const Arrivals& arrivals,
                                 std::span<const double> parameters, const std::vector<Gaussian>& also,
                                 double tolerance) {
  const auto message = ExactMessage::make(kind, port, term, arrivals, parameters, 0.1 * tolerance);
  if (!message) return std::nullopt;
  TraceOptions options{.tolerance = tolerance};
  for (const Gaussian& g : also)
    if (g.is_proper()) options.weights.push_back(g);
  return trace([&](double x) { return (*message)(x); }, message->hints(), options);
}

}  // namespace dma
