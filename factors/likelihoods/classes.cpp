#include "factors/likelihoods/classes.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/support/log_sum_exp.h"
#include "engine/support/special_functions.h"
#include "engine/support/text.h"
#include "factors/authoring/common_cause.h"
#include "factors/authoring/normal.h"
#include "factors/likelihoods/logistic.h"

namespace dma {

namespace {

using Form = Part::Form;

constexpr std::size_t kNobody = static_cast<std::size_t>(-1);

// The parts whose product is one class. part_of[i] is the unknown that parts[i] belongs to.
struct ClassProduct {
  std::vector<Part> parts;
  std::vector<std::size_t> part_of;

  void add(std::size_t unknown, Form form, const Gaussian& x, double noise = 0, double count = 0) {
    parts.emplace_back(form, x, noise, count);
    part_of.push_back(unknown);
  }
  double log_mass() const { return CommonCause(parts).log_mass(); }
};

ClassProduct largest(Scores scores, std::size_t c, double noise) {
  ClassProduct out;
  for (std::size_t k = 0; k < scores.size(); ++k) out.add(k, k == c ? Form::density : Form::below, scores[k], noise);
  return out;
}

ClassProduct drawn(Scores scores, std::size_t c) {
  ClassProduct out;
  for (std::size_t k = 0; k < scores.size(); ++k) out.add(k, Form::events, scores[k], 0, k == c ? 1 : 0);
  return out;
}

// The class between two cut points, for x and the cut points that follow it.
ClassProduct between(Scores unknowns, std::size_t c) {
  ClassProduct out;
  out.add(0, Form::logistic, unknowns[0]);
  if (c > 0) out.add(c, Form::below, unknowns[c]);
  if (c + 1 < unknowns.size()) out.add(c + 1, Form::above, unknowns[c + 1]);
  return out;
}

ClassProduct inside(const Gaussian& x, Interval::Parameters p, std::size_t c) {
  ClassProduct out;
  out.add(0, Form::density, x, p.noise);
  if (c > 0) out.add(kNobody, Form::below, Gaussian::point(p.cuts[c - 1]));
  if (c < p.cuts.size()) out.add(kNobody, Form::above, Gaussian::point(p.cuts[c]));
  return out;
}

// Writes the moments as messages; `product(c)` has the weight fractions[c].
template <class ProductOf>
void say_moments(Scores unknowns, std::span<const double> fractions, const ProductOf& product, double noise,
                 ToScores out) {
  std::vector<std::vector<PartMoments>> of_classes;  // an unknown that a class does not depend on stays N(0, 1)
  for (std::size_t c = 0; c < fractions.size(); ++c) {
    of_classes.emplace_back(unknowns.size());
    if (!(fractions[c] > 0)) continue;
    const ClassProduct of_class = product(c);
    const std::vector<PartMoments> found = CommonCause(of_class.parts).moments();
    for (std::size_t i = 0; i < found.size(); ++i)
      if (of_class.part_of[i] != kNobody) of_classes[c][of_class.part_of[i]] = found[i];
  }
  for (std::size_t j = 0; j < unknowns.size(); ++j) {
    PartMoments all{0, 0};
    for (std::size_t c = 0; c < fractions.size(); ++c) all.mean += fractions[c] * of_classes[c][j].mean;
    for (std::size_t c = 0; c < fractions.size(); ++c)
      all.less += fractions[c] * (of_classes[c][j].less - std::pow(of_classes[c][j].mean - all.mean, 2));
    out[j] = Part(Form::below, unknowns[j], noise).message(all, unknowns[j]);
  }
}

template <class ProductOf>
void say_class(Scores unknowns, const ProductOf& product, ToClass out) {
  std::ranges::fill(out, CategoricalComponent());
  if (any_uniform(unknowns)) return;
  std::vector<double> logs;
  for (std::size_t c = 0; c < out.size(); ++c) logs.push_back(product(c).log_mass());
  Categorical::send_logs(logs, out);
}

template <class ProductOf>
void say_unknowns(Scores unknowns, ClassMessage of_class, const ProductOf& product, double noise, ToScores out) {
  std::ranges::fill(out, GaussianOrFallback());
  std::vector<double> fractions(of_class.size());
  Categorical::logs(of_class, fractions.data());
  const auto equal = std::ranges::count(fractions, fractions[0]);
  if (any_uniform(unknowns) || equal == static_cast<std::ptrdiff_t>(of_class.size())) return;  // no information
  if (std::ranges::count(fractions, -kInfinity) + 1 == static_cast<std::ptrdiff_t>(of_class.size())) {
    for (double& f : fractions) f = f > -kInfinity ? 1 : 0;  // the message to the class itself
  } else {
    for (std::size_t c = 0; c < fractions.size(); ++c)
      if (fractions[c] > -kInfinity) fractions[c] += product(c).log_mass();
    if (std::ranges::max(fractions) == -kInfinity) return;
    to_fractions(fractions);
  }
  say_moments(unknowns, fractions, product, noise, out);
}

template <class ProductOf>
double class_integral(Scores unknowns, Components of_class, const ProductOf& product) {
  std::vector<double> logs(of_class.size());
  Categorical::logs(of_class, logs.data());
  const double in_all = log_sum_exp(logs);
  if (any_uniform(unknowns)) return std::nan("");
  if (in_all == -kInfinity) return in_all;
  for (std::size_t c = 0; c < logs.size(); ++c)
    if (logs[c] > -kInfinity) logs[c] += product(c).log_mass();
  return log_sum_exp(logs) - in_all;
}

std::vector<Gaussian> gaussians(Components arrivals) {
  std::vector<Gaussian> out;
  for (const Natural& m : arrivals) out.emplace_back(m);
  return out;
}

bool is_class(double y, std::size_t classes) {
  return y >= 0 && y < static_cast<double>(classes) && y == std::floor(y);
}

// If no number is a class, the message is not valid: the engine refuses and counts it.
std::vector<GaussianOrFallback> to_x_and_cuts(const Gaussian& x, Scores cuts, const Gaussian& y) {
  std::vector<Gaussian> unknowns{x};
  unknowns.insert(unknowns.end(), cuts.begin(), cuts.end());
  std::vector<GaussianOrFallback> out(unknowns.size());
  if (any_uniform(unknowns) || !y.is_point()) return out;
  if (!is_class(y.tau, unknowns.size())) {
    std::ranges::fill(out, GaussianOrFallback(Gaussian(std::nan(""), 0)));
    return out;
  }
  say_moments(unknowns, std::vector{1.0},
              [&](std::size_t) { return between(unknowns, static_cast<std::size_t>(y.tau)); }, 0, out);
  return out;
}

bool are_counts(Scores counts) {
  return std::ranges::all_of(counts, [](const Gaussian& y) {
    return y.is_point() && y.tau >= 0 && y.tau == std::floor(y.tau);
  });
}

ClassProduct poissons(Scores scores, Scores counts) {
  ClassProduct out;
  for (std::size_t k = 0; k < scores.size(); ++k) out.add(k, Form::events, scores[k], 0, counts[k].mean());
  return out;
}

}  // namespace

void Argmax::to_class(Scores scores, Parameters p, ToClass out) {
  say_class(scores, [&](std::size_t c) { return largest(scores, c, p.noise); }, out);
}
void Argmax::to_scores(Scores scores, ClassMessage of_class, Parameters p, ToScores out) {
  say_unknowns(scores, of_class, [&](std::size_t c) { return largest(scores, c, p.noise); }, p.noise, out);
}
double Argmax::log_integral(Components arrivals, Parameters p) {
  const std::vector<Gaussian> scores = gaussians(arrivals.first(arrivals.size() / 2));
  return class_integral(scores, arrivals.last(scores.size()),
                        [&](std::size_t c) { return largest(scores, c, p.noise); });
}

void Softmax::to_class(Scores scores, ToClass out) {
  say_class(scores, [&](std::size_t c) { return drawn(scores, c); }, out);
}
void Softmax::to_scores(Scores scores, ClassMessage of_class, ToScores out) {
  say_unknowns(scores, of_class, [&](std::size_t c) { return drawn(scores, c); }, 0, out);
}
double Softmax::log_integral(Components arrivals) {
  const std::vector<Gaussian> scores = gaussians(arrivals.first(arrivals.size() / 2));
  // A Poisson count of mean 1 is 1 with probability exp(-1).
  return class_integral(scores, arrivals.last(scores.size()), [&](std::size_t c) { return drawn(scores, c); }) - 1;
}

void Multinomial::to_scores(Scores scores, std::span<const Gaussian> counts, ToScores out) {
  std::ranges::fill(out, GaussianOrFallback());
  const bool has_any = std::ranges::any_of(counts, [](const Gaussian& y) { return y.tau > 0; });
  if (!any_uniform(scores) && are_counts(counts) && has_any)
    say_moments(scores, std::vector{1.0}, [&](std::size_t) { return poissons(scores, counts); }, 0, out);
}

double Multinomial::log_density(std::span<const double> values) {
  const auto scores = values.first(values.size() / 2), counts = values.last(values.size() / 2);
  const double in_all = log_sum_exp(scores), n = std::accumulate(counts.begin(), counts.end(), 0.0);
  double sum = log_gamma(n + 1);
  for (std::size_t k = 0; k < scores.size(); ++k)
    if (counts[k] != 0) sum += counts[k] * (scores[k] - in_all) - log_gamma(counts[k] + 1);
  return std::ranges::all_of(counts, [](double y) { return y >= 0 && y == std::floor(y); }) ? sum : -kInfinity;
}

double Multinomial::log_integral(Components arrivals) {
  const std::vector<Gaussian> scores = gaussians(arrivals.first(arrivals.size() / 2)),
                              counts = gaussians(arrivals.last(scores.size()));
  if (any_uniform(counts)) return 0;
  if (any_uniform(scores)) return std::nan("");
  if (!are_counts(counts)) return -kInfinity;
  double n = 0, of_poissons = 0;
  for (const Gaussian& y : counts)
    if (y.tau > 0) {
      n += y.tau;
      of_poissons -= 0.5 * std::log(y.tau) + kHalfLogTwoPi + stirling_rest(y.tau);
    }
  return n == 0 ? 0 : std::log(n) + of_poissons + poissons(scores, counts).log_mass();
}

GaussianOrFallback Ordered::to_x(const Gaussian& x, Scores cuts, const Gaussian& y) {
  return to_x_and_cuts(x, cuts, y)[0];
}
void Ordered::to_cuts(const Gaussian& x, Scores cuts, const Gaussian& y, ToScores out) {
  const auto found = to_x_and_cuts(x, cuts, y);
  std::copy(found.begin() + 1, found.end(), out.begin());
}

// s(b - x) - s(a - x) = s(b - x) s(x - a) (1 - exp(a - b)).
double Ordered::log_density(std::span<const double> values) {
  const double x = values.front(), y = values.back();
  const auto cuts = values.subspan(1, values.size() - 2);
  if (!is_class(y, cuts.size() + 1)) return -kInfinity;
  const auto c = static_cast<std::size_t>(y);
  const double a = c > 0 ? cuts[c - 1] : -kInfinity, b = c < cuts.size() ? cuts[c] : kInfinity;
  if (!(a < b)) return -kInfinity;
  return std::log1p(-std::exp(a - b)) + Logistic::log_density(x - a, 1) + Logistic::log_density(b - x, 1);
}

double Ordered::log_integral(Components arrivals) {
  const std::vector<Gaussian> unknowns = gaussians(arrivals.first(arrivals.size() - 1));
  const Gaussian y(arrivals.back());
  if (y.is_uniform()) return 0;
  if (any_uniform(unknowns)) return std::nan("");
  if (!y.is_point() || !is_class(y.tau, unknowns.size())) return -kInfinity;
  return between(unknowns, static_cast<std::size_t>(y.tau)).log_mass();
}

std::vector<double> Interval::prepare(std::span<const double> given, const PortComponents& components) {
  if (given.size() + 1 != components[1][0])
    fail("{} numbers are given; {} classes have {} cut points", given.size(), components[1][0], components[1][0] - 1);
  for (std::size_t i = 0; i + 1 < given.size(); ++i)
    if (!(given[i] < given[i + 1])) fail("{} is followed by {}; cut points ascend", given[i], given[i + 1]);
  return {given.begin(), given.end()};
}

void Interval::to_class(const Gaussian& x, Parameters p, ToClass out) {
  const auto own = static_cast<std::size_t>(std::ranges::lower_bound(p.cuts, x.mean()) - p.cuts.begin());
  if (!x.is_point() || p.noise > 0) return say_class({&x, 1}, [&](std::size_t c) { return inside(x, p, c); }, out);
  for (std::size_t c = 0; c < out.size(); ++c)
    out[c] = c == own ? CategoricalComponent() : CategoricalComponent::forbidden();
}
GaussianOrFallback Interval::to_x(const Gaussian& x, ClassMessage of_class, Parameters p) {
  GaussianOrFallback out;
  if (!x.is_point())
    say_unknowns({&x, 1}, of_class, [&](std::size_t c) { return inside(x, p, c); }, p.noise, {&out, 1});
  return out;
}

// log (Phi(b) - Phi(a)), computed on the side where both are small.
double Interval::log_density(std::span<const double> values, Parameters p) {
  const auto c = static_cast<std::size_t>(std::ranges::find(values.subspan(1), 1.0) - values.begin()) - 1;
  if (c > p.cuts.size()) return -kInfinity;  // it is not a class
  const double sd = std::sqrt(p.noise), x = values[0];
  const double below = c > 0 ? p.cuts[c - 1] - x : -kInfinity, above = c < p.cuts.size() ? p.cuts[c] - x : kInfinity;
  if (sd == 0) return below < 0 && above >= 0 ? 0 : -kInfinity;
  const bool is_high = below + above > 0;
  const double a = normal::log_distribution((is_high ? -above : below) / sd),
               b = normal::log_distribution((is_high ? -below : above) / sd);
  return b + std::log1p(-std::exp(a - b));
}

double Interval::log_integral(Components arrivals, Parameters p) {
  const Gaussian x(arrivals[0]);
  std::vector<CategoricalComponent> exact(arrivals.size() - 1);
  if (x.is_point() && p.noise == 0) {
    to_class(x, p, exact);
    std::vector<double> logs(exact.size());
    Categorical::logs(arrivals.subspan(1), logs.data());
    const double in_all = log_sum_exp(logs);
    for (std::size_t c = 0; c < exact.size(); ++c)
      if (exact[c].rho == 0) return logs[c] - in_all;
  }
  return class_integral({&x, 1}, arrivals.subspan(1), [&](std::size_t c) { return inside(x, p, c); });
}

Kind argmax_kind() {
  return kind("argmax", "the class is the largest of score + N(0, noise)")
      .variadic_input("scores")
      .output("class", "categorical")
      .same_terms("scores", "class")
      .optional_parameter("noise", 1.0, above(0), finite())
      .log_integral([](auto m, auto p) { return Argmax::log_integral(m, {p[0]}); })
      .message<&Argmax::to_class>("ep", "class", from("scores"))
      .message<&Argmax::to_scores>("ep", "scores", from("scores", "class"));
}

Kind softmax_kind() {
  return kind("softmax", "the class has the probability exp(its score) over the sum of all")
      .variadic_input("scores")
      .output("class", "categorical")
      .same_terms("scores", "class")
      .log_density([](auto v, auto) { return Multinomial::log_density(v); })
      .log_integral([](auto m, auto) { return Softmax::log_integral(m); })
      .message<&Softmax::to_class>("ep", "class", from("scores"))
      .message<&Softmax::to_scores>("ep", "scores", from("scores", "class"));
}

Kind multinomial_kind() {
  return kind("multinomial", "counts of draws of classes, by softmax of the scores")
      .variadic_input("scores")
      .variadic_output("counts")
      .same_terms("scores", "counts")
      .observes("counts", at_least(0) & finite() & whole())
      .log_density([](auto v, auto) { return Multinomial::log_density(v); })
      .log_integral([](auto m, auto) { return Multinomial::log_integral(m); })
      .message<&Multinomial::to_scores>("ep", "scores", from("scores", "counts"))
      .only_if_observed("counts");
}

Kind ordered_kind() {
  return kind("ordered",
              "the class y, from 0, is the interval between "
              "ascending cut points that contains x + logistic noise")
      .input("x")
      .variadic_input("cuts")
      .output("y")
      .observes("y", at_least(0) & finite() & whole())
      .log_density([](auto v, auto) { return Ordered::log_density(v); })
      .log_integral([](auto m, auto) { return Ordered::log_integral(m); })
      .message<&Ordered::to_x>("ep", "x", from("x", "cuts", "y"))
      .only_if_observed("y")
      .message<&Ordered::to_cuts>("ep", "cuts", from("x", "cuts", "y"))
      .only_if_observed("y");
}

Kind interval_kind() {
  return kind("interval", "the class is the interval between given, ascending cut points that contains x + N(0, noise)")
      .input("x")
      .output("class", "categorical")
      .optional_parameter("noise", 0.0, at_least(0), finite())
      .table_parameter("cuts", &Interval::prepare, finite())
      .log_density([](auto v, auto p) {
        return Interval::log_density(v, {p[0], p.subspan(1)});
      })
      .log_integral([](auto m, auto p) {
        return Interval::log_integral(m, {p[0], p.subspan(1)});
      })
      .message<&Interval::to_class>("ep", "class", from("x"))
      .message<&Interval::to_x>("ep", "x", from("x", "class"));
}

}  // namespace dma
