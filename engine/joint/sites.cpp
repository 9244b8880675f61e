#include "engine/joint/sites.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/kinds/kind.h"
#include "engine/support/log_sum_exp.h"
#include "engine/support/text.h"

namespace dma::joint_system {

namespace {

// log of the integral of N(z; cavity) times the site, scaled to 1 at `at`: the ratio there of the cavity and the
// product. Evaluated at the product's mean, no large terms cancel.
double log_site_integral(const Gaussian& cavity, const Natural& site, double at) {
  return log_density(cavity, at) - log_density(Gaussian(multiply(cavity, site)), at);
}

// log E[f] over the one unknown argument, by the trapezoidal rule: spectrally accurate for smooth f.
double log_expectation(const Kind& kind, std::vector<double> arguments, std::size_t unknown, const Gaussian& cavity,
                       std::span<const double> parameters) {
  constexpr double kReach = 9, kStep = 1.0 / 32;
  std::vector<double> logs;
  for (double t = -kReach; t <= kReach; t += kStep) {
    arguments[unknown] = cavity.mean() + cavity.sd() * t;
    logs.push_back(kind.log_density()(arguments, parameters) - 0.5 * t * t);
  }
  return log_sum_exp(logs) + std::log(kStep / std::sqrt(2 * std::numbers::pi));
}

}  // namespace

Sites::Sites(const System& system)
    : system_(&system),
      tau_(system.site_messages),
      rho_(system.site_messages),
      kept_tau_(system.site_messages),
      kept_rho_(system.site_messages),
      refused_(system.site_messages) {
  std::size_t terms = 0;
  for (const SitePlate& plate : system.sites) {
    std::size_t of_plate = 0;
    for (const SitePlate::Port& port : plate.ports) of_plate += port.terms;
    terms = std::max(terms, of_plate);
  }
  scratch_.resize(std::max<std::size_t>(kScratchOfMany, 2 * kScratchPerTerm * terms));
}

void Sites::apply(Numbers& numbers) const {
  for (const SitePlate& plate : system_->sites)
    for (const SitePlate::Port& port : plate.ports)
      for (std::size_t q = 0; q < port.rows.size(); ++q)
        if (port.rows[q] != kNowhere) {
          double& weight = numbers.weights[port.rows[q]];
          if (weight != numbers.site_rho[port.first + q]) {
            weight = numbers.site_rho[port.first + q];
            numbers.weights_changed();
          }
          numbers.taus[port.rows[q]] = numbers.site_tau[port.first + q];
        }
}

void Sites::find_cavities(Numbers& numbers) {
  const RowPattern& pattern = system_->pattern;
  std::vector<double> room;
  for (const SitePlate& plate : system_->sites)
    for (const SitePlate::Port& port : plate.ports)
      for (std::size_t q = 0; q < port.elements.size(); ++q) {
        const std::size_t at = port.first + q;
        const double mean = numbers.values[port.elements[q]];
        const std::uint32_t r = port.rows[q];
        const bool is_missing = numbers.missing[port.elements[q]] != 0;
        tau_[at] = is_missing ? 0 : mean;
        rho_[at] = is_missing ? 0 : kInfinity;
        refused_[at] = 0;
        if (r == kNowhere) continue;
        const std::uint32_t begin = pattern.first[r], count = pattern.first[r + 1] - begin;
        const std::span row(numbers.row_values.data() + begin, count);
        double variance = numbers.fronts.quadratic(system_->elimination.front_of_row[r],
                                                   {system_->elimination.local.data() + begin, count}, row);
        if (std::isnan(variance)) variance = numbers.fronts.quadratic(pattern.row(r), row, room);
        const Natural cavity =
            divide(Gaussian::from_moments(mean, variance), {numbers.site_tau[at], numbers.site_rho[at]});
        refused_[at] = !cavity.is_proper() || !is_valid(cavity);
        tau_[at] = refused_[at] ? 0 : cavity.tau;
        rho_[at] = refused_[at] ? 0 : cavity.rho;
      }
}

void Sites::refresh(const State& state, Numbers& numbers, double damping, Outcome& outcome) {
  find_cavities(numbers);
  kept_tau_ = numbers.site_tau;
  kept_rho_ = numbers.site_rho;
  std::size_t first_memory = 0;
  for (const SitePlate& plate : system_->sites) {
    const Group& group = state.plan()->groups[plate.group];
    views_.clear();
    append_views(state, plate.group, views_);
    memory_.resize(std::max(memory_.size(), first_memory + plate.slots * group.kind->memory()));
    for (std::size_t p = 0; p < plate.ports.size(); ++p) {
      const MessageFunction* const message = plate.ports[p].message;
      if (message == nullptr) continue;
      reads_.clear();
      for (const std::size_t read : message->reads) {
        const SitePlate::Port& from = plate.ports[read];
        reads_.push_back({tau_.data() + from.first, rho_.data() + from.first, 0,
                          static_cast<std::ptrdiff_t>(from.terms), from.terms});
      }
      const SitePlate::Port& to = plate.ports[p];
      const Call call{.rows = 1,
                      .columns = plate.slots,
                      .reads = reads_.data(),
                      .parameters = views_.data(),
                      .sink = {numbers.site_tau.data() + to.first, numbers.site_rho.data() + to.first,
                               std::max(damping, group.damping), true},
                      .second_sink = {},
                      .out_row = 0,
                      .out_column = static_cast<std::ptrdiff_t>(to.terms),
                      .out_terms = to.terms,
                      .scratch = scratch_.data(),
                      .callable = message->callable.get(),
                      .memory = memory_.data() + first_memory,
                      .memory_size = group.kind->memory()};
      message->plate(call, outcome);
    }
    first_memory += plate.slots * group.kind->memory();
  }
  for (std::size_t at = 0; at < refused_.size(); ++at)
    if (refused_[at]) {
      outcome.fault(at);
      numbers.site_tau[at] = kept_tau_[at];
      numbers.site_rho[at] = kept_rho_[at];
    }
}

double Sites::change(const State& state, const Numbers& numbers, double damping) const {
  double largest = 0;
  for (const SitePlate& plate : system_->sites) {
    const double kept = std::max(damping, state.plan()->groups[plate.group].damping);
    for (const SitePlate::Port& port : plate.ports)
      for (std::size_t q = 0; q < port.elements.size(); ++q) {
        const std::size_t at = port.first + q;
        if (port.rows[q] == kNowhere || refused_[at]) continue;
        const double before = rho_[at] + kept_rho_[at], mean = (tau_[at] + kept_tau_[at]) / before;
        const double moved = std::abs(numbers.values[port.elements[q]] - mean) * std::sqrt(before);
        const double wider = 0.5 * std::abs(numbers.site_rho[at] - kept_rho_[at]) / before;
        largest = std::max({largest, moved / (1 - kept), wider / (1 - kept)});
      }
  }
  return largest;
}

std::vector<std::uint32_t> Sites::refused_elements() const {
  std::vector<std::uint32_t> out;
  for (const SitePlate& plate : system_->sites)
    for (const SitePlate::Port& port : plate.ports)
      for (std::size_t q = 0; q < port.elements.size(); ++q)
        if (refused_[port.first + q]) out.push_back(port.elements[q]);
  return out;
}

const Kind* Sites::without_density(const PlanData& plan) const {
  for (const SitePlate& plate : system_->sites)
    if (const Kind* const kind = plan.groups[plate.group].kind; !kind->log_density()) return kind;
  return nullptr;
}

double Sites::log_density(const State& state, const Numbers& numbers) {
  double total = 0;
  for (const SitePlate& plate : system_->sites) {
    const Kind& kind = *state.plan()->groups[plate.group].kind;
    reader_.for_each(state, numbers, plate, [&](std::uint32_t, bool is_missing) {
      if (!is_missing) total += kind.log_density()(reader_.arguments, reader_.parameters);
    });
  }
  return total;
}

// The argument has the density of cavity times factor, whose moments are about those of `belief`.
Sites::Lean Sites::lean_of(const Kind& kind, std::vector<double> arguments, std::size_t unknown, const Gaussian& cavity,
                           const Gaussian& belief, std::span<const double> parameters) {
  constexpr int kSide = 8;
  constexpr double kStep = 0.75;
  double logs[2 * kSide + 1], highest = -kInfinity;
  for (int i = -kSide; i <= kSide; ++i) {
    const double t = kStep * i, x = arguments[unknown] = belief.mean() + t * belief.sd(), off = x - cavity.mean();
    const double log = kind.log_density()(arguments, parameters) - 0.5 * off * off * cavity.rho;
    logs[i + kSide] = std::isnan(log) ? -kInfinity : log;
    if (log > highest) highest = log;
  }
  double sums[5] = {};
  for (int i = -kSide; i <= kSide; ++i) {
    double power = std::exp(logs[i + kSide] - highest);
    for (int k = 0; k < 5; ++k, power *= kStep * i) sums[k] += power;
  }
  const double mean = sums[1] / sums[0], square = sums[2] / sums[0], cube = sums[3] / sums[0];
  const double variance = square - mean * mean, third = cube - 3 * mean * square + 2 * mean * mean * mean;
  const double fourth = sums[4] / sums[0] - 4 * mean * cube + 6 * mean * mean * square - 3 * mean * mean * mean * mean;
  return {third / std::pow(variance, 1.5), fourth / (variance * variance) - 3};
}

// The second-order term is small even for two factors of the same argument.
bool Sites::Lean::is_small() const { return third * third / 6 + fourth * fourth / 24 < 0.25; }

// A site has the mass, mean and variance of its factor, and replaces it exactly where no other factor leans. For
// factors n and m whose arguments have the correlation c, the evidence changes to second order by
//
//   c^3 third_n third_m / 6 + c^4 fourth_n fourth_m / 24
//
// (Opper, Paquet and Winther 2013, with cumulants up to the fourth). Pairs within a front are summed: those that share
// their own unknowns, such as the answers of one person. Rows of many sites and few unknowns are hardly correlated.
double Sites::log_pairs(const Numbers& numbers, std::span<const Lean> leans) const {
  constexpr std::size_t kMostWork = 40'000'000;
  if (leans.empty()) return 0;
  const Elimination& e = system_->elimination;
  struct Leaning {
    std::span<const std::uint32_t> local;
    std::span<const double> values;
    double sd;
    Lean lean;
  };
  std::vector<Leaning> sites;
  std::vector<double> covariances;  // argument of one site with the unknowns of the front
  double total = 0;
  for (std::uint32_t f = 0; f + 1 < e.fronts.size(); ++f) {
    sites.clear();
    std::size_t longest = 0;
    for (std::uint32_t k = e.fronts[f].rows; k < e.fronts[f + 1].rows; ++k) {
      const std::uint32_t r = e.rows[k];
      if (r < system_->first_site_row) continue;
      const std::uint32_t begin = system_->pattern.first[r], count = system_->pattern.first[r + 1] - begin;
      longest = std::max<std::size_t>(longest, count);
      const Lean& lean = leans[r - system_->first_site_row];
      if (!lean.is_small()) continue;
      const std::span local(e.local.data() + begin, count);
      const std::span values(numbers.row_values.data() + begin, count);
      const double variance = numbers.fronts.quadratic(f, local, values);
      if (variance > 0) sites.push_back({local, values, std::sqrt(variance), lean});
    }
    const std::size_t rows = e.fronts[f + 1].rows - e.fronts[f].rows;
    if (rows * rows * longest > kMostWork) continue;
    for (std::size_t n = 1; n < sites.size(); ++n) {
      const Leaning& a = sites[n];
      numbers.fronts.multiply(f, a.local, a.values, covariances);
      for (const Leaning& b : std::span(sites).first(n)) {
        double sum = 0;
        for (std::size_t i = 0; i < b.local.size(); ++i) sum += b.values[i] * covariances[b.local[i]];
        const double c = sum / (a.sd * b.sd);
        total += c * c * c * (a.lean.third * b.lean.third / 6 + c * a.lean.fourth * b.lean.fourth / 24);
      }
    }
  }
  return total;
}

double Sites::log_scales(const State& state, const Numbers& numbers) const {
  double total = 0;
  std::vector<Lean> leans(system_->site_elements.size());
  SiteReader of;
  std::vector<Natural> arrivals;
  for (const SitePlate& plate : system_->sites) {
    const Kind& kind = *state.plan()->groups[plate.group].kind;
    of.for_each(state, numbers, plate, [&](std::uint32_t s, bool is_missing) {
      arrivals.clear();
      std::size_t unknown = 0, unknowns = 0;
      for (std::size_t i = 0; i < of.rows.size(); ++i) {
        arrivals.push_back(Gaussian::point(of.arguments[i]));
        if (of.rows[i] == kNowhere) continue;  // sites of known elements only are never refreshed
        unknown = i;
        ++unknowns;
        const std::uint64_t at = of.messages[i];
        const double tau = numbers.site_tau[at], rho = numbers.site_rho[at], mean = of.arguments[i];
        const Gaussian cavity(tau_[at], rho_[at]);
        total -= refused_[at] ? (0.5 * rho * mean - tau) * mean : log_site_integral(cavity, {tau, rho}, mean);
        arrivals.back() = cavity;
        of.arguments[i] = cavity.mean();
      }
      if (is_missing) return;
      if (unknowns == 1 && kind.log_density()) {
        const std::uint64_t at = of.messages[unknown];
        const Natural cavity{tau_[at], rho_[at]}, site{numbers.site_tau[at], numbers.site_rho[at]};
        const Gaussian belief(multiply(cavity, site));
        if (!refused_[at] && belief.is_proper())
          leans[of.rows[unknown] - system_->first_site_row] =
              lean_of(kind, of.arguments, unknown, Gaussian(cavity), belief, of.parameters);
      }
      if (unknowns == 0 && kind.log_density()) {
        total += kind.log_density()(of.arguments, of.parameters);
      } else if (kind.log_integral()) {
        total += kind.log_integral()(arrivals, of.parameters);
      } else if (unknowns == 1 && kind.log_density()) {
        total += log_expectation(kind, of.arguments, unknown, Gaussian(arrivals[unknown]), of.parameters);
      } else {
        fail(
            "joint: no evidence of factor '{}': kind '{}' has no log_integral, and its density cannot be integrated "
            "over {} unknowns",
            state.plan()->slot_name(plate.group, s), kind.name(), unknowns);
      }
    });
  }
  return total + log_pairs(numbers, leans);
}

}  // namespace dma::joint_system
