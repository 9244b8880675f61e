// A family from the type of its messages. A message of one component is a struct that derives from AnyNatural and says
//
//   static constexpr std::string_view kName, kValues;        "gamma", "a positive number"
//   static double location(double x);                        what a point mass at x keeps; NaN if x is not a value
//   static std::array<double, 2> statistics(double x);       t(x): the message is exp(tau t0(x) + rho t1(x))
//   bool is_proper() const;                                  it can be normalised
//   double log_normaliser() const;                           of a proper one: log of the integral of the message
//   std::array<double, 2> expected() const;                  of a proper one: E[t(x)], the gradient of the former
//   double mean() const, variance() const;                   of a proper one
//   std::string text() const;                                of a proper one
//   double quantile(double p) const;                         of a proper one, if values have an order
//   static void from_logs(span<const double>, Natural*);     if it has finitely many values: from their log weights
//   static constexpr bool kHasProbabilities = true;          if a value has a probability, not a density
//
// A message of K components is a struct of static functions on all its components: see categorical.h.
#pragma once

#include <algorithm>
#include <array>
#include <fmt/core.h>
#include <type_traits>

#include "engine/messages/family.h"
#include "engine/messages/gaussian.h"

namespace dma {

// Base of message types whose two natural parameters may have either sign, unlike a Gaussian's.
struct AnyNatural : Natural {
  // Larger numbers are refused, so that no sum of messages overflows a double.
  static constexpr double kLargest = 1e290;

  constexpr AnyNatural() = default;
  constexpr AnyNatural(double first, double second) : Natural{first, second} {}
  constexpr explicit AnyNatural(const Natural& n) : Natural(n) {}

  static constexpr bool kIsLikeGaussian = false;

  bool is_uniform() const { return tau == 0 && rho == 0; }  // true if it tells nothing
  // True if the numbers are within the bounds.
  static bool is_message(const Natural& m) {
    return std::abs(m.tau) <= kLargest && (m.is_point() || std::abs(m.rho) <= kLargest);
  }
  // Relative for large numbers, absolute for those around 1 and below: log-odds and shapes have no unit.
  static double change(const Natural& before, const Natural& after) {
    if (before == after) return 0;
    if (before.is_point() || after.is_point()) return kInfinity;
    const auto of = [](double a, double b) { return std::abs(b - a) / (1 + std::max(std::abs(a), std::abs(b))); };
    return std::max(of(before.tau, after.tau), of(before.rho, after.rho));
  }
};

namespace detail {

// Families of one component. Uniform and point messages are the same in all of them, and are treated here.
template <class T>
struct OneComponent {

  static bool are_valid(Components messages) {
    bool all = true;
    for (const Natural& m : messages) all &= T::is_message(m);
    return all;
  }
  static double change(Components before, Components after) {
    double largest = 0;
    for (std::size_t i = 0; i < before.size(); ++i) largest = std::max(largest, T::change(before[i], after[i]));
    return largest;
  }
  static void damp(Components before, std::span<Natural> after, double damping) {
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (before[i].is_point() || after[i].is_point()) continue;
      const Natural mixed{after[i].tau + damping * (before[i].tau - after[i].tau),
                          after[i].rho + damping * (before[i].rho - after[i].rho)};
      if (T::is_message(mixed)) after[i] = mixed;
    }
  }
  static void close(std::span<Natural> messages) {
    if constexpr (requires(const Natural& m) { T::closed(m); })
      for (Natural& m : messages) m = T::closed(m);
  }
  static std::size_t observe(std::span<const double> values, std::size_t, double* tau, double* rho) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      tau[i] = T::location(values[i]);
      if (std::isnan(tau[i])) return i;
      rho[i] = kInfinity;
    }
    return values.size();
  }
  // A message that cannot be normalised has no moments: it reports mean 0, like a uniform Gaussian, and variance +inf.
  static void moments(Components messages, std::size_t, double* means, double* variances) {
    for (std::size_t i = 0; i < messages.size(); ++i) {
      const T m(messages[i]);
      if constexpr (T::kIsLikeGaussian) {
        means[i] = m.mean();
        variances[i] = m.variance();
      } else {
        means[i] = m.is_point() ? m.tau : m.is_proper() ? m.mean() : 0.0;
        variances[i] = m.is_point() ? 0.0 : m.is_proper() ? m.variance() : kInfinity;
      }
    }
  }
  static double log_density(Components message, std::span<const double> value) {
    const T m(message[0]);
    const double x = value[0];
    if constexpr (T::kIsLikeGaussian) {
      return m.log_density_at(x);
    } else {
      if (std::isnan(T::location(x))) return -kInfinity;
      constexpr bool kIsProbability = requires { T::kHasProbabilities; };
      if (m.is_point()) return T::location(x) == m.tau ? (kIsProbability ? 0.0 : kInfinity) : -kInfinity;
      if (!m.is_proper()) return m.tau == 0 && m.rho == 0 ? 0.0 : -kInfinity;
      return dot(m, T::statistics(x)) - m.log_normaliser();
    }
  }
  static double log_normaliser(Components message) {
    const T m(message[0]);
    return m.is_proper() ? m.log_normaliser() : kInfinity;
  }
  static double kl(Components p, Components q) {
    const T a(p[0]), b(q[0]);
    if constexpr (T::kIsLikeGaussian) {
      return dma::kl(Gaussian(p[0]), Gaussian(q[0]));
    } else {
      if (p[0] == q[0]) return 0;
      if (!a.is_proper() || !b.is_proper()) return kInfinity;
      const auto t = a.expected();
      return dot({a.tau - b.tau, a.rho - b.rho}, t) - a.log_normaliser() + b.log_normaliser();
    }
  }
  // A message that cannot be normalised says nothing of where the value lies.
  static double quantile(Components message, double p) {
    const T m(message[0]);
    if (m.is_point()) return T::kIsLikeGaussian ? m.mean() : m.tau;
    if (!m.is_proper()) return p < 0.5 ? -kInfinity : p > 0.5 ? kInfinity : 0.0;
    return m.quantile(p);
  }
  static std::string text(Components message) {
    const T m(message[0]);
    if (message[0].tau == 0 && message[0].rho == 0) return "uniform";
    if (!T::kIsLikeGaussian && m.is_point()) return fmt::format("= {:.4g}", m.tau);
    return m.is_proper() || m.is_point() ? m.text() : fmt::format("{}({:.4g}, {:.4g})?", T::kName, m.tau, m.rho);
  }

 private:
  // A statistic may be infinite at the edge of the values, where its parameter is 0.
  static double dot(const Natural& m, const std::array<double, 2>& t) {
    return (m.tau == 0 ? 0.0 : m.tau * t[0]) + (m.rho == 0 ? 0.0 : m.rho * t[1]);
  }
};

// Families of K components: T provides every function.
template <class T>
struct ManyComponents : T {
  static bool are_valid(Components messages) { return OneComponent<typename T::Component>::are_valid(messages); }
  static double change(Components before, Components after) {
    return OneComponent<typename T::Component>::change(before, after);
  }
  static void damp(Components before, std::span<Natural> after, double d) {
    OneComponent<typename T::Component>::damp(before, after, d);
  }
  static void close(std::span<Natural>) {}
};

template <class T>
constexpr FamilyOperations make_family_operations() {
  constexpr bool kIsOneComponent = std::is_base_of_v<Natural, T>;
  using Range = std::conditional_t<kIsOneComponent, OneComponent<T>, ManyComponents<T>>;
  FamilyOperations o;
  o.name = T::kName;
  o.values = T::kValues;
  o.has_dimension = !kIsOneComponent;
  if constexpr (kIsOneComponent) {
    o.is_like_gaussian = T::kIsLikeGaussian;
    if constexpr (requires { T::kKeepsValues; }) o.keeps_values = T::kKeepsValues;
  } else {
    o.observes_components = T::kObservesComponents;
    if constexpr (requires { T::kChart; }) {
      o.chart = &T::kChart;
      o.has_dimension = false;
    }
  }
  o.are_valid = &Range::are_valid;
  o.change = &Range::change;
  o.damp = &Range::damp;
  o.close = &Range::close;
  o.observe = &Range::observe;
  o.moments = &Range::moments;
  o.log_density = &Range::log_density;
  o.log_normaliser = &Range::log_normaliser;
  o.kl = &Range::kl;
  o.text = &Range::text;
  if constexpr (kIsOneComponent && requires(const T& m, double p) { m.quantile(p); }) o.quantile = &Range::quantile;
  if constexpr (requires { &T::from_logs; }) o.from_logs = &T::from_logs;
  if constexpr (requires(double x) { T::from_moments(x, x); })
    o.from_moments = [](std::span<const double> means, std::span<const double> variances, Natural* message) {
      *message = T::from_moments(means[0], variances[0]);
    };
  else if constexpr (requires { &T::from_moments; }) o.from_moments = &T::from_moments;
  return o;
}

}  // namespace detail

// The operations of the family whose messages are T.
template <class T>
const FamilyOperations& family_operations() {
  static constexpr FamilyOperations kOperations = detail::make_family_operations<T>();
  return kOperations;
}

}  // namespace dma
