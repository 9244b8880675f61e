// The categorical message over K categories, with one component per category: tau is the log of its weight, rho counts
// the factors that forbid it. So a hard zero needs no special case: products add the counts, and dividing one out
// restores the finite weight. A point mass is 1 in the component of its category and 0 elsewhere.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "engine/messages/family.h"
#include "engine/messages/family_from.h"

namespace dma {

struct CategoricalComponent : AnyNatural {
  using AnyNatural::AnyNatural;
  static CategoricalComponent forbidden() { return {0, 1}; }
  static bool is_message(const Natural& m) { return AnyNatural::is_message(m) && m.rho >= 0; }
};

struct Categorical {
  using Component = CategoricalComponent;
  static constexpr std::string_view kName = "categorical",
                                    kValues = "a category: a whole number from 0 to one below their number";
  static constexpr bool kObservesComponents = false;

  // The log of the weight of every category; -inf where it is forbidden.
  template <class Message>
  static void logs(std::span<const Message> message, double* out);

  static std::size_t observe(std::span<const double> values, std::size_t components, double* tau, double* rho);
  static void moments(Components messages, std::size_t components, double* means, double* variances);
  static double log_density(Components message, std::span<const double> value);
  static double log_normaliser(Components message);
  static double kl(Components p, Components q);
  static std::string text(Components message);
  static void from_logs(std::span<const double> logs, Natural* message);
  // The same, shifted to a maximum of 0. If everything is forbidden the message is NaN, which the engine refuses and
  // counts.
  static void send_logs(std::span<const double> logs, std::span<CategoricalComponent> out);
};

template <class Message>
void Categorical::logs(std::span<const Message> message, double* out) {
  for (std::size_t k = 0; k < message.size(); ++k) {
    const Natural& m = message[k];
    out[k] = m.is_point() ? (m.tau > 0.5 ? 0.0 : -kInfinity) : m.rho == 0 ? m.tau : -kInfinity;
  }
}

}  // namespace dma
