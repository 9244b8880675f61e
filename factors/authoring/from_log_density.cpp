#include "factors/authoring/from_function.h"

#include <algorithm>
#include <array>
#include <boost/container/static_vector.hpp>
#include <numbers>

#include "engine/support/text.h"
#include "factors/authoring/slot_parameters.h"
#include "factors/authoring/tilted_product.h"

namespace dma {

namespace {

constexpr std::size_t kMostValues = 4;

struct OwnDensity {
  PortDensity log;
  bool is_log_concave;
};

// A density with known values on some ports and Gaussian messages on the others, the free ones.
class DensityOfArrivals {
 public:
  DensityOfArrivals(const OwnDensity& density, std::span<const Gaussian> arrivals, std::span<const double> parameters)
      : density_(density), arrivals_(arrivals), parameters_(parameters) {
    for (std::size_t p = 0; p < arrivals.size(); ++p) {
      values_[p] = arrivals[p].mean();
      if (!arrivals[p].is_point()) free_.push_back(p);
    }
  }

  // Moments of the free port `target`, which comes first.
  Tilted tilt_towards(std::size_t target) {
    for (std::size_t i = 0; i < free_.size(); ++i)
      if (free_[i] == target) std::swap(free_[i], free_[0]);
    std::array<std::array<double, kMostValues>, kMostFree> hints;
    std::array<std::span<const double>, kMostFree> hint_spans;
    for (std::size_t i = 0; i < free_.size(); ++i) hint_spans[i] = find_hints(arrivals_[free_[i]], hints[i]);
    const auto log_density = [&](const double* t) {
      for (std::size_t i = 0; i < free_.size(); ++i) {
        const Gaussian& g = arrivals_[free_[i]];
        values_[free_[i]] = g.mean() + t[i] * g.sd();
      }
      return at_values();
    };
    if (free_.size() > 1) return tilt_first(log_density, free_.size(), hint_spans.data());
    const auto of_one = [&](double t) { return log_density(&t); };
    return density_.is_log_concave ? tilt_log_concave(of_one, hint_spans[0]) : tilt(of_one, hint_spans[0]);
  }
  double at_values() const { return density_.log({values_.data(), arrivals_.size()}, parameters_); }

  bool any_uniform() const {
    return std::ranges::any_of(arrivals_, [](const Gaussian& g) { return g.is_uniform(); });
  }
  std::span<const std::size_t> free() const { return {free_.data(), free_.size()}; }

 private:
  // Known values are likely places for a peak: y itself for additive noise; and 0.
  std::span<const double> find_hints(const Gaussian& g, std::array<double, kMostValues>& hints) const {
    std::size_t count = 0;
    hints[count++] = -g.mean() / g.sd();
    for (const Gaussian& other : arrivals_)
      if (other.is_point() && count < hints.size()) hints[count++] = (other.mean() - g.mean()) / g.sd();
    return {hints.data(), count};
  }

  const OwnDensity& density_;
  std::span<const Gaussian> arrivals_;
  std::span<const double> parameters_;
  std::array<double, kMostValues> values_{};
  boost::container::static_vector<std::size_t, kMostValues> free_;
};

struct TiltedMessage {
  std::shared_ptr<const OwnDensity> density;
  std::size_t latent, target, parameter_count;

  GaussianOrFallback operator()(std::span<const Gaussian> arrivals, const SlotParameters& p) const {
    const ParameterNumbers parameters(p, parameter_count);
    DensityOfArrivals arrived(*density, arrivals, parameters.span());
    const bool is_unknown = std::ranges::any_of(arrived.free(), [&](std::size_t port) { return port >= latent; });
    if (arrived.any_uniform() || is_unknown || !arrivals[target].is_proper())
      return GaussianOrFallback(Gaussian::uniform());
    return tilted_message(arrived.tilt_towards(target), arrivals[target]);
  }
};

double log_normal_at(double off, double log_variance) {
  const double standard = off * std::exp(-0.5 * log_variance);
  return -0.5 * (standard * standard + log_variance + std::log(2 * std::numbers::pi));
}

// N(y; x, s(z)) on ports x, z, y. With N(m, v) arriving at x and y, the mass given z is N(m_y - m_x; 0, w + v_y) where
// N(m_x, w), w = v_x + s, is the message to y; x by symmetry. In units of y's arriving message, with g = v_y / (v_y +
// w) and d = m_x - m_y, y given z has the mean g d and the variance 1 - g, so that over all z
//
//   M = E[g] d      1 - V = E[g] - Var[g] d^2      V = E[1 - g] + Var[g] d^2,
//
// each accurate to full precision. E[1 - g] may be dominated by z with little mass, and has its own integral.
struct NoiseMessage {
  static constexpr std::size_t kZ = 1;
  std::shared_ptr<const LogVariance> log_variance;
  std::size_t target, parameter_count;

  GaussianOrFallback operator()(std::span<const Gaussian> arrivals, const SlotParameters& p) const {
    const ParameterNumbers parameters(p, parameter_count);
    const LogMass log_mass{*this, arrivals, parameters.span()};
    for (std::size_t port = 0; port < arrivals.size(); ++port)
      if (port == target ? arrivals[port].is_point() : !(arrivals[port].rho > 0))
        return GaussianOrFallback(Gaussian::uniform());
    const Gaussian &to = arrivals[target], &z = arrivals[kZ], &other = arrivals[target == 0 ? 2 : 0];
    if (target == kZ && !to.is_proper()) return GaussianOrFallback(Gaussian::uniform());
    if (target == kZ) return tilted_message(tilt(log_mass), z);
    const auto log_width = [&](double t) { return log_mass.log_sum(t, other.variance()); };
    const auto width = [&](double t) { return std::exp(log_width(t)); };
    if (z.is_point()) return GaussianOrFallback(Gaussian::from_moments(other.mean(), width(0)));
    if (!to.is_proper()) {
      const Tilted mean = tilt(log_width);
      if (!mean.found) return tilted_message(mean, to);
      return GaussianOrFallback(Gaussian::from_moments(other.mean(), std::exp(mean.log_mass)));
    }
    double mass = 0, share = 0, spread = 0;  // E[g], and mass Var[g]
    const auto visit = [&](double t, double part) {
      const double off = to.variance() / (to.variance() + width(t)) - share;
      if (!(part > 0)) return;
      mass += part;
      share += off * part / mass;
      spread += part * off * off * (1 - part / mass);
    };
    const NodeVisitor visitor(visit);
    const Tilted all = tilt(log_mass, {}, 1e-12, &visitor);
    const Tilted rest = tilt([&](double t) { return log_mass(t) - std::log1p(to.variance() / width(t)); });
    if (!all.found || !rest.found) return tilted_message(Tilted{}, to);
    const double d = (other.mean() - to.mean()) / to.sd(), widened = spread / mass * d * d;
    const double left = std::exp(rest.log_mass - all.log_mass) + widened, mean = share * d;
    return tilted_message(
        {.found = true, .log_mass = 0, .mean = mean, .tau = mean / left, .rho = (share - widened) / left}, to);
  }

  // Log mass given z, t standard deviations from its mean.
  struct LogMass {
    const NoiseMessage& message;
    std::span<const Gaussian> arrivals;
    std::span<const double> parameters;
    // log(s + variance)
    double log_sum(double t, double variance) const {
      const Gaussian& z = arrivals[kZ];
      const double log_s = (*message.log_variance)(z.mean() + (z.is_point() ? 0 : t * z.sd()), parameters);
      const double log_v = std::log(variance);
      return variance > 0 ? std::max(log_s, log_v) + std::log1p(std::exp(-std::abs(log_s - log_v))) : log_s;
    }
    double operator()(double t) const {
      const double log_w = log_sum(t, arrivals[0].variance() + arrivals[2].variance());
      return log_normal_at(arrivals[2].mean() - arrivals[0].mean(), log_w);
    }
  };
};

template <class Message, std::size_t... i>
void add_message(Kind& kind, const Message& message, std::index_sequence<i...>) {
  kind.message(
      "ep", kind.ports()[message.target].name,
      [message](const GaussianAt<i>&... g, SlotParameters p) {
        return message(std::array<Gaussian, sizeof...(i)>{g...}, p);
      },
      from(kind.ports()[i].name...));
}

}  // namespace

Kind factor_from_log_density(std::string name, const std::vector<std::string>& ports, std::size_t latent,
                             PortDensity log_density, std::string summary, std::vector<ParameterSpec> parameters,
                             bool is_log_concave) {
  if (ports.empty() || ports.size() > kMostValues || latent < 1 || latent > std::min(ports.size(), kMostFree))
    fail(
        "kind '{}': a log density of {} ports, {} of them latent; "
        "one to {} ports are expected, one to {} of them latent",
        name, ports.size(), latent, kMostValues, kMostFree);
  Kind kind(std::move(name), std::move(summary));
  for (std::size_t p = 0; p < ports.size(); ++p)
    if (p + 1 < ports.size() || p == 0)
      kind.input(ports[p]);
    else
      kind.output(ports[p]);
  add_parameters(kind, parameters);
  kind.log_density(log_density);
  const auto density = std::make_shared<const OwnDensity>(OwnDensity{std::move(log_density), is_log_concave});
  kind.log_integral([density](std::span<const Natural> arrivals, std::span<const double> p) {
    std::array<Gaussian, kMostValues> gaussians;
    for (std::size_t i = 0; i < arrivals.size(); ++i) gaussians[i] = Gaussian(arrivals[i]);
    DensityOfArrivals arrived(*density, {gaussians.data(), arrivals.size()}, p);
    if (arrived.any_uniform()) return 0.0;
    if (arrived.free().empty()) return arrived.at_values();
    const Tilted tilted = arrived.tilt_towards(arrived.free().front());
    return tilted.found ? tilted.log_mass : -kInfinity;
  });
  for (std::size_t target = 0; target < latent; ++target) {
    const TiltedMessage message{density, latent, target, parameters.size()};
    switch (ports.size()) {
      case 1:
        add_message(kind, message, std::make_index_sequence<1>());
        break;
      case 2:
        add_message(kind, message, std::make_index_sequence<2>());
        break;
      case 3:
        add_message(kind, message, std::make_index_sequence<3>());
        break;
      default:
        add_message(kind, message, std::make_index_sequence<4>());
    }
  }
  return kind;
}

Kind noise_from_log_variance(std::string name, const std::string& z, LogVariance log_variance, std::string summary,
                             std::vector<ParameterSpec> parameters) {
  Kind kind(std::move(name), std::move(summary));
  kind.input("x").input(z).output("y");
  add_parameters(kind, parameters);
  const auto shared = std::make_shared<const LogVariance>(std::move(log_variance));
  kind.log_density([shared](std::span<const double> v, std::span<const double> p) {
    return log_normal_at(v[2] - v[0], (*shared)(v[1], p));
  });
  kind.log_integral([shared](std::span<const Natural> arrivals, std::span<const double> p) {
    const Gaussian all[] = {Gaussian(arrivals[0]), Gaussian(arrivals[1]), Gaussian(arrivals[2])};
    if (std::ranges::any_of(all, &Gaussian::is_uniform)) return 0.0;
    const NoiseMessage message{shared, 0, 0};
    const NoiseMessage::LogMass log_mass{message, all, p};
    if (all[1].is_point()) return log_mass(0);
    const Tilted tilted = tilt(log_mass);
    return tilted.found ? tilted.log_mass : -kInfinity;
  });
  for (std::size_t target = 0; target < 3; ++target)
    add_message(kind, NoiseMessage{shared, target, parameters.size()}, std::make_index_sequence<3>());
  return kind;
}

}  // namespace dma
