// Laws that hold for every kind, method and target of the standard registry, derived from the Kind alone.
#include "engine/kinds/evaluate.h"
#include "tests/oracles/random_messages.h"
#include "tests/oracles/solved.h"

namespace {

using oracle::RandomMessages;

constexpr std::size_t kTerms = 3;
constexpr std::uint64_t kLawSeed = 77;

// One message function of the registry, with parameters from the middle of their domains.
struct Law {
  const Kind& kind;
  const MessageFunction& message;
  std::vector<double> parameters;

  std::size_t terms(std::size_t port) const { return kind.ports()[port].variadic ? kTerms : 1; }
  bool is_direct() const { return message.method == "dma" || message.method == kExact; }
  auto evaluated(const Arrivals& arrivals) const {
    return evaluate(kind, message.method, message.target, arrivals, parameters);
  }
  Arrivals arrivals(const std::function<Natural()>& draw) const {
    Arrivals out;
    for (std::size_t p = 0; p < kind.ports().size(); ++p) {
      out.emplace_back();
      for (std::size_t t = 0; t < terms(p); ++t) out.back().push_back(is_observed(p) ? observed_like(draw()) : draw());
    }
    return out;
  }
  // A variable at a port without a message is observed: a point mass, or uniform if missing.
  bool is_observed(std::size_t port) const { return kind.find_message(message.method, port) == nullptr; }
  static Natural observed_like(const Natural& m) {
    return m.is_uniform() ? m : Gaussian::point(std::abs(Gaussian(m).mean()));
  }
};

double inside(const Domain& domain) {
  if (!domain.only.empty()) return domain.only.back();
  if (domain.whole) return std::ceil(domain.low == -kInfinity ? 0 : domain.low) + 1;
  if (domain.low == -kInfinity) return domain.high == kInfinity ? 0.3 : domain.high - 1;
  return domain.high == kInfinity ? domain.low + 0.7 : 0.3 * domain.low + 0.7 * domain.high;
}

template <class Check>
void for_every_message(const Check& check) {
  const Registry registry = standard_registry();
  int count = 0;
  for (const auto& entry : registry.kinds())
    for (const MessageFunction& message : entry.second.messages()) {
      const Kind& kind = entry.second;
      if (!registry.is_like_gaussian(kind)) continue;  // messages drawn here are Gaussian
      Law law{kind, message, {}};
      for (const ParameterSpec& spec : kind.parameters())
        for (std::size_t t = 0; t < (spec.per_term ? kTerms : 1); ++t)
          law.parameters.push_back(inside(spec.domain) * (spec.per_term ? 1.0 + static_cast<double>(t) : 1.0));
      INFO("kind.name() ", kind.name(), ", message.method ", message.method, ", kind.ports()[message.target].name ",
           kind.ports()[message.target].name);
      check(law);
      ++count;
    }
  CHECK(count >= 18);
}

// Values on all ports that the factor allows: random inputs and its function's output.
std::vector<std::vector<double>> consistent_values(const Law& law, RandomMessages& random) {
  std::vector<std::vector<double>> values(law.kind.ports().size());
  std::vector<double> inputs;
  for (std::size_t p = 0; p < values.size(); ++p)
    for (std::size_t t = 0; t < law.terms(p); ++t) {
      values[p].push_back(random.sign() * random.log_uniform({0.5, 2}));
      if (!law.kind.ports()[p].output) inputs.push_back(values[p].back());
    }
  if (law.kind.function())
    for (std::size_t p = 0; p < values.size(); ++p)
      if (law.kind.ports()[p].output) values[p].assign(law.terms(p), law.kind.function()(inputs, law.parameters));
  return values;
}

// Range of log message - log density over points around its own value: 0 if they are proportional.
double shape_difference(const Law& law, const Gaussian& message, std::vector<double> values, std::size_t own) {
  const double centre = values[own];
  double low = kInfinity, high = -kInfinity;
  for (const double step : {-2.0, -1.0, -0.3, 0.0, 0.5, 1.0, 2.5}) {
    values[own] = centre + step;
    const double difference = log_density(message, centre + step) - law.kind.log_density()(values, law.parameters);
    low = std::min(low, difference), high = std::max(high, difference);
  }
  return high - low;
}

}  // namespace

TEST_CASE("laws: uniform in, uniform or prior out") {
  for_every_message([](const Law& law) {
    const auto out = law.evaluated(law.arrivals([] { return Natural{}; }));
    REQUIRE(out.has_value());
    for (const Natural& m : *out)
      if (law.message.reads.empty())
        CHECK(m.is_proper());
      else
        CHECK(m.is_uniform());
  });
}

TEST_CASE("laws: a direct message does not depend on what arrives at its own variable") {
  for_every_message([](const Law& law) {
    if (!law.is_direct()) return;
    RandomMessages random(kLawSeed);
    for (int i = 0; i < 200; ++i) {
      Arrivals arrivals = law.arrivals([&] { return random.proper(oracle::kOrdinary); });
      const auto before = law.evaluated(arrivals);
      REQUIRE(before.has_value());
      for (std::size_t t = 0; t < law.terms(law.message.target); ++t) {
        Arrivals other = arrivals;
        other[law.message.target][t] = random.proper(oracle::kOrdinary);
        const auto after = law.evaluated(other);
        REQUIRE(after.has_value());
        // Sums over the other terms may use another order.
        CHECK(oracle::distance((*before)[t], (*after)[t]) <= oracle::kOrdinary.tolerance);
      }
    }
  });
}

TEST_CASE("laws: concentrated inputs reach the exact message in the limit (Definition 2.1)") {
  for_every_message([](const Law& law) {
    if (!law.is_direct()) return;
    REQUIRE((law.kind.function() || law.kind.log_density()));
    RandomMessages random(kLawSeed);
    for (int i = 0; i < 20; ++i) {
      const auto values = consistent_values(law, random);
      double last = kInfinity;
      for (const double sd : {1e-2, 1e-4, 1e-6, 1e-8}) {
        Arrivals arrivals;
        for (const auto& port : values) {
          arrivals.emplace_back();
          for (const double value : port) arrivals.back().push_back(Gaussian::from_moments(value, sd * sd));
        }
        const auto out = law.evaluated(arrivals);
        REQUIRE(out.has_value());
        double error = 0;
        for (std::size_t t = 0; t < out->size(); ++t) {
          const Gaussian message((*out)[t]);
          const double limit = values[law.message.target][t];
          if (law.kind.function()) {
            error = std::max({error, std::abs(message.mean() - limit), message.sd()});
          } else {
            std::vector<double> flat;
            std::size_t own = t;
            for (std::size_t p = 0; p < values.size(); ++p) {
              flat.insert(flat.end(), values[p].begin(), values[p].end());
              if (p < law.message.target) own += values[p].size();
            }
            error = std::max(error, shape_difference(law, message, flat, own));
          }
        }
        // Errors are first order in sd; 1e-9 allows for rounding.
        CHECK(error <= 1000 * sd + 1e-9);
        CHECK(error <= std::max(last, 1e-9));
        last = error;
      }
    }
  });
}

TEST_CASE("laws: a plate of five equals five factors of one") {
  constexpr std::size_t kPlate = 5;
  for_every_message([](const Law& law) {
    RandomMessages random(kLawSeed);
    Graph g;
    std::vector<Connection> ends;
    for (std::size_t p = 0; p < law.kind.ports().size(); ++p) {
      const PortSpec& port = law.kind.ports()[p];
      const std::size_t size = kPlate * (port.variadic ? kTerms : 1);
      const std::string family = port.family.value_or(std::string(kGaussian));
      ends.emplace_back(law.is_observed(p) ? g.observed("", size, family) : g.shared("", size, family));
    }
    ParameterList parameters;
    for (std::size_t i = 0, next = 0; i < law.kind.parameters().size(); ++i) {
      const std::size_t count = law.kind.parameters()[i].per_term ? kTerms : 1;
      const auto first = law.parameters.begin() + static_cast<std::ptrdiff_t>(next);
      parameters.emplace_back(law.kind.parameters()[i].name,
                              std::vector<double>(first, first + static_cast<std::ptrdiff_t>(count)));
      next += count;
    }
    std::vector<Connection> connections = ends;
    if (std::ranges::all_of(law.kind.ports(), &PortSpec::variadic)) {  // each end then has one term
      connections.clear();
      for (std::size_t p = 0; p < ends.size(); ++p)
        for (std::uint32_t t = 0; t < kTerms; ++t) {
          std::vector<std::uint32_t> elements;
          for (std::uint32_t s = 0; s < kPlate; ++s) elements.push_back(static_cast<std::uint32_t>(s * kTerms + t));
          connections.emplace_back(law.kind.ports()[p].name, gather(ends[p].variable, elements));
        }
    }
    const FactorId factor =
        g.factor(law.kind.name(), connections, parameters, {.name = "f", .method = law.message.method});
    static const Registry all = standard_registry();
    const Plan plan = compile(g, flooding({.limit = 1}), all);
    State state(plan);
    std::vector<Arrivals> slots;
    for (std::size_t s = 0; s < kPlate; ++s)
      slots.push_back(law.arrivals([&] { return random.proper(oracle::kOrdinary); }));
    for (std::size_t p = 0; p < ends.size(); ++p) {
      if (law.is_observed(p)) {
        const std::optional<Domain>& domain = law.kind.ports()[p].observed;
        for (Arrivals& slot : slots)
          for (Natural& m : slot[p])
            if (domain && !domain->contains(Gaussian(m).mean())) m = Gaussian::point(1);
        std::vector<double> values;
        for (const Arrivals& slot : slots)
          for (const Natural& m : slot[p]) values.push_back(Gaussian(m).mean());
        state.observe(ends[p].variable, values);
        continue;
      }
      const MessageArrays cavity = state.cavity(ends[p].variable);
      for (std::size_t s = 0, k = 0; s < kPlate; ++s)
        for (const Natural& m : slots[s][p]) cavity.tau[k] = m.tau, cavity.rho[k] = m.rho, ++k;
    }
    (void)run(plan, state, {.diagnose = false});
    const auto found = state.messages(factor, law.kind.ports()[law.message.target].name);
    for (std::size_t s = 0; s < kPlate; ++s) {
      const auto one = law.evaluated(slots[s]);
      for (std::size_t t = 0; t < law.terms(law.message.target); ++t) {
        const Gaussian in_plate = found[s * law.terms(law.message.target) + t];
        if (one) CHECK(oracle::distance((*one)[t], in_plate) <= 1e-14);  // the same code, compiled in two loops
      }
    }
  });
}

TEST_CASE("laws: extreme arrivals give a valid message or a counted fault, and direct methods never a fault") {
  int faults = 0, messages = 0;
  for_every_message([&](const Law& law) {
    RandomMessages random(kLawSeed);
    // Integrals take tens of microseconds, and one within another milliseconds; fuzz "integrals" draws more of both.
    const int trials = law.kind.name() == "student_t_log_variance" ? 50
                       : law.message.method == "ep"                ? 1000
                       : law.is_direct()                           ? 30'000
                                                                   : 3000;
    for (int i = 0; i < trials; ++i) {
      const auto out = law.evaluated(law.arrivals([&] { return random.any(); }));
      ++messages;
      if (!out) {
        ++faults;
        CHECK(!law.is_direct());
        continue;
      }
      for (const Natural& m : *out) CHECK(is_valid(m));
    }
  });
}
