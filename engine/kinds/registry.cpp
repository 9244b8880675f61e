#include "engine/kinds/registry.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/support/text.h"

namespace dma {

Registry::Registry(const Registry& other) : contents_(other.contents_) {
  if (!contents_->is_open) return;
  contents_ = std::make_shared<Contents>(*other.contents_);
  contents_->is_open = false;
}

Registry& Registry::operator=(const Registry& other) { return contents_ = Registry(other).contents_, *this; }

Registry::Contents& Registry::own() {
  if (contents_.use_count() > 1) contents_ = std::make_shared<Contents>(*contents_);
  return *contents_;
}

Registry& Registry::add(Kind kind) {
  const std::string name = kind.name();
  if (!own().kinds.emplace(name, std::move(kind)).second)
    fail("a factor kind '{}' is registered already; use extend(\"{}\") to add messages to it", name, name);
  return *this;
}

Registry& Registry::fuse(Fusion fusion) {
  const Kind &producer = kind(fusion.producer), &consumer = kind(fusion.consumer), &fused = kind(fusion.fused);
  const std::size_t via = producer.port(fusion.via), into = consumer.port(fusion.into);
  if (!producer.ports()[via].output || producer.ports()[via].variadic || !consumer.ports()[into].variadic)
    fail("fusion of '{}' and '{}': '{}' must be an output of one term and '{}' a variadic port", fusion.producer,
         fusion.consumer, fusion.via, fusion.into);
  std::vector<bool> variadic;  // by port that the fused kind must have
  for (std::size_t p = 0; p < producer.ports().size(); ++p)
    if (p != via) variadic.push_back(true);
  for (std::size_t p = 0; p < consumer.ports().size(); ++p)
    if (p != into) variadic.push_back(consumer.ports()[p].variadic);
  if (!std::ranges::equal(fused.ports(), variadic, {}, &PortSpec::variadic))
    fail(
        "fusion of '{}' and '{}': '{}' must have the other ports "
        "of the first, made variadic, and then those of the second",
        fusion.producer, fusion.consumer, fusion.fused);
  own().fusions.push_back(std::move(fusion));
  return *this;
}

Registry& Registry::add(const FamilyOperations& family) {
  const auto [known, is_new] = own().families.emplace(std::string(family.name), &family);
  if (!is_new && known->second != &family)
    fail("a family '{}' is registered already; give yours another name", family.name);
  return *this;
}

Family Registry::family(std::string_view text) const {
  if (text.empty()) return {};
  const FamilyName wanted = parse_family(text);
  const auto found = families().find(std::string(wanted.name));
  if (found == families().end())
    fail("no family '{}'{}", wanted.name,
         suggestion(wanted.name, families(), [](const auto& known) { return known.first; }));
  const FamilyOperations& family = *found->second;
  if (family.has_dimension && wanted.dimension == 0)
    fail("family '{}' needs the number of its categories: {}(3)", family.name, family.name);
  if (!family.has_dimension && wanted.dimension != 0)
    fail("family '{}' takes no dimension, but '{}' was asked for; its variables have a size instead", family.name,
         text);
  return {family, family.chart != nullptr ? family.chart->size : std::max(1u, wanted.dimension)};
}

const Kind& Registry::kind(std::string_view name) const {
  if (const auto found = kinds().find(std::string(name)); found != kinds().end()) return found->second;
  fail("no factor kind '{}'{}", name, suggestion(name, kinds(), [](const auto& known) { return known.first; }));
}

std::vector<std::string> Registry::methods() const {
  std::vector<std::string> all;
  for (const auto& [name, kind] : kinds())
    for (const std::string& method : kind.methods())
      if (std::ranges::find(all, method) == all.end()) all.push_back(method);
  return all;
}

bool Registry::is_like_gaussian(const Kind& kind) const {
  return std::ranges::all_of(kind.ports(), [&](const PortSpec& port) {
    const auto family = families().find(port.family.value_or(std::string(kGaussian)));
    return family != families().end() && family->second->is_like_gaussian;
  });
}

Kind& Registry::extend(std::string_view name) {
  (void)kind(name);
  own().is_open = true;
  return contents_->kinds.find(std::string(name))->second;
}

std::string describe(const Kind& kind) {
  std::vector<std::string> ports, parameters;
  for (const PortSpec& p : kind.ports())
    ports.push_back(fmt::format("{}{}{}{}", p.output ? "-> " : "", p.name, p.variadic ? "..." : "",
                                !p.family || p.family == kGaussian ? "" : fmt::format(" ({})", *p.family)));
  for (const ParameterSpec& p : kind.parameters())
    parameters.push_back(fmt::format("{}{} in {}{}", p.name, p.per_term ? "..." : "", describe(p.domain),
                                     p.fallback ? fmt::format(", default {}", *p.fallback) : ""));
  return fmt::format("{:<15} {:<23} {:<42} {:<33} {}", kind.name(), joined(ports),
                     parameters.empty() ? "-" : joined(parameters, "; "),
                     kind.methods().empty() ? "joint() alone" : joined(kind.methods()), kind.summary());
}

std::string describe(const Registry& registry) {
  std::string text = fmt::format("{:<15} {:<23} {:<42} {:<33} {}\n", "kind", "ports", "parameters", "methods", "is");
  for (const auto& [name, kind] : registry.kinds()) text += describe(kind) + "\n";
  return text;
}

}  // namespace dma
