#include "models/files/bnn_file.h"

#include <algorithm>
#include <array>

#include "engine/support/fields.h"
#include "engine/support/usable.h"
#include "models/files/joint_file.h"
#include "models/files/model_file.h"

namespace dma {

namespace {

constexpr std::array<std::string_view, 6> kStops = {"tolerance",   "patience",   "limit",
                                                    "interrupted", "least_gain", "diverged"};

LearnReport::Stop stop_named(const std::string& name) {
  const auto found = std::ranges::find(kStops, name);
  if (found == kStops.end()) fail("'{}' is no reason to stop", name);
  return static_cast<LearnReport::Stop>(found - kStops.begin());
}

}  // namespace

void list_fields(Fields& f, Standardiser& s) {
  f("shift", s.shift);
  f("scale", s.scale);
  f("log_from", s.log_from);
}

void list_fields(Fields& f, Scores& s) {
  f("rmse", s.rmse);
  f("log_likelihood", s.log_likelihood);
  f("coverage_50", s.coverage_50);
  f("coverage_90", s.coverage_90);
  f("coverage_95", s.coverage_95);
}

void list_fields(Fields& f, LeftOut& l) {
  f("explained", l.explained);
  f("scores", l.scores);
}

void list_fields(Fields& f, BnnOptions& o) {
  f("layers", o.layers);
  f("slopes", o.slopes.values);
  f("noise", o.noise.values);
  f("learn_noise", o.learn_noise);
  std::string noise_model = name_of(o.noise_model);
  f("noise_model", noise_model);
  if (f.is_reading()) o.noise_model = noise_model_named(noise_model);
  f("bias", o.bias);
  f("standardise", o.standardise);
  f("activation_prior", o.activation_prior.values);
  f("prior_mean_scale", o.prior_mean_scale);
  f("prior_variance_scale", o.prior_variance_scale);
  f("learn_prior", o.learn_prior);
  f("feature_map", o.features);
  f("method", o.method);
  f("kind_methods", o.kind_methods);
  f("linear_baseline", o.linear_baseline);
  f("neighbours", o.neighbours);
  f("log_inputs", o.log_inputs);
  f("members", o.members);
  f("seed", o.seed);
  f("shuffle", o.shuffle);
  f("fuse", o.fuse);
  f("smoothing", o.smoothing);
  f("choose_width", o.choose_width);
}

void list_fields(Fields& f, LearnOptions& o) {
  f("batches", o.batches);
  f("batch_size", o.batch_size);
  f("parts", o.parts);
  f("epochs", o.epochs);
  f("tolerance", o.tolerance);
  f("patience", o.patience);
  f("least_gain", o.least_gain);
  f("evidence_weight", o.evidence_weight);
  f("first_step", o.first_step);
  f("step", o.step);
  f("workers", o.workers);
  bool while_sweeping = o.likelihood == LearnOptions::Likelihood::while_sweeping;
  f("likelihood_while_sweeping", while_sweeping);
  if (f.is_reading() && while_sweeping) o.likelihood = LearnOptions::Likelihood::while_sweeping;
}

void list_fields(Fields& f, EpochRecord& e) {
  f("epoch", e.epoch);
  f("log_likelihood", e.log_likelihood);
  f("faults", e.faults);
  f("replaced", e.replaced);
}

void list_fields(Fields& f, LayerPrior& p) {
  f.packed("mean", p.mean);
  f.packed("variance", p.variance);
}

namespace {

// One stored message under names that explain it: rho is a precision, tau the precision times the mean.
struct StoredMessage {
  bool active = false;
  std::vector<double> rho, tau;
};

void list_fields(Fields& f, StoredMessage& m) {
  f("active", m.active);
  f.packed("precision", m.rho);
  f.packed("precision_times_mean", m.tau);
}

}  // namespace

void list_fields(Fields& f, Learner::Memory& memory) {
  std::vector<StoredMessage> messages;
  for (std::size_t b = 0; b < memory.tau.size(); ++b)
    messages.push_back({bool{memory.active[b]}, memory.rho[b], memory.tau[b]});
  f("messages", messages);
  f("epochs", memory.epochs);
  if (!f.is_reading()) return;
  for (StoredMessage& message : messages) {
    memory.active.push_back(message.active);
    memory.rho.push_back(std::move(message.rho));
    memory.tau.push_back(std::move(message.tau));
  }
}

void list_fields(Fields& f, Bnn::Memory::Member& member) {
  f("noise_variance", member.noise_variance);
  f("priors", member.priors);
  f("learned", member.learner);
}

void list_fields(Fields& f, TrainingRecord& t) {
  f("rows", t.rows);
  f("held_out_rows", t.held_out_rows);
  f("options", t.options);
  f("weight", t.weight);
  std::vector<std::string> stops;
  for (const auto stop : t.stops) stops.emplace_back(name_of(stop));
  f("stopped_by", stops);
  if (f.is_reading())
    for (const std::string& stop : stops) t.stops.push_back(stop_named(stop));
  f("held_out", t.held_out);
  f("form", t.form);
  f("left_out", t.left_out);
  f("far", t.far);
}

void list_fields(Fields& f, SavedBnn& saved) {
  f("data_fingerprint", saved.data_fingerprint);
  f("features", saved.features);
  f("targets", saved.targets);
  f("columns", saved.coding.rules);
  f("options", saved.options);
  f("training", saved.training);
  f("inputs", saved.memory.inputs);
  f("outputs", saved.memory.targets);
  f("noise_variance", saved.memory.noise_variance);
  f("members", saved.memory.members);
  f("joint", saved.memory.joint);
  f("neighbours", saved.memory.neighbours);
}

std::string_view name_of(LearnReport::Stop stop) { return kStops[static_cast<std::size_t>(stop)]; }

Json to_json(const BnnOptions& options) { return written(options); }
Json to_json(const LearnOptions& options) { return written(options); }
Json to_json(const Scores& scores) { return written(scores); }

std::string bnn_to_text(const SavedBnn& saved) {
  return model_file(saved.is_checkpoint() ? model_kinds::kCheckpoint : model_kinds::kNetwork, written(saved));
}

SavedBnn bnn_from_text(std::string_view text, std::string_view source) {
  SavedBnn saved;
  read_model(text, source, {model_kinds::kNetwork, model_kinds::kCheckpoint}, [&](const Json& json) {
    read_into(json, saved);
    expect(saved.is_checkpoint() == (model_kind(text) == model_kinds::kCheckpoint),
           "the fingerprint of the data does not fit its kind");
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
