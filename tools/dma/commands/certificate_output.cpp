#include "tools/dma/commands/certificate_output.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/support/json.h"

namespace dma {

namespace {

Json to_json(const Rate& rate) {
  return {{"exponent", json_number(rate.exponent)},
          {"uncertainty", json_number(rate.uncertainty)},
          {"constant", json_number(rate.constant)}};
}

Json to_json(const EdgeCertificate& edge) {
  Json json = {{"port", edge.port},
               {"band", name(edge.band)},
               {"exact_message_is_proper", edge.proper},
               {"failures", edge.failures}};
  Json& consistency = json["consistency"] = {{"holds", edge.consistency.holds},
                                             {"distance", to_json(edge.consistency.distance)},
                                             {"delta", to_json(edge.consistency.delta)},
                                             {"points", Json::array()}};
  for (const auto& p : edge.consistency.points)
    consistency["points"].push_back(
        {{"width", p.width}, {"distance", json_number(p.distance)}, {"delta", json_number(p.delta)}});
  json["widening"] = {{"holds", edge.widening.holds},
                      {"narrower", json_number(edge.widening.narrower)},
                      {"mean_error", json_number(edge.widening.mean_error)}};
  json["properness"] = {{"messages", edge.properness.count},
                        {"faults", edge.properness.faults},
                        {"first_fault", edge.properness.first_fault}};
  json["independence"] = {{"holds", edge.independence.holds}, {"change", json_number(edge.independence.change)}};
  json["moments"] = {{"scenarios", edge.moments.count},
                     {"mean_error", json_number(edge.moments.mean_error)},
                     {"variance_error", json_number(edge.moments.variance_error)}};
  Json& master = json["master_bound"] = {{"holds", edge.master.holds},
                                         {"largest_delta", json_number(edge.master.largest_delta)},
                                         {"largest_ratio", json_number(edge.master.largest_ratio)},
                                         {"quadrature_error", json_number(edge.master.quadrature_error)},
                                         {"points", Json::array()}};
  for (const auto& p : edge.master.points)
    master["points"].push_back({{"r", json_number(p.r)},
                                {"delta", json_number(p.delta)},
                                {"marginal", json_number(p.marginal)},
                                {"bound", json_number(p.bound)}});
  json["marginal"] = {{"holds", edge.tilted.holds},
                      {"scenarios", edge.tilted.count},
                      {"widened", edge.tilted.widened},
                      {"mean_error", json_number(edge.tilted.mean_error)},
                      {"variance_error", json_number(edge.tilted.variance_error)}};
  Json& sweep = json["concentration"] = {{"holds", edge.concentration.holds},
                                         {"sampled", to_json(edge.concentration.sampled)},
                                         {"exact", to_json(edge.concentration.exact)},
                                         {"points", Json::array()}};
  for (const auto& p : edge.concentration.points)
    sweep["points"].push_back({{"r", p.r},
                               {"sampled", json_number(p.sampled)},
                               {"floor", json_number(p.floor)},
                               {"exact", json_number(p.exact)}});
  return json;
}

// Quadrature noise has no place on a logarithmic axis.
constexpr double kSmallest = 1e-12;

plot::Panel consistency_panel(const EdgeCertificate& edge) {
  using namespace plot;
  Panel panel{.title = fmt::format("to {}: consistency", edge.port),
              .x = {"width of arriving messages", Scale::log},
              .y = {"distance, KL", Scale::log, kSmallest}};
  Series distance{.title = fmt::format("distance to limit ~ width^{:.1f}", edge.consistency.distance.exponent),
                  .style = Style::line_points};
  Series delta{.title = "message KL", .style = Style::line_points, .colour = Colour::orange};
  for (const auto& p : edge.consistency.points) {
    if (p.distance > kSmallest) distance.x.push_back(p.width), distance.y.push_back(p.distance);
    if (p.delta > kSmallest) delta.x.push_back(p.width), delta.y.push_back(p.delta);
  }
  panel.series = {distance, delta};
  return panel;
}

plot::Panel master_panel(const EdgeCertificate& edge) {
  using namespace plot;
  Panel panel{.title = fmt::format("to {}: {}", edge.port, name(edge.band)),
              .x = {"bound on the marginal KL (nats)", Scale::log},
              .y = {"marginal KL (nats)", Scale::log}};
  Series points{.title = "scenarios", .style = Style::points};
  for (const auto& p : edge.master.points)
    if (std::isfinite(p.bound) && p.bound > kSmallest && p.marginal > kSmallest)
      points.x.push_back(p.bound), points.y.push_back(p.marginal);
  if (points.x.empty()) {
    panel.title += edge.proper ? ": no error above rounding" : ": no bound, improper";
    panel.x = {"bound on the marginal KL (nats)", Scale::linear, 0, 1},
    panel.y = {"marginal KL (nats)", Scale::linear, 0, 1};
  } else {
    const auto [low, high] = std::ranges::minmax(points.x);
    panel.series = {
        points,
        {.title = "bound", .style = Style::dashed, .colour = Colour::black, .x = {low, high}, .y = {low, high}}};
  }
  return panel;
}

plot::Panel concentration_panel(const EdgeCertificate& edge) {
  using namespace plot;
  Panel panel{.title = fmt::format("to {}: concentration", edge.port),
              .x = {"signal-to-noise ratio r", Scale::log},
              .y = {"marginal KL (nats)", Scale::log}};
  Series sampled{.title = "samples", .style = Style::points, .colour = Colour::orange, .width = 3};
  Series floor{.title = "sampling floor", .style = Style::dotted, .colour = Colour::grey};
  Series exact{.title = fmt::format("quadrature ~ r^{:.2f}", edge.concentration.exact.exponent)};
  for (const auto& p : edge.concentration.points) {
    sampled.x.push_back(p.r), sampled.y.push_back(p.sampled);
    floor.x.push_back(p.r), floor.y.push_back(p.floor);
    exact.x.push_back(p.r), exact.y.push_back(p.exact);
  }
  panel.series = {sampled, floor, exact};
  return panel;
}

}  // namespace

std::string to_json(const std::vector<Certificate>& certificates) {
  Json all = Json::array();
  for (const Certificate& c : certificates) {
    Json json = {{"kind", c.kind}, {"method", c.method}, {"band", name(c.band)}, {"edges", Json::array()}};
    for (const EdgeCertificate& edge : c.edges) json["edges"].push_back(to_json(edge));
    all.push_back(std::move(json));
  }
  return readable(all);
}

plot::Figure picture(const Certificate& certificate) {
  plot::Figure figure{.title = fmt::format("{} ({}): {}", certificate.kind, certificate.method, name(certificate.band)),
                      .columns = 2};
  for (const EdgeCertificate& edge : certificate.edges) {
    figure.panels.push_back(consistency_panel(edge));
    figure.panels.push_back(edge.concentration.points.empty() ? master_panel(edge) : concentration_panel(edge));
  }
  return figure;
}

}  // namespace dma
