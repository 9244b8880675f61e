// The Dirichlet message over the probabilities of K categories: the product of p_k^(alpha_k - 1), with one component
// per category, tau = alpha_k - 1; rho is not used. A point mass stores the probabilities.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "engine/messages/family.h"
#include "engine/messages/family_from.h"

namespace dma {

struct DirichletComponent : AnyNatural {
  using AnyNatural::AnyNatural;
  static bool is_message(const Natural& m) { return AnyNatural::is_message(m) && (m.rho == 0 || m.is_point()); }
};

struct Dirichlet {
  using Component = DirichletComponent;
  static constexpr std::string_view kName = "dirichlet",
                                    kValues = "a positive probability for each category, with sum 1,";
  static constexpr bool kObservesComponents = true;

  static bool is_proper(Components message);
  static std::size_t observe(std::span<const double> values, std::size_t components, double* tau, double* rho);
  static void moments(Components messages, std::size_t components, double* means, double* variances);
  static double log_density(Components message, std::span<const double> value);
  static double log_normaliser(Components message);
  static double kl(Components p, Components q);
  static std::string text(Components message);
  static void from_moments(std::span<const double> means, std::span<const double> variances, Natural* message);

  // Gains of the counts from the mixture of Dirichlet(a + e_k) with weights r_k of sum 1, projected on its mean and on
  // the sum of its variances. (Dirichlet(a) itself has the weights a_k / s, s being the sum of a.) Returns false if
  // counts and gains are no density within the digits of a double.
  static bool project(std::span<const double> counts, std::span<const double> shares, std::span<double> gains);
  // The counts a of a message, or the probabilities of a known one; false if it is neither.
  template <class Message>
  static bool read_counts(std::span<const Message> message, double* counts);
};

template <class Message>
bool Dirichlet::read_counts(std::span<const Message> message, double* counts) {
  for (const Natural& m : message) {
    if (!m.is_point() && !(m.rho == 0 && m.tau > -1)) return false;
    *counts++ = m.is_point() ? m.tau : m.tau + 1;
  }
  return true;
}

}  // namespace dma
