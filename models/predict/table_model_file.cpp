// A TableModel as the bytes of a file, and back: a damaged file must not become a crash or silent nonsense.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/support/fields.h"
#include "engine/support/model_file.h"
#include "engine/support/text.h"
#include "engine/support/usable.h"
#include "models/learn/table_learner.h"
#include "models/network/message_network.h"
#include "models/predict/table_model.h"

namespace dma {

void list_fields(Fields& f, LeftOut& value) { DMA_LIST(explained, scores); }

void list_fields(Fields& f, TableReport& value) {
  std::vector<std::string> stops;
  for (const LearnReport& member : value.members) stops.emplace_back(name_of(member.stop));
  f("stopped_by", stops);
  if (f.is_reading())
    for (const std::string& stop : stops) value.members.push_back({stop_named(stop), {}, 0});
  DMA_LIST(interrupted, form, graphs, neighbours, frequencies, left_out, left_out_classes, of_frequencies, copies, far);
  f.unless_empty("effects", value.effects);
}

void list_fields(Fields& f, TrainingRecord& value) {
  DMA_LIST(rows, held_out_rows, weight, options, report);
  f("rows_of_classes", value.counts);
  DMA_LIST(held_out, held_out_classes, line);
}

namespace {

constexpr std::string_view kNetwork = "network", kCheckpoint = "checkpoint", kClassifier = "classifier",
                           kGraph = "graph";

void check_levels(const std::vector<std::size_t>& levels, std::size_t features) {
  constexpr std::size_t kMost = 100'000;
  expect(levels.empty() || (levels.size() == features && std::ranges::max(levels) <= kMost),
         "the values of the columns do not fit the columns");
}

void check_options(const BnnOptions& o, std::size_t features, std::size_t targets) {
  check(o);
  expect(FeatureMap(o.features).outputs(features) == o.layers.front(),
         "the names of the features do not fit the first layer");
  expect(targets == o.layers.back(), "the names of the targets do not fit the last layer");
  const std::size_t hidden = o.layers.size() - 2;
  expect(hidden == 0 || o.slopes.values.size() == 1 || o.slopes.values.size() == hidden,
         "the slopes do not fit the layers");
  expect(o.noise.values.size() <= 1 || o.noise.values.size() == targets, "the noise does not fit the targets");
  check_levels(o.levels, features);
  expect(std::isfinite(o.prior_mean_scale) && std::isfinite(o.prior_variance_scale),
         "a scale of the priors is not usable");
}

}  // namespace

void TableModel::check_names() const {
  for (const auto* names : {&features_, &targets_})
    for (const std::string& name : *names) expect(is_plain_text(name), "the name of a column holds control characters");
  coding_.check(features_);
  if (!coding_.empty() && own_graph() == nullptr)
    expect(coding_.levels(features_) ==
               (network() != nullptr ? network()->options().levels : classifier()->options().levels),
           "the values of a column are not those that were learned");
  for (const std::string& name : classes()) expect(is_plain_text(name), "the name of a class holds control characters");
  expect(std::set(classes().begin(), classes().end()).size() == classes().size(), "two classes have one name");
}

void TableModel::check_training() const {
  const TrainingRecord& t = training_;
  const LearnOptions& o = t.options;
  const TableReport& r = t.report;
  const auto is_fraction = [](double x) { return x >= 0 && x <= 1; };
  expect(o.workers >= 1 && (!is_checkpoint() || o.workers <= t.rows), "the number of workers is not usable");
  expect(o.step > 0 && o.step <= 1 && o.tolerance >= 0 && o.least_gain >= 0 && o.epochs >= 0,
         "the options of the fit are not usable");
  expect(t.weight >= 0 && std::isfinite(t.weight), "the weight of the rows is not usable");
  expect(is_plain_text(r.form) && is_plain_text(t.line), "a sentence about the fit holds control characters");
  expect(is_fraction(r.graphs) && is_fraction(r.frequencies) && std::ranges::all_of(r.neighbours, is_fraction),
         "a fraction is not in [0, 1]");
  expect(std::ranges::is_sorted(r.far) &&
             (r.far.empty() || (r.far.front() >= 0 && static_cast<std::size_t>(r.far.back()) < t.rows + r.far.size())),
         "the far rows are not rows of the table");
  expect(r.left_out.empty() || r.left_out.size() == targets_.size(), "the left-out scores do not fit the targets");
  expect(t.held_out.empty() || t.held_out.size() == targets_.size(), "the scores do not fit the targets");
  expect(t.counts.empty() || t.counts.size() == classes().size(), "the rows of the classes are not usable");
  for (const Scores& scores : t.held_out) dma::check(scores);
  for (const LeftOut& one : r.left_out) {
    dma::check(one.scores);
    expect(one.explained <= 1 && std::isfinite(one.explained), "a score is not usable");
  }
  dma::check(r.of_frequencies);
  for (const auto& scores : {r.left_out_classes, t.held_out_classes})
    if (scores) dma::check(*scores);
}

std::string TableModel::text(const std::string& fingerprint) const {
  Json json;
  json["data_fingerprint"] = fingerprint;
  json["features"] = features_;
  json["targets"] = targets_;
  json["classes"] = classes();
  json["columns"] = written(coding_.rules);
  json["training"] = written(training_);
  std::string_view kind = kNetwork;
  if (const Bnn* net = network()) {
    json["options"] = written(net->options());
  } else if (const Classifier* classes_net = classifier()) {
    json["options"] = written(classes_net->options());
    kind = kClassifier;
  } else {
    json["options"] = written(own_graph()->options());
    json["graph"] = graph_text(own_graph()->file());
    json["graph_targets"] = own_graph()->target_names();
    kind = kGraph;
  }
  json["learned"] = Json::object();
  Fields learned = Fields::to(json["learned"]);
  const_cast<TableModel*>(this)->method().list(learned, !fingerprint.empty());  // a writing list changes nothing
  return model_file(fingerprint.empty() ? kind : kCheckpoint, json);
}

TableModel TableModel::from_text(std::string_view text, std::string_view source, const Registry& registry) {
  std::optional<TableModel> model;
  read_model(text, source, {kNetwork, kCheckpoint, kClassifier, kGraph}, [&](const Json& json) {
    const std::string_view kind = model_kind(text);
    const auto features = json.at("features").get<Names>(), targets = json.at("targets").get<Names>(),
               classes = json.at("classes").get<Names>();
    expect(features.size() <= 100'000 && !targets.empty(), "the number of columns is not usable");
    if (kind == kGraph) {
      GraphModel graph(parse_graph(json.at("graph").get<std::string>()), registry,
                       json.at("graph_targets").get<Names>(), read_as<GraphModelOptions>(json.at("options")));
      if (graph.inputs() != features || graph.targets() != targets) fail("its columns are not those of its graph");
      expect(graph.has_classes() == !classes.empty(), "its classes are not those of its graph");
      if (graph.has_classes()) graph.set_classes(classes);
      model.emplace(graph_of(std::move(graph)));
    } else if (kind == kClassifier) {
      const auto options = read_as<ClassifierOptions>(json.at("options"));
      dma::check(options);
      check_levels(options.levels, features.size());
      expect(classes.size() >= 2 && classes.size() <= 100'000 && targets.size() == 1 && !features.empty(),
             "there are fewer than two classes, or too many");
      model.emplace(TableModel::classifier(options, features, targets[0], classes));
    } else {
      const auto options = read_as<BnnOptions>(json.at("options"));
      check_options(options, features.size(), targets.size());
      expect(classes.empty(), "a network for numbers has classes");
      model.emplace(TableModel::network(options, features, targets));
    }
    read_into(json.at("columns"), model->coding_.rules);
    read_into(json.at("training"), model->training_);
    model->fingerprint_ = json.at("data_fingerprint").get<std::string>();
    expect(model->is_checkpoint() == (kind == kCheckpoint), "the fingerprint of the data does not fit its kind");
    model->check_names();
    model->check_training();
    const TrainingRecord& training = model->training_;
    if (Bnn* net = model->network(); net != nullptr && net->by_messages() != nullptr && model->is_checkpoint()) {
      expect(training.rows >= 1 && training.options.batches >= 1, "the number of rows or batches is not usable");
      const std::size_t batches =
          training.options.batch_size == 0 ? training.options.batches : count_batches(training.options, training.rows);
      expect(batches >= 1 && batches <= training.rows, "the number of rows or batches is not usable");
      net->by_messages()->go_on_with(training.options, batches);
    }
    const Fields learned = Fields::from(json.at("learned"));
    Fields reading = learned;
    model->method().list(reading, model->is_checkpoint());
    model->method().check();
    if (Bnn* net = model->network()) net->take_choices();
    expect(model->is_checkpoint() || model->jointly() == nullptr || model->jointly()->is_fitted(),
           "nothing was learned");
    if (model->is_checkpoint() || (kind == kGraph && !model->standardises())) return;
    const Eigen::MatrixXd usual = model->input_units().usual();
    const Prediction p = model->method().predict(usual);
    constexpr double kQuantiles = 100;  // standard deviations in which they are looked for
    expect((p.mean.array().abs() + kQuantiles * p.sd.array()).allFinite() &&
               (model->has_classes() || (p.sd.array() > 0).all()),
           "it predicts no number where its inputs have their means");
  });
  return std::move(*model);
}

}  // namespace dma
