#include "engine/certify/certify.h"

#include <algorithm>

#include "engine/kinds/registry.h"
#include "engine/support/parallel.h"
#include "engine/support/text.h"

namespace dma {

namespace {

// Terms of variadic ports: enough to notice a mistake between terms, few enough that one dimension is left to
// integrate.
std::size_t terms_to_integrate(const Kind& kind) {
  const auto variadic_inputs =
      std::ranges::count_if(kind.ports(), [](const PortSpec& p) { return p.variadic && !p.output; });
  return variadic_inputs > 1 ? 1 : 2;
}
constexpr std::size_t kTermsToEvaluate = 3;
// Largest delta of a message that is exact but for quadrature.
constexpr double kExactDelta = 1e-8;

// At the ends of the range of a double an operator may refuse a message: the engine counts it and keeps the old one.
// More often than this it is a defect of the operator.
constexpr double kRare = 0.01;

void judge(EdgeCertificate& edge, double tolerance) {
  const bool direct = edge.independence.holds;
  const auto fail_if = [&](bool failed, std::string reason) {
    if (failed) edge.failures.push_back(std::move(reason));
  };
  const auto& [count, faults, ordinary_faults, first_fault] = edge.properness;
  fail_if(
      ordinary_faults > 0 || static_cast<double>(faults) > kRare * static_cast<double>(count),
      fmt::format("{} of {} messages are not valid, {} of them for ordinary arrivals", faults, count, ordinary_faults));
  if (edge.tilted.count + edge.tilted.missing > 0) {
    const TiltedMoments& t = edge.tilted;
    fail_if(!t.holds,
            fmt::format("the marginal's mean is off by {:.2g} sd, its variance by {:.2g}{}", t.mean_error,
                        t.variance_error, t.missing > 0 ? fmt::format("; {} messages are missing", t.missing) : ""));
    edge.band = edge.failures.empty() ? Band::matched : Band::unbounded;
    return;
  }
  fail_if(direct && !edge.consistency.points.empty() && !edge.consistency.holds,
          "does not tend to the exact message as its inputs concentrate");
  fail_if(!edge.widening.holds,
          edge.widening.narrower == kInfinity
              ? "says something when nothing arrives, where the exact message says nothing"
              : fmt::format("claims too much of wide arrivals: the exact message has {:.3g} times its sd, means are "
                            "{:.2g} sd apart",
                            edge.widening.narrower, edge.widening.mean_error));
  fail_if(!edge.master.holds, "the master bound is violated");
  fail_if(edge.master.largest_delta == kInfinity,
          "sends a point mass where the exact message is none: delta is infinite");
  fail_if(edge.master.points.empty() && edge.master.largest_delta < kInfinity,
          "no scenario has an exact message to compare with");
  fail_if(!edge.proper && !edge.concentration.holds, "the marginal error does not fall like 1/r^2");
  if (!edge.failures.empty())
    edge.band = Band::unbounded;
  else if (!edge.proper)
    edge.band = Band::concentrated;
  else if (edge.master.largest_delta <= std::max(kExactDelta, 10 * tolerance))
    edge.band = Band::exact;
  else
    edge.band = Band::bounded;
}

}  // namespace

std::optional<Gaussian> Edge::message(const Scenario& scenario) const {
  const auto messages = evaluate(*kind, method, port, scenario.arrivals, scenario.parameters);
  if (!messages) return std::nullopt;
  return Gaussian((*messages)[term]);
}

void Edge::tell(const CertifyOptions& options, std::string_view check, int done, int of) const {
  if (!options.progress) return;
  options.progress(fmt::format("{} ({}) to {}: {}{}", kind->name(), method, kind->ports()[port].name, check,
                               of > 0 ? fmt::format(", {} of {}", done, of) : ""));
}

namespace {

EdgeCertificate certify_edge(const Edge& edge, const Scenarios& integrated, const Scenarios& evaluated,
                             const CertifyOptions& options) {
  EdgeCertificate result{.port = edge.kind->ports()[edge.port].name};
  result.properness = check_properness(edge, evaluated, options);
  result.independence = check_independence(edge, evaluated, options);
  if (matches_moments(edge)) {
    result.tilted = check_tilted(edge, integrated, options);
  } else {
    result.consistency = check_consistency(edge, integrated, options);
    result.widening = check_widening(edge, integrated, options);
    check_against_exact(edge, integrated, options, result);
    if (!result.proper) result.concentration = check_concentration(edge, integrated, options);
  }
  judge(result, options.tolerance);
  return result;
}

}  // namespace

Certificate certify(const Kind& kind, std::string_view method, const CertifyOptions& options) {
  const std::vector<std::string> methods = kind.methods();
  const auto has = [&](std::string_view wanted) { return std::ranges::find(methods, wanted) != methods.end(); };
  if (!has(method) && !has(kExact))
    fail("kind '{}' has no messages of method '{}'{}", kind.name(), method, suggestion(method, methods));
  Certificate certificate{kind.name(), std::string(method)};
  const Scenarios integrated(kind, terms_to_integrate(kind), options.seed);
  const Scenarios evaluated(kind, kTermsToEvaluate, options.seed);
  for (std::size_t port = 0; port < kind.ports().size(); ++port) {
    if (kind.find_message(method, port) == nullptr) continue;
    const Edge edge{&kind, std::string(method), port, 0};
    try {
      certificate.edges.push_back(certify_edge(edge, integrated, evaluated, options));
    } catch (const std::exception& error) {
      const std::string_view said = error.what();  // Python appends where it was
      fail(
          "certify: kind '{}', method '{}': a function of its message to '{}' threw an exception: {}; return a message "
          "that is not valid where there is none",
          kind.name(), method, kind.ports()[port].name, said.substr(0, said.find('\n')));
    }
  }
  certificate.band = std::ranges::max(certificate.edges, {}, &EdgeCertificate::band).band;
  return certificate;
}

namespace {

std::vector<std::string> methods_to_certify(const Kind& kind) {
  std::vector<std::string> methods = kind.methods();
  if (methods.size() > 1) std::erase(methods, std::string(kExact));  // exact messages serve the other methods
  return methods;
}

}  // namespace

std::vector<Certificate> certify_all_methods(const Kind& kind, const CertifyOptions& options) {
  std::vector<Certificate> certificates;
  for (const std::string& method : methods_to_certify(kind)) certificates.push_back(certify(kind, method, options));
  return certificates;
}

std::vector<Certificate> certify_all_methods(const Registry& registry, const CertifyOptions& options,
                                             std::size_t jobs) {
  struct Task {
    const Kind* kind;
    std::string method;
  };
  std::vector<Task> tasks;
  for (const auto& [name, kind] : registry.kinds())
    for (const std::string& method :
         registry.is_like_gaussian(kind) ? methods_to_certify(kind) : std::vector<std::string>{})
      tasks.push_back({&kind, method});
  std::vector<Certificate> certificates(tasks.size());
  parallel_for(tasks.size(), jobs > 0 ? jobs : all_processors(),
               [&](std::size_t i) { certificates[i] = certify(*tasks[i].kind, tasks[i].method, options); });
  return certificates;
}

std::string describe_with_bands(const Registry& registry, const CertifyOptions& options, std::size_t jobs) {
  std::string text = describe(registry) + "\nearned quality:\n";
  for (const Certificate& certificate : certify_all_methods(registry, options, jobs))
    text += "  " + certificate.line() + "\n";
  return text;
}

}  // namespace dma
