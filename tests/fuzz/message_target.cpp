#include <algorithm>

#include "factors/standard_registry.h"
#include "tests/fuzz/targets.h"

namespace dma::fuzz {

namespace {

// A message function of one kind and method, from which targets choose at random.
struct Subject {
  const Kind* kind;
  const MessageFunction* message;
};

// Methods with integrals take a thousand times as long as others: they are a target of their own, on smaller plates.
bool integrates(const MessageFunction& message) { return message.method == "ep" || message.method == "hybrid"; }

std::vector<Subject> subjects_that(bool integrate) {
  static const Registry registry = standard_registry();
  std::vector<Subject> list;
  for (const auto& [name, kind] : registry.kinds())
    for (const MessageFunction& message : kind.messages())
      if (integrates(message) == integrate && registry.is_like_gaussian(kind)) list.push_back({&kind, &message});
  return list;
}

// The messages of a port slot by slot, each with its terms.
struct Messages {
  std::vector<double> tau, rho;
  std::size_t terms = 1;

  Messages(std::size_t slots, std::size_t terms_per_slot, Choices& choices) : terms(terms_per_slot) {
    // Plates of only ordinary messages, or only known ones, take other paths than mixed ones.
    const bool all_ordinary = choices.one_in(3), all_known = choices.one_in(4);
    for (std::size_t i = 0; i < slots * terms; ++i) {
      const Natural m =
          all_known      ? Natural{choices.one_in(2) ? std::round(choices.ordinary()) : choices.ordinary(), kInfinity}
          : all_ordinary ? Natural{choices.ordinary(), 1e-3 + std::abs(choices.ordinary())}
                         : choices.message();
      tau.push_back(m.tau);
      rho.push_back(m.rho);
    }
  }
};

std::string described(const Subject& s, const std::vector<Messages>& reads, std::size_t slot,
                      const std::vector<double>& parameters) {
  std::string text =
      fmt::format("{} {} to {}:", s.kind->name(), s.message->method, s.kind->ports()[s.message->target].name);
  for (std::size_t p = 0; p < reads.size(); ++p)
    for (std::size_t t = 0; t < reads[p].terms; ++t) {
      const std::size_t i = slot * reads[p].terms + t;
      text += fmt::format(" {}({}, {})", s.kind->ports()[s.message->reads[p]].name, reads[p].tau[i], reads[p].rho[i]);
    }
  for (const double parameter : parameters) text += fmt::format(" parameter {}", parameter);
  return text;
}

std::size_t fuzz_plate(const Subject& s, std::size_t slots, Choices& choices) {
  const std::size_t terms = choices.one_in(4) ? choices.between(1, 40) : choices.between(1, 4);
  const auto terms_of = [&](std::size_t port) { return s.kind->ports()[port].variadic ? terms : 1; };
  std::vector<Messages> reads;
  std::vector<PortView> views;
  std::size_t all_terms = 0;
  for (const std::size_t port : s.message->reads) {
    reads.emplace_back(slots, terms_of(port), choices);
    all_terms += terms_of(port);
  }
  for (const Messages& m : reads)
    views.push_back(
        {m.tau.data(), m.rho.data(), 0, static_cast<std::ptrdiff_t>(m.terms), static_cast<std::uint32_t>(m.terms)});
  std::vector<double> parameters;
  for (const ParameterSpec& spec : s.kind->parameters())
    for (std::size_t t = 0; t < (spec.per_term ? terms : 1); ++t) parameters.push_back(choices.inside(spec.domain));
  std::vector<ParameterView> parameter_views;
  std::size_t first = 0;
  for (const ParameterSpec& spec : s.kind->parameters()) {
    const std::size_t count = spec.per_term ? terms : 1;
    parameter_views.push_back({parameters.data() + first, 0, 0, static_cast<std::uint32_t>(count)});
    first += count;
  }
  const std::size_t out_terms = terms_of(s.message->target);
  std::vector<double> tau(slots * out_terms), rho(tau.size());
  const bool tracked = choices.one_in(2);
  if (tracked) {
    const Messages before(slots, out_terms, choices);
    tau = before.tau;
    rho = before.rho;
  }
  std::vector<double> scratch(std::max<std::size_t>(kScratchOfMany, kScratchPerTerm * (all_terms + out_terms)));
  const Call call{.rows = 1,
                  .columns = slots,
                  .reads = views.data(),
                  .parameters = parameter_views.data(),
                  .sink = {tau.data(), rho.data(), tracked && choices.one_in(2) ? choices.unit() : 0, tracked},
                  .second_sink = {},
                  .out_row = 0,
                  .out_column = static_cast<std::ptrdiff_t>(out_terms),
                  .out_terms = static_cast<std::uint32_t>(out_terms),
                  .scratch = scratch.data(),
                  .callable = s.message->callable.get()};
  Outcome outcome;
  s.message->plate(call, outcome);
  for (std::size_t i = 0; i < tau.size(); ++i)
    if (!is_valid({tau[i], rho[i]}))  // describing its inputs takes longer than computing it
      promise(false, "a message ({}, {}) from {}", tau[i], rho[i], described(s, reads, i / out_terms, parameters));
  if (!(outcome.change >= 0))
    promise(false, "a change of {} from {}", outcome.change, described(s, reads, 0, parameters));
  return tau.size();
}

}  // namespace

std::size_t fuzz_messages(Choices& choices) {
  static const std::vector<Subject> subjects = subjects_that(false);
  const Subject& subject = choices.any_of(subjects);
  return fuzz_plate(subject, 256, choices);
}

std::size_t fuzz_integrals(Choices& choices) {
  static const std::vector<Subject> subjects = subjects_that(true);
  const Subject& subject = choices.any_of(subjects);
  return fuzz_plate(subject, 8, choices);
}

}  // namespace dma::fuzz
