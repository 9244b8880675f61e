#include "models/files/classifier_file.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/support/dense.h"
#include "engine/support/error.h"
#include "engine/support/json.h"
#include "engine/support/text.h"
#include "engine/support/usable.h"
#include "models/classifier/classifier_size.h"
#include "models/files/checksummed_json.h"
#include "models/files/coding_file.h"
#include "models/files/packed_matrices.h"

namespace dma {

namespace {

constexpr std::uint64_t kClassifierVersion = 3;

std::vector<std::size_t> widths_from(const Json& json) {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < json.size(); ++i) widths.push_back(whole<std::size_t>(json, i));
  return widths;
}

ClassifierOptions classifier_options_from(const Json& json) {
  ClassifierOptions o;
  if (!json.at("hidden").is_null()) o.hidden = widths_from(json.at("hidden"));
  o.slope = json_number(json.at("slope"));
  o.smoothing = json_number(json.at("jitter"));
  o.prior_variance_scale = json_number(json.at("prior_variance_scale"));
  o.standardise = json.at("standardise").get<bool>();
  o.neighbours = json.value("neighbours", true);   // younger than the format
  o.log_inputs = json.value("log_inputs", false);  // younger than the format
  o.members = whole<std::size_t>(json, "members");
  o.epochs = whole<int>(json, "epochs");
  o.seed = whole<std::uint64_t>(json, "seed");
  return o;
}

Json to_json(const ClassifierTraining& t) {
  Json json = {{"rows", t.rows},
               {"held_out_rows", t.held_out_rows},
               {"rows_of_classes", t.counts},
               {"reason", t.report.reason},
               {"epochs", t.report.epochs},
               {"settled", t.report.settled},
               {"interrupted", t.report.interrupted}};
  json["shares"] = {{"frequencies", json_number(t.report.frequencies_fraction)},
                    {"linear", json_number(t.report.linear_fraction)},
                    {"network", json_number(t.report.network_fraction)},
                    {"neighbours", json_number(t.report.neighbours_fraction)}};
  json["left_out"] = dma::to_json(t.report.left_out);
  json["frequencies"] = dma::to_json(t.report.frequencies);
  if (t.held_out) json["held_out"] = dma::to_json(*t.held_out);
  return json;
}

ClassifierTraining classifier_training_from(const Json& json) {
  ClassifierTraining t{.rows = whole<std::size_t>(json, "rows"),
                       .held_out_rows = whole<std::size_t>(json, "held_out_rows"),
                       .counts = widths_from(json.at("rows_of_classes"))};
  t.report.reason = json.at("reason").get<std::string>();
  for (std::size_t i = 0; i < json.at("epochs").size(); ++i)
    t.report.epochs.push_back(whole<int>(json.at("epochs"), i));
  t.report.settled = json.at("settled").get<std::vector<bool>>();
  t.report.interrupted = json.at("interrupted").get<bool>();
  t.report.frequencies_fraction = json_number(json.at("shares").at("frequencies"));
  t.report.linear_fraction = json_number(json.at("shares").at("linear"));
  t.report.network_fraction = json_number(json.at("shares").at("network"));
  if (json.at("shares").contains("neighbours"))
    t.report.neighbours_fraction = json_number(json.at("shares").at("neighbours"));
  t.report.left_out = class_scores_from(json.at("left_out"));
  t.report.frequencies = class_scores_from(json.at("frequencies"));
  if (json.contains("held_out")) t.held_out = class_scores_from(json.at("held_out"));
  return t;
}

Json to_json(const Classifier::Part& part) {
  return {{"hidden", part.hidden},
          {"share", json_number(part.fraction)},
          {"scale", json_number(part.scale())},
          {"stretch", json_number(part.stretch())},
          {"mean", packed_vector(part.mean())},
          {"factor", packed_triangle(part.posterior.factor)}};
}

Classifier::Part part_from(const Json& json, std::size_t classes) {
  const std::size_t logits = logits_for(classes);
  Classifier::Part part{.hidden = widths_from(json.at("hidden")), .fraction = json_number(json.at("share"))};
  part.posterior.state = {.mean = packed_vector_from(json.at("mean")),
                          .scale = Vector::Constant(1, json_number(json.at("scale"))),
                          .noise = {logits, LogLinearNoise{.lowest = 0, .highest = 0}}};  // not used
  part.posterior.factor = packed_triangle_from(json.at("factor"));
  part.posterior.stretch.assign(logits, json_number(json.at("stretch")));
  part.posterior.tails.resize(logits);
  return part;
}

// Before version 3 the factor was that of the weights in the order of the network's units.
void put_in_order(const RowProgram& rows, Matrix& factor) {
  Matrix ignored;
  std::vector<Index> order;
  for (const UnitGains& unit : rows.units(rows.prior().mean, Matrix::Zero(1, rows.input_size()), ignored))
    order.insert(order.end(), unit.scalars.begin(), unit.scalars.end());
  const Matrix precision = product_by_transposed(factor, factor);
  Matrix ordered = precision;
  ordered(order, order) = precision;
  factor = Eigen::LLT<Matrix>(ordered).matrixL();
}

Json to_json(const ClassNeighbours::Memory& m) {
  Json json = {{"share", json_number(m.fraction)},  {"width", json_number(m.width)}, {"doubt", json_number(m.doubt)},
               {"scales", packed_vector(m.scales)}, {"rows", packed_matrix(m.rows)}, {"classes", m.classes}};
  if (m.weights.size() > 0) json["row_weights"] = packed_vector(m.weights);
  return json;
}

// Checked here: the search trusts its rows.
std::shared_ptr<const ClassNeighbours> class_neighbours_from(const Json& json, const Classifier::Memory& of) {
  ClassNeighbours::Memory m{.scales = packed_vector_from(json.at("scales")),
                            .rows = packed_matrix_from(json.at("rows")),
                            .classes = {},
                            .frequencies = of.frequencies,
                            .width = json_number(json.at("width")),
                            .doubt = json_number(json.at("doubt")),
                            .fraction = json_number(json.at("share"))};
  if (json.contains("row_weights")) m.weights = packed_vector_from(json.at("row_weights"));
  for (const std::size_t one : widths_from(json.at("classes"))) m.classes.push_back(static_cast<Index>(one));
  const Index columns = of.inputs.shift.size();
  const auto is_class = [&](Index c) { return c >= 0 && c < m.frequencies.size(); };
  if (!(m.scales.size() == columns && m.rows.cols() == columns && m.rows.rows() > 0 &&
        m.rows.rows() == static_cast<Index>(m.classes.size()) && m.scales.allFinite() && m.rows.allFinite() &&
        m.width > 0 && std::isfinite(m.width) && m.doubt > 0 && std::isfinite(m.doubt) && m.fraction >= 0 &&
        m.fraction <= 1 && std::ranges::all_of(m.classes, is_class) &&
        (m.weights.size() == 0 ||
         (m.weights.size() == m.rows.rows() && m.weights.allFinite() && (m.weights.array() >= 0).all()))))
    fail("a number of the neighbours is not usable");
  return std::make_shared<const ClassNeighbours>(std::move(m));
}

SavedClassifier saved_classifier_from(const Json& json, std::string_view source) {
  const std::string format = json.is_object() && json.contains("format") ? json.at("format").get<std::string>() : "";
  if (format != kClassifierFormat)
    fail("'{}' is not a classifier of dma: its \"format\" is {}", source,
         format.empty() ? "missing" : "'" + printable(format) + "'");
  const auto version = whole<std::uint64_t>(json, "version");
  if (version > kClassifierVersion || version < 1)
    fail("'{}' has version {} of the format; this program reads versions up to {}: use a newer dma", source, version,
         kClassifierVersion);
  SavedClassifier saved;
  saved.features = json.at("features").get<std::vector<std::string>>();
  saved.target = json.at("target").get<std::string>();
  saved.options = classifier_options_from(json.at("options"));
  saved.training = classifier_training_from(json.at("training"));
  saved.memory.classes = json.at("classes").get<std::vector<std::string>>();
  saved.memory.inputs = standardiser_from(json.at("inputs"));
  if (json.contains("directions")) saved.memory.directions.basis = packed_matrix_from(json.at("directions"));
  saved.memory.frequencies = packed_vector_from(json.at("frequencies"));
  saved.memory.frequencies_fraction = json_number(json.at("frequencies_share"));
  for (const Json& part : json.at("parts")) saved.memory.parts.push_back(part_from(part, saved.memory.classes.size()));
  if (json.contains("neighbours")) saved.memory.neighbours = class_neighbours_from(json.at("neighbours"), saved.memory);
  saved.coding = coding_from(json);
  return saved;
}

}  // namespace

Json to_json(const ClassScores& s) {
  return {{"accuracy", json_number(s.accuracy)},
          {"log_loss", json_number(s.log_loss)},
          {"calibration_error", json_number(s.calibration_error)}};
}

ClassScores class_scores_from(const Json& json) {
  return {json_number(json.at("accuracy")), json_number(json.at("log_loss")),
          json_number(json.at("calibration_error"))};
}

Json to_json(const ClassifierOptions& o) {
  return {{"hidden", o.hidden ? Json(*o.hidden) : Json()},
          {"slope", json_number(o.slope)},
          {"jitter", json_number(o.smoothing)},
          {"prior_variance_scale", json_number(o.prior_variance_scale)},
          {"standardise", o.standardise},
          {"neighbours", o.neighbours},
          {"log_inputs", o.log_inputs},
          {"members", o.members},
          {"epochs", o.epochs},
          {"seed", o.seed}};
}

bool is_classifier_text(std::string_view text) {
  constexpr std::size_t kBeginning = 200;  // the format is the first key
  return text.substr(0, kBeginning).find(kClassifierFormat) != text.npos;
}

std::string classifier_to_text(const SavedClassifier& saved) {
  Json json = {{"format", kClassifierFormat}, {"version", kClassifierVersion}, {kChecksumKey, ""}};
  json["features"] = saved.features;
  json["target"] = saved.target;
  if (!saved.coding.empty()) json["columns"] = to_json(saved.coding);
  json["classes"] = saved.memory.classes;
  json["options"] = to_json(saved.options);
  json["training"] = to_json(saved.training);
  json["inputs"] = to_json(saved.memory.inputs);
  if (saved.memory.directions.used()) json["directions"] = packed_matrix(saved.memory.directions.basis);
  json["frequencies"] = packed_vector(saved.memory.frequencies);
  json["frequencies_share"] = json_number(saved.memory.frequencies_fraction);
  json["parts"] = Json::array();
  for (const Classifier::Part& part : saved.memory.parts) json["parts"].push_back(to_json(part));
  if (saved.memory.neighbours) json["neighbours"] = to_json(saved.memory.neighbours->memory());
  return checksummed(json);
}

SavedClassifier classifier_from_text(std::string_view text, std::string_view source) {
  SavedClassifier saved;
  read_checksummed(text, source, [&](const Json& json) {
    saved = saved_classifier_from(json, source);
    check_saved(saved);
    if (whole<std::uint64_t>(json, "version") == kClassifierVersion) return;
    const Classifier classifier = make_classifier(saved);
    for (Classifier::Part& part : saved.memory.parts) put_in_order(classifier.rows_of(part), part.posterior.factor);
  });
  saved.source = source;
  return saved;
}

Classifier make_classifier(const SavedClassifier& saved) {
  std::optional<Classifier> classifier;
  blaming(saved.source, [&] {
    classifier.emplace(saved.options);
    classifier->restore(saved.memory);
    if (!saved.source.empty())
      expect(classifier->predict(saved.memory.inputs.usual()).allFinite(),
             "it predicts no probability where its inputs have their means");
  });
  return std::move(*classifier);
}

}  // namespace dma
