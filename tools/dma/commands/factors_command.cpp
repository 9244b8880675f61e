// dma factors: what graphs can be made of.
#include <fmt/format.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "engine/certify/certify.h"
#include "engine/support/json.h"
#include "engine/support/parallel.h"
#include "factors/standard_registry.h"
#include "tools/dma/commands/commands.h"

namespace dma {

namespace {

Json to_json(const Kind& kind) {
  Json json = {
      {"kind", kind.name()}, {"summary", kind.summary()}, {"ports", Json::array()}, {"parameters", Json::array()}};
  for (const PortSpec& port : kind.ports())
    json["ports"].push_back({{"name", port.name},
                             {"direction", port.output ? "output" : "input"},
                             {"variadic", port.variadic},
                             {"family", port.family ? Json(*port.family) : Json("any")}});
  for (const ParameterSpec& parameter : kind.parameters()) {
    json["parameters"].push_back({{"name", parameter.name}, {"domain", describe(parameter.domain)}});
    if (parameter.fallback) json["parameters"].back()["default"] = json_number(*parameter.fallback);
  }
  json["methods"] = Json::object();
  for (const MessageFunction& message : kind.messages())
    json["methods"][message.method].push_back(kind.ports()[message.target].name);
  return json;
}

}  // namespace

void add_factors_command(Command app) {
  auto json = std::make_shared<bool>(false);
  auto bands = std::make_shared<bool>(false);
  auto jobs = std::make_shared<std::size_t>(all_processors());
  const Command command = app.add_subcommand("factors", "List the kinds of factors with ports, parameters and methods");
  command.footer("Example:\n  dma factors --bands");
  command.add_flag("--json", *json, "print JSON: ports, parameters with domains, methods with the ports they send to");
  command.add_flag("--bands", *bands,
                   "certify every kind and method quickly, and add the band of quality it earns: takes seconds");
  command.add_option("--jobs", *jobs, "threads, for --bands (default: all processors)").between(1, 1024);
  command.callback([json, bands, jobs] {
    const Registry registry = standard_registry();
    if (!*json) {
      fmt::print("{}", *bands ? describe_with_bands(registry, quick_certification(), *jobs) : describe(registry));
      return;
    }
    std::map<std::string, Json> quality;
    if (*bands)
      for (const Certificate& c : certify_all_methods(registry, quick_certification(), *jobs))
        quality[c.kind][c.method] = name(c.band);
    Json all = Json::array();
    for (const auto& [kind_name, kind] : registry.kinds()) {
      all.push_back(to_json(kind));
      if (*bands) all.back()["quality"] = quality[kind_name];
    }
    fmt::print("{}", readable(all));
  });
}

}  // namespace dma
