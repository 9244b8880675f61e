#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/support/json.h"
#include "engine/support/text.h"
#include "models/graphs/graph_file.h"
#include "models/graphs/reaches.h"

namespace dma {

namespace {

Json numbers_json(std::span<const double> numbers) {
  if (numbers.size() == 1) return json_number(numbers[0]);
  Json list = Json::array();
  for (const double number : numbers) list.push_back(json_number(number));
  return list;
}

Json prior_json(const std::string& name, const HyperPrior& prior) {
  if (prior.name.empty()) fail("hyper '{}' has a user-defined prior; a graph file stores named ones only", name);
  return {{prior.name, numbers_json(prior.numbers)}};
}

Json hyper_json(const Hyper& hyper, const Graph& graph) {
  Json json{{"prior", prior_json(hyper.name, hyper.prior)}, {"of", Json::array()}};
  for (const Hyper::Use& use : hyper.uses) {
    Json entry{{"factor", graph[use.factor].name()}, {"parameter", use.parameter}};
    if (use.power != 1) entry["power"] = json_number(use.power);
    if (!use.times.empty()) entry["times"] = numbers_json(use.times);
    json["of"].push_back(std::move(entry));
  }
  return json;
}

Json covariance_json(const GraphFile::Covariance& covariance, const Graph& graph) {
  Json json{{"prior", prior_json(covariance.name, covariance.sd)}, {"covariance", Json::array()}};
  for (const FactorId row : covariance.factor.rows) json["covariance"].push_back(graph[row].name());
  if (covariance.concentration != 1) json["concentration"] = json_number(covariance.concentration);
  if (!covariance.factor.mean.empty()) json["mean"] = numbers_json(covariance.factor.mean);
  if (!covariance.factor.gains.empty()) json["gains"] = numbers_json(covariance.factor.gains);
  return json;
}

Json connection_json(const Connection& c, const Graph& graph) {
  const std::string name = graph[c.variable].name;
  if (c.reach == Reach::identical && c.port.empty()) return name;
  Json json{{"variable", name}};
  if (!c.port.empty()) json["port"] = c.port.get();
  if (c.reach != Reach::identical)
    json["reach"] = std::ranges::find(kReaches, c.reach, &std::pair<Reach, std::string_view>::first)->second;
  if (c.reach == Reach::gather) json["table"] = c.table.get();
  if (c.reach == Reach::shift) json["lag"] = c.lag();
  if (c.reach == Reach::given && c.entries() != 1) json["entries"] = c.entries();
  return json;
}

}  // namespace

std::string graph_text(const GraphFile& file) {
  if (!file.choices.empty()) return file.choices.text;
  Json json;
  if (!file.description.empty()) json["description"] = file.description;
  json["variables"] = Json::object(), json["factors"] = Json::array();
  for (const Graph::Variable& variable : file.graph.variables()) {
    Json& entry = json["variables"][variable.name.text()] = Json::object();
    if (variable.size != 1) entry["size"] = variable.size;
    if (!variable.family.empty()) entry["family"] = variable.family;
    for (const std::string& category : file.graph.categories(file.graph.find_variable(variable.name.text())))
      entry["categories"].push_back(category);
    if (variable.shared) entry["shared"] = true;
    if (variable.observed)
      entry["observed"] = variable.size == 1 ? Json() : Json(std::vector<Json>(variable.size));  // no value yet
  }
  const auto add_values = [&](const char* key, const std::vector<GraphFile::Observation>& all) {
    for (const GraphFile::Observation& one : all) {
      Json list = Json::array();
      for (const auto& value : one.values) list.push_back(value ? json_number(*value) : Json());
      json["variables"][file.graph[one.variable].name.text()][key] = list.size() == 1 ? list[0] : list;
    }
  };
  add_values("observed", file.observations);
  add_values("start", file.starts);
  for (const Graph::Factor& factor : file.graph.factors()) {
    Json entry{{"kind", factor.kind}};
    if (!factor.given_name.empty()) entry["name"] = factor.given_name;
    if (!factor.method.empty()) entry["method"] = factor.method;
    if (factor.damping != kDampedBySchedule) entry["damping"] = json_number(factor.damping);
    for (const GateCase& one : factor.when) entry["when"][file.graph[one.variable].name.text()] = one.value;
    entry["connects"] = Json::array();
    for (const Connection& connection : factor.connections)
      entry["connects"].push_back(connection_json(connection, file.graph));
    for (const auto& [name, value] : factor.parameters)
      entry["parameters"][name] = numbers_json(std::span(value.numbers.begin(), value.numbers.size()));
    json["factors"].push_back(std::move(entry));
  }
  for (const Hyper& hyper : file.hypers) json["hypers"][hyper.name] = hyper_json(hyper, file.graph);
  for (const auto& each : file.covariances) json["hypers"][each.name] = covariance_json(each, file.graph);
  if (!file.schedule.empty()) json["schedule"] = file.schedule;
  if (!file.method.empty()) json["method"] = file.method;
  return readable(json);
}

}  // namespace dma
