#include "engine/kinds/evaluate.h"

#include "engine/support/text.h"

namespace dma {

namespace {

const MessageFunction& find(const Kind& kind, std::string_view method, std::size_t target) {
  if (target >= kind.ports().size())
    fail("kind '{}' has {} ports, there is no port {}", kind.name(), kind.ports().size(), target);
  const MessageFunction* message = kind.find_message(method, target);
  if (message == nullptr)
    fail("kind '{}' has no message to port '{}'; {}", kind.name(), kind.ports()[target].name,
         missing_message(kind, method, target));
  return *message;
}

void check(const Kind& kind, const Arrivals& arrivals) {
  if (arrivals.size() != kind.ports().size())
    fail("kind '{}' has {} ports but was given the arrivals of {}", kind.name(), kind.ports().size(), arrivals.size());
  for (std::size_t p = 0; p < arrivals.size(); ++p)
    if (!kind.ports()[p].variadic && kind.ports()[p].family.value_or(std::string(kGaussian)) == kGaussian &&
        arrivals[p].size() != 1)
      fail("kind '{}': port '{}' takes 1 message, not {}", kind.name(), kind.ports()[p].name, arrivals[p].size());
  for (const auto& [p, q] : kind.same_terms())
    if (arrivals[p].size() != arrivals[q].size())
      fail("kind '{}': ports '{}' and '{}' take equally many messages, not {} and {}", kind.name(),
           kind.ports()[p].name, kind.ports()[q].name, arrivals[p].size(), arrivals[q].size());
}

std::vector<ParameterView> views(const Kind& kind, const Arrivals& arrivals, std::span<const double> parameters) {
  const auto variadic = kind.variadic_port();
  const std::size_t terms = variadic ? arrivals[*variadic].size() : 1;
  std::vector<ParameterView> out;
  std::size_t first = 0;
  for (const ParameterSpec& spec : kind.parameters()) {
    const std::size_t count = spec.prepare    ? parameters.size() - first
                              : spec.per_term ? terms
                                              : spec.count;  // a table comes last
    out.push_back({parameters.data() + first, 0, 0, static_cast<std::uint32_t>(count)});
    first += count;
  }
  if (first != parameters.size())
    fail("kind '{}' takes {} parameter values, not {}", kind.name(), first, parameters.size());
  return out;
}

}  // namespace

std::optional<std::vector<Natural>> evaluate(const Kind& kind, std::string_view method, std::size_t target,
                                             const Arrivals& arrivals, std::span<const double> parameters) {
  const MessageFunction& message = find(kind, method, target);
  check(kind, arrivals);
  const std::vector<ParameterView> parameter_views = views(kind, arrivals, parameters);

  std::size_t terms = arrivals[target].size();
  std::vector<double> taus, rhos;
  for (const auto& port : arrivals)
    for (const Natural& m : port) {
      taus.push_back(m.tau);
      rhos.push_back(m.rho);
    }
  std::vector<std::size_t> first(arrivals.size());
  for (std::size_t p = 1; p < arrivals.size(); ++p) first[p] = first[p - 1] + arrivals[p - 1].size();
  std::vector<PortView> reads;
  for (const std::size_t p : message.reads)
    reads.push_back(
        {taus.data() + first[p], rhos.data() + first[p], 0, 0, static_cast<std::uint32_t>(arrivals[p].size())});

  std::vector<double> out_tau(terms), out_rho(terms),
      scratch(std::max<std::size_t>(kLeastScratch, kScratchPerTerm * (taus.size() + terms)));
  std::vector<double> memory(kind.memory());
  const Call call{.rows = 1,
                    .columns = 1,
                    .reads = reads.data(),
                    .parameters = parameter_views.data(),
                    .sink = {out_tau.data(), out_rho.data(), 0},
                    .second_sink = {},
                    .out_row = 0,
                    .out_column = static_cast<std::ptrdiff_t>(terms),
                    .out_terms = static_cast<std::uint32_t>(terms),
                    .scratch = scratch.data(),
                    .callable = message.callable.get(),
                    .memory = memory.data(),
                    .memory_size = memory.size()};
  Outcome outcome;
  message.plate(call, outcome);
  if (outcome.faults > 0) return std::nullopt;
  std::vector<Natural> out;
  for (std::size_t t = 0; t < terms; ++t) out.push_back({out_tau[t], out_rho[t]});
  return out;
}

}  // namespace dma
