#include "engine/certify/scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/messages/message_text.h"
#include "engine/support/text.h"
#include "engine/support/whole_number.h"

namespace dma {

std::string describe(const Scenario& scenario, const Kind& kind) {
  std::string out;
  for (std::size_t p = 0; p < scenario.arrivals.size(); ++p) {
    out += fmt::format("{}{}:", p == 0 ? "" : ", ", kind.ports()[p].name);
    for (const Natural& m : scenario.arrivals[p]) out += " " + message_text(m);
  }
  if (!scenario.parameters.empty()) out += fmt::format("; parameters {}", joined(scenario.parameters, ", ", "{:.4g}"));
  return out;
}

double Scenarios::log_uniform(double low, double high) { return low * std::pow(high / low, uniform()); }

double Scenarios::parameter(const Domain& domain, bool far) {
  if (domain.whole && domain.only.empty()) {  // the next whole number, in the domain if the domain has any there
    Domain any = domain;
    any.whole = false;
    return std::ceil(parameter(any, far));
  }
  if (!domain.only.empty())
    return domain.only[whole_number<std::size_t>(uniform() * static_cast<double>(domain.only.size()), 0,
                                                 domain.only.size() - 1)];
  const double smallest = far ? 1e-9 : 0.1, largest = far ? 1e9 : 3;
  const bool low = std::isfinite(domain.low), high = std::isfinite(domain.high);
  if (low && high) {
    // Away from the ends, but towards the lower one when far: a slope of 1e-9 is harder than one of 0.5.
    const double width = domain.high - domain.low;
    return domain.low + width * (far ? log_uniform(1e-6, 1) : uniform(0.1, 0.9));
  }
  if (low) return domain.low + log_uniform(smallest, largest);
  if (high) return domain.high - log_uniform(smallest, largest);
  return sign() * log_uniform(smallest, largest);
}

std::vector<double> Scenarios::parameters(bool far) {
  std::vector<double> out;
  for (const ParameterSpec& spec : kind_->parameters())
    for (std::size_t t = 0; t < (spec.per_term ? terms_ : 1); ++t) out.push_back(parameter(spec.domain, far));
  return out;
}

template <class Draw>
Arrivals Scenarios::draw(const Draw& draw_message, bool far) {
  Arrivals arrivals;
  for (const PortSpec& port : kind_->ports()) {
    std::vector<Natural> messages(port.variadic ? terms_ : 1);
    const auto p = static_cast<std::size_t>(&port - kind_->ports().data());
    const bool is_observed =
        std::ranges::none_of(kind_->messages(), [&](const MessageFunction& m) { return m.target == p; });
    for (Natural& m : messages) {
      m = draw_message(port);
      if (m.is_uniform()) continue;
      if (is_observed) {
        // No message goes to it. A whole number that is not negative suits most likelihoods, beside a variadic port one
        // up to its terms.
        const double whole = std::round(std::abs(Gaussian(m).mean()));
        m = Gaussian::point(kind_->variadic_port() ? std::fmod(whole, static_cast<double>(terms_ + 1)) : whole);
      }
      if (m.is_point() && port.observed && !port.observed->contains(Gaussian(m).mean()))
        m = Gaussian::point(parameter(*port.observed, far));
    }
    arrivals.push_back(std::move(messages));
  }
  return arrivals;
}

Gaussian Scenarios::ordinary_message(const PortSpec& port) {
  if (port.family.value_or(std::string(kGaussian)) != kGaussian) {  // for a positive number: a message to its logarithm
    const double log_sd = log_uniform(0.1, 0.6);
    return Gaussian::from_moments(uniform(-2, 2), log_sd * log_sd);
  }
  const double sd = log_uniform(0.3, 3), signal = sign() * log_uniform(0.5, 7);
  return {signal / sd, 1 / (sd * sd)};
}

Natural Scenarios::any_message() {
  constexpr double kFar = 300;  // natural parameters between exp(-300) and exp(300)
  const double kind = uniform();
  if (kind < 0.08) return {};
  if (kind < 0.12) return Gaussian::point(0);
  if (kind < 0.18) return Gaussian::point(sign() * log_uniform(1e-60, 1e60));
  if (kind < 0.22) return {0, log_uniform(1e-100, 1e100)};
  if (kind < 0.32) return {sign() * std::exp(uniform(-kFar, kFar)), std::exp(uniform(-kFar, kFar))};
  const double sd = log_uniform(1e-50, 1e50), signal = sign() * log_uniform(1e-12, 1e12);
  return {signal / sd, 1 / sd / sd};
}

Scenario Scenarios::ordinary() {
  Scenario s{draw([&](const PortSpec& port) { return ordinary_message(port); }, false), parameters(false)};
  if (!kind_->function()) return s;
  const double z = function_at_means(*kind_, s);
  for (std::size_t p = 0; p < kind_->ports().size(); ++p)
    if (kind_->ports()[p].output)
      for (Natural& m : s.arrivals[p]) {
        const double sd = std::max(0.1, std::abs(z)) / log_uniform(0.5, 7);
        m = Gaussian::from_moments(z + 0.3 * sd * uniform(-1, 1), sd * sd);
      }
  return s;
}

Scenario Scenarios::extreme() {
  return {draw([&](const PortSpec&) { return any_message(); }, true), parameters(true)};
}

double function_at_means(const Kind& kind, const Scenario& scenario) {
  std::vector<double> inputs;
  for (std::size_t p = 0; p < scenario.arrivals.size(); ++p)
    if (!kind.ports()[p].output)
      for (const Natural& m : scenario.arrivals[p]) inputs.push_back(Gaussian(m).mean());
  return kind.function()(inputs, scenario.parameters);
}

double signal_to_noise(const Kind& kind, const Scenario& scenario, std::size_t port, std::size_t term) {
  const bool to_output = kind.ports()[port].output;
  double smallest = kInfinity;
  for (std::size_t p = 0; p < scenario.arrivals.size(); ++p)
    for (std::size_t t = 0; t < scenario.arrivals[p].size(); ++t) {
      const Natural& m = scenario.arrivals[p][t];
      const bool used = !(p == port && t == term) && !(to_output && kind.ports()[p].output && kind.function());
      if (used && !m.is_point())
        smallest = std::min(smallest, m.is_uniform() ? 0.0 : std::abs(m.tau) / std::sqrt(m.rho));
    }
  return smallest;
}

}  // namespace dma
