#include "engine/run/factor_mass.h"

#include <algorithm>
#include <cmath>

#include "engine/support/text.h"

namespace dma {

namespace {

double log_density_at(const Family& family, Components density, Components point) {
  return family->log_density(density, observed_value(family, point));
}

// log mass of a density of one variable, given by its constant message.
double log_mass_of_prior(const Family& family, Components density, Components arrival) {
  if (arrival[0].is_point()) return log_density_at(family, density, arrival);
  if (density[0].is_point())
    return is_flat(arrival) ? -log_normaliser_or_flat(family, arrival) : log_density_at(family, arrival, density);
  std::vector<Natural> both;
  for (std::size_t k = 0; k < density.size(); ++k) both.push_back(multiply(density[k], arrival[k]));
  return family->log_normaliser(both) - family->log_normaliser(density) - log_normaliser_or_flat(family, arrival);
}

// The method's own message to a port that does not read what arrives there, or another method's.
const MessageFunction* forward_message(const Kind& kind, std::string_view method, std::size_t port) {
  const MessageFunction* found = nullptr;
  for (const MessageFunction& m : kind.messages())
    if (m.target == port && std::ranges::find(m.reads, port) == m.reads.end() &&
        (found == nullptr || m.method == method))
      found = &m;
  return found;
}

std::vector<Natural> laid_out(const Arrivals& ports) {
  std::vector<Natural> flat;
  for (const auto& port : ports) flat.insert(flat.end(), port.begin(), port.end());
  return flat;
}

double centre_of(const Centres& centres, std::size_t port, std::size_t term) {
  return centres.empty() ? std::nan("") : centres[port][term];
}

constexpr std::size_t kNoPort = static_cast<std::size_t>(-1);

// Sum of the log densities of arriving messages at their centres, over all ports but one.
double sum_at_centres(const Arrivals& arrivals, const Centres& centres, std::size_t without, double* largest) {
  double sum = 0;
  for (std::size_t p = 0; p < centres.size(); ++p)
    for (std::size_t t = 0; p != without && t < centres[p].size(); ++t) {
      if (std::isnan(centres[p][t]) || arrivals[p][t].is_point()) continue;
      const double at = log_density(Gaussian(arrivals[p][t]), centres[p][t]);
      sum += at;
      *largest = std::max(*largest, std::abs(at));
    }
  return sum;
}

// log of the integral of a density times a message scaled to 1 at the centre: p(c) / q(c) for their product q.
double log_overlap_at(const Gaussian& p, const Gaussian& arrives, double centre) {
  if (std::isnan(centre)) return log_overlap(p, arrives);
  if (arrives.is_uniform() || p.is_uniform()) return -log_density(arrives, centre);
  if (p.is_point()) return p.tau == centre ? 0 : log_density(arrives, p.tau) - log_density(arrives, centre);
  const Gaussian both = p * arrives;
  return both.is_proper() ? log_density(p, centre) - log_density(both, centre) : std::nan("");
}

// Uses an end x with an exact message that does not depend on what arrives there: the integral of f over all other
// variables is proportional to it. With q, the message times the arriving one, the integral is that of f at x = c over
// q(c).
double log_mass_by_integral(const Kind& kind, Arrivals arrivals, std::span<const double> parameters,
                            const Centres& centres, double* largest) {
  double at_end = 0;
  for (const MessageFunction& m : kind.messages()) {
    const std::size_t port = m.target;
    if (m.method != kExact || kind.ports()[port].variadic || std::isnan(centre_of(centres, port, 0)) ||
        arrivals[port][0].is_point() || std::ranges::find(m.reads, port) != m.reads.end())
      continue;
    const auto message = evaluate(kind, m.method, port, arrivals, parameters);
    const Gaussian both(message ? multiply((*message)[0], arrivals[port][0]) : Natural());
    if (!both.is_proper()) continue;
    at_end = log_density(both, centres[port][0]);
    arrivals[port][0] = Gaussian::point(centres[port][0]);
    break;
  }
  const double found = kind.log_integral()(laid_out(arrivals), parameters);
  if (std::isnan(found)) fail("the messages to it are too wide for a finite integral; give its variables priors");
  return found - at_end - sum_at_centres(arrivals, centres, kNoPort, largest);
}

}  // namespace

std::vector<double> observed_value(const Family& family, Components point) {
  std::vector<double> means(point.size()), variances(point.size());
  family->moments(point, family.components(), means.data(), variances.data());
  if (!family->has_dimension || family->observes_components) return means;
  return {static_cast<double>(std::ranges::max_element(means) - means.begin())};
}

double log_normaliser_or_flat(const Family& family, Components message) {
  const double a = family->log_normaliser(message);
  if (a < kInfinity) return a;
  return is_flat(message) ? 0.0 : std::nan("");
}

double log_mass(const Kind& kind, std::string_view method, const Arrivals& arrivals, std::span<const double> parameters,
                const std::vector<Family>& families, const Centres& centres, double* largest) {
  if (kind.log_integral()) return log_mass_by_integral(kind, arrivals, parameters, centres, largest);
  std::vector<std::size_t> outputs;
  for (std::size_t p = 0; p < kind.ports().size(); ++p)
    if (kind.ports()[p].output) outputs.push_back(p);
  const MessageFunction* forward =
      outputs.size() == 1 && arrivals[outputs[0]].size() == families[outputs[0]].components()
          ? forward_message(kind, method, outputs[0])
          : nullptr;
  const bool is_prior = forward != nullptr && kind.ports().size() == 1 && forward->reads.empty();
  const bool is_conditional = forward != nullptr && (kind.function() || kind.gaussian_row());
  if (!is_prior && !is_conditional)
    fail("kind '{}' gives no part of the evidence; register kind.log_integral(...)", kind.name());
  const std::size_t out = outputs[0];
  const Family& family = families[out];
  for (std::size_t p = 0; p < arrivals.size(); ++p)
    if (p != out && std::ranges::any_of(arrivals[p], &Natural::is_uniform))
      fail("only the factor itself informs the variable at its port '{}'; give it a prior", kind.ports()[p].name);
  const auto density = evaluate(kind, forward->method, out, arrivals, parameters);
  if (!density) fail("its message to '{}' was refused", kind.ports()[out].name);
  const Gaussian made((*density)[0]), arrives(arrivals[out][0]);
  if (!is_prior && made.is_point() && arrives.is_point())
    fail("all its variables are known exactly, and its density there is not finite; put gaussian_noise between");
  const double of_others = sum_at_centres(arrivals, centres, out, largest);
  if (is_prior && !family->is_like_gaussian) return log_mass_of_prior(family, *density, arrivals[out]) - of_others;
  if (arrives.is_point()) return log_density_at(family, *density, arrivals[out]) - of_others;
  return log_overlap_at(made, arrives, centre_of(centres, out, 0)) - of_others;
}

double log_variational_mass(const Kind& kind, const Arrivals& beliefs, const Arrivals& arrivals,
                            std::span<const double> parameters, const std::vector<Family>& families,
                            const Centres& centres, double* largest) {
  if (!kind.expected_log())
    fail(
        "kind '{}' gives no part of the variational bound; choose another "
        "method for its evidence, or register kind.expected_log(...)",
        kind.name());
  double sum = kind.expected_log()(laid_out(beliefs), parameters);
  for (std::size_t p = 0; p < arrivals.size(); ++p)
    for (std::size_t t = 0; t < arrivals[p].size(); t += families[p].components()) {
      const Components belief = Components(beliefs[p]).subspan(t, families[p].components());
      if (!belief[0].is_point())
        sum -= families[p]->kl(belief, Components(arrivals[p]).subspan(t, families[p].components()));
    }
  if (!std::isfinite(sum))
    fail("the beliefs of its variables are too wide for a variational bound; give them proper priors");
  return sum - sum_at_centres(arrivals, centres, kNoPort, largest);
}

}  // namespace dma
