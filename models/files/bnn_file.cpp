#include "models/files/bnn_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "engine/support/json.h"
#include "engine/support/text.h"
#include "engine/support/usable.h"
#include "models/files/checksummed_json.h"
#include "models/files/classifier_file.h"
#include "models/files/coding_file.h"
#include "models/files/joint_file.h"
#include "models/files/packed_matrices.h"

namespace dma {

namespace {

constexpr std::string_view kModelFormat = "dma-bnn", kCheckpointFormat = "dma-bnn-checkpoint";
constexpr std::uint64_t kVersion = 2;  // 1: has no logarithmic scales; older programs read it
constexpr std::array<std::string_view, 6> kStops = {"tolerance",   "patience",   "limit",
                                                    "interrupted", "least_gain", "diverged"};

template <class Values>
Json numbers(const Values& values) {
  Json array = Json::array();
  for (const double value : values) array.push_back(json_number(value));
  return array;
}
std::vector<double> numbers(const Json& json) {
  if (!json.is_array()) fail("{} stands where a list of numbers is expected", json_text(json).substr(0, 40));
  std::vector<double> values;
  for (const Json& element : json) values.push_back(json_number(element));
  return values;
}

// Natural parameters under names that explain them: rho is a precision, tau the precision times the mean.
Json to_json(const Learner::Memory& memory) {
  Json json = {{"messages", Json::array()}, {"epochs", Json::array()}};
  for (std::size_t b = 0; b < memory.tau.size(); ++b)
    json["messages"].push_back({{"active", bool{memory.active[b]}},
                                {"precision", numbers(memory.rho[b])},
                                {"precision_times_mean", numbers(memory.tau[b])}});
  for (const EpochRecord& e : memory.epochs)
    json["epochs"].push_back({{"epoch", e.epoch},
                              {"log_likelihood", json_number(e.log_likelihood)},
                              {"faults", e.faults},
                              {"replaced", e.replaced}});
  return json;
}
Learner::Memory learner_from(const Json& json) {
  Learner::Memory memory;
  for (const Json& message : json.at("messages")) {
    memory.active.push_back(message.at("active").get<bool>());
    memory.rho.push_back(numbers(message.at("precision")));
    memory.tau.push_back(numbers(message.at("precision_times_mean")));
  }
  for (const Json& e : json.at("epochs"))
    memory.epochs.push_back(
        {whole<int>(e, "epoch"), json_number(e.at("log_likelihood")), 0.0, whole<std::uint64_t>(e, "faults"),
         e.contains("replaced") ? whole<std::uint64_t>(e, "replaced") : 0});  // younger than the format
  return memory;
}

Json to_json(const Bnn::Memory::Member& member) {
  Json json = {{"noise_variance", numbers(member.noise_variance)}, {"priors", Json::array()}};
  for (const LayerPrior& prior : member.priors)
    json["priors"].push_back({{"mean", numbers(prior.mean)}, {"variance", numbers(prior.variance)}});
  json["learned"] = to_json(member.learner);
  return json;
}
Bnn::Memory::Member member_from(const Json& json) {
  Bnn::Memory::Member member{numbers(json.at("noise_variance")), learner_from(json.at("learned")), {}};
  for (const Json& prior : json.at("priors"))
    member.priors.push_back({numbers(prior.at("mean")), numbers(prior.at("variance"))});
  return member;
}

BnnOptions bnn_options_from(const Json& json) {
  BnnOptions o;
  for (std::size_t i = 0; i < json.at("layers").size(); ++i)
    o.layers.push_back(whole<std::size_t>(json.at("layers"), i));
  o.slopes = numbers(json.at("slopes"));
  o.noise = numbers(json.at("noise"));
  o.learn_noise = json.at("learn_noise").get<bool>();
  if (json.contains("noise_model"))
    o.noise_model = noise_model_named(json.at("noise_model").get<std::string>());  // younger than the format
  o.bias = json.at("bias").get<bool>();
  o.standardise = json.at("standardise").get<bool>();
  o.activation_prior = numbers(json.at("activation_prior"));
  o.prior_mean_scale = json_number(json.at("prior_mean_scale"));
  o.prior_variance_scale = json_number(json.at("prior_variance_scale"));
  o.learn_prior = json.value("learn_prior", false);  // younger than the format
  o.features = json.at("feature_map").get<std::string>();
  o.method = json.at("method").get<std::string>();
  o.kind_methods = json.at("kind_methods").get<std::map<std::string, std::string>>();
  // Keys keep the names they were first written with: linear_rival is the linear baseline, jitter the smoothing, regime
  // the form, shares the fractions.
  o.linear_baseline = json.value("linear_rival", false);  // younger than the format
  o.neighbours = json.value("neighbours", true);           // younger than the format
  o.log_inputs = json.value("log_inputs", false);          // younger than the format
  o.members = whole<std::size_t>(json, "members");
  o.seed = whole<std::uint64_t>(json, "seed");
  o.choose_width = json.value("choose_width", false);  // younger than the format
  if (json.contains("jitter")) o.smoothing = json_number(json.at("jitter"));  // none: chosen by evidence
  return o;
}

LearnOptions fit_options_from(const Json& json) {
  LearnOptions o;
  o.batches = whole<std::size_t>(json, "batches");
  o.batch_size = whole<std::size_t>(json, "batch_size");
  if (json.contains("parts")) o.parts = whole<std::size_t>(json, "parts");  // younger than the format
  o.epochs = whole<int>(json, "epochs");
  o.tolerance = json_number(json.at("tolerance"));
  o.patience = whole<int>(json, "patience");
  if (json.contains("workers")) o.workers = whole<std::size_t>(json, "workers");  // left out where there is one
  if (json.contains("least_gain")) o.least_gain = json_number(json.at("least_gain"));  // younger than the format
  o.evidence_weight = json_number(json.at("evidence_weight"));
  o.first_step = json_number(json.at("first_step"));
  o.step = json_number(json.at("step"));
  o.likelihood = json.at("likelihood_while_sweeping").get<bool>() ? LearnOptions::Likelihood::while_sweeping
                                                                  : LearnOptions::Likelihood::after_epoch;
  return o;
}

Json to_json(const TrainingRecord& record) {
  Json json = {{"rows", record.rows}, {"held_out_rows", record.held_out_rows}, {"options", to_json(record.options)}};
  if (record.weight > 0) json["weight"] = json_number(record.weight);
  json["stopped_by"] = Json::array();
  for (const auto stop : record.stops) json["stopped_by"].push_back(name_of(stop));
  json["held_out"] = Json::array();
  for (const Scores& scores : record.held_out) json["held_out"].push_back(to_json(scores));
  if (!record.form.empty()) json["regime"] = record.form;
  for (const LeftOut& one : record.left_out)
    json["left_out"].push_back({{"explained", json_number(one.explained)}, {"scores", to_json(one.scores)}});
  if (!record.far.empty()) json["far"] = record.far;
  return json;
}
TrainingRecord training_from(const Json& json) {
  TrainingRecord record{whole<std::size_t>(json, "rows"),
                        whole<std::size_t>(json, "held_out_rows"),
                        json.contains("weight") ? json_number(json.at("weight")) : 0,
                        fit_options_from(json.at("options")),
                        {},
                        {},
                        json.value("regime", ""),
                        {},
                        json.value("far", std::vector<Eigen::Index>())};
  for (const Json& stop : json.at("stopped_by")) {
    const auto name = std::ranges::find(kStops, stop.get<std::string>());
    if (name == kStops.end()) fail("'{}' is no reason to stop", stop.get<std::string>());
    record.stops.push_back(static_cast<LearnReport::Stop>(name - kStops.begin()));
  }
  for (const Json& s : json.at("held_out")) record.held_out.push_back(scores_from(s));
  if (json.contains("left_out"))
    for (const Json& one : json.at("left_out"))
      record.left_out.push_back({scores_from(one.at("scores")), json_number(one.at("explained"))});
  return record;
}

SavedBnn saved_from(const Json& json) {
  SavedBnn saved;
  saved.features = json.at("features").get<std::vector<std::string>>();
  saved.targets = json.at("targets").get<std::vector<std::string>>();
  saved.options = bnn_options_from(json.at("options"));
  // Older files have these two among the options of training.
  for (const Json& at : {json.at("training").at("options"), json.at("options")}) {
    saved.options.shuffle = at.value("shuffle", saved.options.shuffle);
    saved.options.fuse = at.value("fuse", saved.options.fuse);
  }
  saved.training = training_from(json.at("training"));
  saved.memory.inputs = standardiser_from(json.at("inputs"));
  saved.memory.targets = standardiser_from(json.at("outputs"));
  saved.memory.noise_variance = numbers(json.at("noise_variance"));
  for (const Json& member : json.at("members")) saved.memory.members.push_back(member_from(member));
  if (json.contains("joint")) saved.memory.joint = joint_memory_from(json.at("joint"));
  if (json.contains("neighbours")) saved.memory.neighbours = neighbours_from(json.at("neighbours"));
  saved.coding = coding_from(json);
  saved.data_fingerprint = json.value("data_fingerprint", "");
  return saved;
}

void check_format(const Json& json, std::string_view source) {
  const std::string format = json.is_object() && json.contains("format") ? json.at("format").get<std::string>() : "";
  if (format == kClassifierFormat)
    fail("'{}' is a classifier; a network for numbers, fitted on a target of numbers, is expected", source);
  if (format != kModelFormat && format != kCheckpointFormat)
    fail("'{}' is not a model of dma: its \"format\" is {}; a file written by `dma fit --model` is expected", source,
         format.empty() ? "missing" : "'" + printable(format) + "'");
  const auto version = whole<std::uint64_t>(json, "version");
  if (version > kVersion || version < 1)
    fail("'{}' has version {} of the format; this program reads versions up to {}: use a newer dma", source, version,
         kVersion);
}

}  // namespace

std::string_view name_of(LearnReport::Stop stop) { return kStops[static_cast<std::size_t>(stop)]; }

Json to_json(const BnnOptions& o) {
  Json json = {{"layers", o.layers},
          {"slopes", numbers(o.slopes.values)},
          {"noise", numbers(o.noise.values)},
          {"learn_noise", o.learn_noise},
          {"noise_model", name_of(o.noise_model)},
          {"bias", o.bias},
          {"standardise", o.standardise},
          {"activation_prior", numbers(o.activation_prior.values)},
          {"prior_mean_scale", json_number(o.prior_mean_scale)},
          {"prior_variance_scale", json_number(o.prior_variance_scale)},
          {"learn_prior", o.learn_prior},
          {"feature_map", o.features},
          {"method", o.method},
          {"kind_methods", Json(o.kind_methods)},
          {"linear_rival", o.linear_baseline},
          {"neighbours", o.neighbours},
          {"log_inputs", o.log_inputs},
          {"members", o.members},
          {"seed", o.seed},
          {"shuffle", o.shuffle},
          {"fuse", o.fuse}};
  if (o.smoothing) json["jitter"] = json_number(*o.smoothing);
  if (o.choose_width) json["choose_width"] = true;
  return json;
}

Json to_json(const LearnOptions& o) {
  Json json = {{"batches", o.batches},
          {"batch_size", o.batch_size},
          {"parts", o.parts},
          {"epochs", o.epochs},
          {"tolerance", json_number(o.tolerance)},
          {"patience", o.patience},
          {"least_gain", json_number(o.least_gain)},
          {"evidence_weight", json_number(o.evidence_weight)},
          {"first_step", json_number(o.first_step)},
          {"step", json_number(o.step)},
          {"likelihood_while_sweeping", o.likelihood == LearnOptions::Likelihood::while_sweeping}};
  if (o.workers > 1) json["workers"] = o.workers;
  return json;
}

Json to_json(const Scores& s) {
  return {{"rmse", json_number(s.rmse)},
          {"log_likelihood", json_number(s.log_likelihood)},
          {"coverage_50", json_number(s.coverage_50)},
          {"coverage_90", json_number(s.coverage_90)},
          {"coverage_95", json_number(s.coverage_95)}};
}

Scores scores_from(const Json& s) {
  return {json_number(s.at("rmse")), json_number(s.at("log_likelihood")), json_number(s.at("coverage_50")),
          json_number(s.at("coverage_90")), json_number(s.at("coverage_95"))};
}

std::string bnn_to_text(const SavedBnn& saved) {
  Json json = {{"format", saved.is_checkpoint() ? kCheckpointFormat : kModelFormat},
               {"version", saved.memory.inputs.log_from.size() > 0 ? kVersion : 1},
               {kChecksumKey, ""}};
  if (saved.is_checkpoint()) json["data_fingerprint"] = saved.data_fingerprint;
  json["features"] = saved.features;
  json["targets"] = saved.targets;
  if (!saved.coding.empty()) json["columns"] = to_json(saved.coding);
  json["options"] = to_json(saved.options);
  json["training"] = to_json(saved.training);
  json["inputs"] = to_json(saved.memory.inputs);
  json["outputs"] = to_json(saved.memory.targets);
  json["noise_variance"] = numbers(saved.memory.noise_variance);
  json["members"] = Json::array();
  for (const auto& member : saved.memory.members) json["members"].push_back(to_json(member));
  if (saved.memory.joint) json["joint"] = to_json(*saved.memory.joint);
  if (saved.memory.neighbours) json["neighbours"] = to_json(*saved.memory.neighbours);
  return checksummed(json);
}

SavedBnn bnn_from_text(std::string_view text, std::string_view source) {
  SavedBnn saved;
  read_checksummed(text, source, [&](const Json& json) {
    check_format(json, source);
    saved = saved_from(json);
    check_saved(saved);
  });
  saved.source = source;
  return saved;
}

Bnn make_bnn(SavedBnn saved) {
  std::optional<Bnn> net;
  blaming(saved.source, [&] {
    net.emplace(saved.options);
    const Eigen::MatrixXd usual = saved.memory.inputs.usual();
    if (saved.is_checkpoint()) return net->restore(std::move(saved.memory), saved.training.options);
    net->restore(std::move(saved.memory));
    if (saved.source.empty()) return;
    const Prediction p = net->predict(usual);
    constexpr double kQuantiles = 100;  // standard deviations in which they are looked for
    expect((p.mean.array().abs() + kQuantiles * p.sd.array()).allFinite() && (p.sd.array() > 0).all(),
           "it predicts no number where its inputs have their means");
  });
  return std::move(*net);
}

}  // namespace dma
