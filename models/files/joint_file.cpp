#include "models/files/joint_file.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/learn/joint/posterior.h"
#include "engine/support/error.h"
#include "engine/support/json.h"
#include "engine/support/text.h"
#include "engine/support/usable.h"
#include "models/files/packed_matrices.h"
#include "models/table/relevance.h"

namespace dma {

namespace {

Json to_json(const LogLinearNoise& n) {
  return {{"log_variance", packed_vector(n.beta)},
          {"precision", json_number(n.precision)},
          {"lowest", json_number(n.lowest)},
          {"highest", json_number(n.highest)}};
}
LogLinearNoise noise_from(const Json& json) {
  return {packed_vector_from(json.at("log_variance")), json_number(json.at("precision")),
          json_number(json.at("lowest")), json_number(json.at("highest"))};
}

Json to_json(const SharedState& s) {
  Json json = {{"epoch", s.epoch},
               {"mean", packed_vector(s.mean)},
               {"scale", json_number(s.scale(0))},
               {"damping", json_number(s.damping)},
               {"noise", Json::array()}};
  for (const LogLinearNoise& n : s.noise) json["noise"].push_back(to_json(n));
  if (s.subset > 0) json["subset"] = s.subset;
  if (s.watch.best.empty() && s.watch.flat == 0) return json;
  json["watch"] = {{"first", s.watch.first}, {"flat", s.watch.flat}, {"reference", json_number(s.watch.reference)},
                   {"best_score", json_number(s.watch.best_score)}};
  if (!s.watch.best.empty()) json["watch"]["best"] = to_json(s.watch.best[0]);
  return json;
}
SharedState state_from(const Json& json) {
  SharedState s{.mean = packed_vector_from(json.at("mean")),
                .scale = Vector::Constant(1, json_number(json.at("scale"))),
                .damping = json_number(json.at("damping")),
                .noise = {},
                .epoch = whole<int>(json, "epoch")};
  for (const Json& n : json.at("noise")) s.noise.push_back(noise_from(n));
  if (json.contains("subset")) s.subset = whole<Index>(json, "subset");
  s.begin_stage();
  if (!json.contains("watch")) return s;
  const Json& watch = json.at("watch");
  s.watch = {whole<int>(watch, "first"), whole<int>(watch, "flat"), json_number(watch.at("reference")),
             json_number(watch.at("best_score"))};
  if (watch.contains("best")) s.watch.best = {state_from(watch.at("best"))};
  return s;
}

Json to_json(const StudentTails& t) { return {{"degrees", json_number(t.degrees)}, {"scale", json_number(t.scale)}}; }
StudentTails tails_from(const Json& json) {
  return {json_number(json.at("degrees")), json_number(json.at("scale"))};
}

Vector row_weights_from(const Json& json) {  // younger than the format, and only where rows have weights
  return json.contains("row_weights") ? packed_vector_from(json.at("row_weights")) : Vector();
}

Json to_json(const SharedPosterior& p) {
  Json json = {{"state", to_json(p.state)}, {"log_evidence", json_number(p.log_evidence)}, {"tails", Json::array()}};
  for (const StudentTails& t : p.tails) json["tails"].push_back(to_json(t));
  json["factor"] = packed_triangle(p.factor);
  json["learned_rows"] = packed_matrix(p.rows);
  if (p.weights.size() > 0) json["row_weights"] = packed_vector(p.weights);
  return json;
}
SharedPosterior posterior_from(const Json& json) {
  SharedPosterior p;
  p.state = state_from(json.at("state"));
  p.log_evidence = json_number(json.at("log_evidence"));
  for (const Json& t : json.at("tails")) p.tails.push_back(tails_from(t));
  p.factor = packed_triangle_from(json.at("factor"));
  p.rows = packed_matrix_from(json.at("learned_rows"));
  p.weights = row_weights_from(json);
  return p;
}

}  // namespace

Json to_json(const JointRegression::Memory& memory) {
  Json json = {{"network_share", json_number(memory.network_fraction)},
               {"lowest_inputs", packed_vector(memory.lowest.transpose())},
               {"highest_inputs", packed_vector(memory.highest.transpose())},
               {"members", Json::array()}};
  if (memory.smoothing >= 0) json["jitter"] = json_number(memory.smoothing);
  if (memory.relevance.size() > 0) json["relevance"] = packed_vector(memory.relevance);
  if (!memory.width_reason.empty()) json["width"] = memory.width_reason;
  if (memory.baseline) json["linear"] = to_json(*memory.baseline);
  for (const auto& member : memory.members) {
    Json one = {
        {"plain", to_json(member.plain)}, {"plain_done", member.plain_done}, {"weighted", to_json(member.weighted)}};
    if (member.plain_posterior) one["plain_posterior"] = to_json(*member.plain_posterior);
    if (member.weighted_posterior) one["weighted_posterior"] = to_json(*member.weighted_posterior);
    json["members"].push_back(std::move(one));
  }
  return json;
}

JointRegression::Memory joint_memory_from(const Json& json) {
  JointRegression::Memory memory;
  memory.network_fraction = json_number(json.at("network_share"));
  memory.lowest = packed_vector_from(json.at("lowest_inputs")).transpose();
  memory.highest = packed_vector_from(json.at("highest_inputs")).transpose();
  if (json.contains("jitter")) memory.smoothing = json_number(json.at("jitter"));  // younger than the format
  if (json.contains("relevance")) memory.relevance = packed_vector_from(json.at("relevance"));
  if (json.contains("width")) memory.width_reason = json.at("width").get<std::string>();
  if (json.contains("linear")) memory.baseline = posterior_from(json.at("linear"));
  for (const Json& one : json.at("members")) {
    JointRegression::Member member{.plain = state_from(one.at("plain")),
                                   .weighted = state_from(one.at("weighted")),
                                   .plain_done = one.at("plain_done").get<bool>(),
                                   .plain_posterior = {},
                                   .weighted_posterior = {}};
    if (one.contains("plain_posterior")) member.plain_posterior = posterior_from(one.at("plain_posterior"));
    if (one.contains("weighted_posterior")) member.weighted_posterior = posterior_from(one.at("weighted_posterior"));
    memory.members.push_back(std::move(member));
  }
  return memory;
}

Json to_json(const Neighbours::Memory& memory) {
  Json json = {{"rows", packed_matrix(memory.rows)},
               {"targets", packed_matrix(memory.targets)},
               {"outputs", Json::array()}};
  if (memory.weights.size() > 0) json["row_weights"] = packed_vector(memory.weights);
  for (const Neighbours::Output& o : memory.outputs)
    json["outputs"].push_back({{"share", json_number(o.fraction)},
                               {"trend", packed_vector(o.trend)},
                               {"trend_covariance", packed_matrix(o.trend_covariance)},
                               {"lengthscales", packed_vector(o.kernel.lengthscales)},
                               {"signal", json_number(o.kernel.signal)},
                               {"noise", json_number(o.kernel.noise)},
                               {"tails", to_json(o.tails)}});
  return json;
}

Neighbours::Memory neighbours_from(const Json& json) {
  Neighbours::Memory memory{packed_matrix_from(json.at("rows")), packed_matrix_from(json.at("targets")), {},
                            row_weights_from(json)};
  for (const Json& o : json.at("outputs")) {
    memory.outputs.push_back({packed_vector_from(o.at("trend")),
                              {packed_vector_from(o.at("lengthscales")), json_number(o.at("signal")),
                               json_number(o.at("noise"))},
                              tails_from(o.at("tails")),
                              json_number(o.at("share"))});
    if (o.contains("trend_covariance"))  // younger than the format
      memory.outputs.back().trend_covariance = packed_matrix_from(o.at("trend_covariance"));
  }
  return memory;
}

void check_neighbours(const BnnOptions& options, const Neighbours::Memory& memory) {
  const auto inputs = static_cast<Index>(options.layers.front()), outputs = static_cast<Index>(options.layers.back());
  expect(memory.rows.cols() == inputs && memory.targets.cols() == outputs && memory.rows.rows() > 0 &&
             memory.rows.rows() == memory.targets.rows() && is_moderate(memory.rows) && is_moderate(memory.targets),
         "the rows of the neighbours do not fit the layers");
  check_row_weights(memory.weights, memory.rows.rows());
  expect(memory.outputs.size() == options.layers.back(), "the neighbours do not fit the targets");
  for (const Neighbours::Output& o : memory.outputs) {
    const NeighbourKernel& k = o.kernel;
    expect(o.trend.size() == inputs + 1 && is_moderate(o.trend) && k.lengthscales.size() == inputs &&
               (o.trend_covariance.size() == 0 ||
                (o.trend_covariance.rows() == inputs + 1 && o.trend_covariance.cols() == inputs + 1)) &&
               is_moderate(o.trend_covariance) && std::ranges::all_of(k.lengthscales, is_divisor) && k.signal >= 0 &&
               is_moderate(k.signal) && is_divisor(k.noise) && o.fraction >= 0 && o.fraction <= 1,
           "a number of the neighbours is not usable");
    check_tails(o.tails);
  }
}

void check_joint_memory(const BnnOptions& options, const JointRegression::Memory& memory) {
  const bool whole = options.is_joint();  // otherwise the linear baseline of a network with messages
  const std::vector<std::size_t> layers =
      whole ? options.layers : std::vector{options.layers.front(), options.layers.back()};
  const std::size_t outputs = options.layers.back();
  const auto inputs = static_cast<Index>(options.layers.front());
  expect(memory.smoothing == -1 || (memory.smoothing >= 0 && is_moderate(memory.smoothing)),
         "the smoothing is not usable");
  const Vector& relevance = memory.relevance;
  const std::size_t seen = relevance.size() > 0 ? inputs_that_matter(relevance).size() : layers.front();
  expect(relevance.size() == 0 || (relevance.size() == inputs && (relevance.array() > 0).all() &&
                                   (relevance.array() <= 1).all() && seen > 0),
         "the relevances do not fit the inputs");
  Index scalars = 0;
  for (std::size_t l = 0; l + 1 < layers.size(); ++l)
    scalars += static_cast<Index>(layers[l + 1] * ((l == 0 ? seen : layers[l]) + (options.bias || !whole ? 1 : 0)));
  expect(is_plain_text(memory.width_reason), "the reason for the width holds control characters");
  expect(memory.network_fraction >= 0 && memory.network_fraction <= 1, "the network's fraction is not in [0, 1]");
  expect(memory.members.size() == (whole ? std::max<std::size_t>(1, options.members) : 1),
         "the number of jointly learned members is contradictory");
  expect(memory.lowest.size() == inputs && memory.highest.size() == inputs && is_moderate(memory.lowest) &&
             is_moderate(memory.highest),
         "the range of the inputs does not fit the first layer");
  for (const auto& member : memory.members) {
    check_state(member.plain, scalars, outputs, inputs);
    check_state(member.weighted, scalars, outputs, inputs);
    if (member.plain_posterior) {
      check_posterior(*member.plain_posterior, scalars, outputs, inputs);
      expect(member.plain.noise.size() == outputs, "a member's noise does not fit the targets");
    }
    if (member.weighted_posterior) check_posterior(*member.weighted_posterior, scalars, outputs, inputs);
  }
  if (memory.baseline) check_posterior(*memory.baseline, static_cast<Index>(outputs) * (inputs + 1), outputs, inputs);
  expect(memory.network_fraction == 1 || memory.baseline || (!whole && memory.members[0].plain_posterior),
         "the linear model is missing");
}

}  // namespace dma
