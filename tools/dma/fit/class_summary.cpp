#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "engine/support/text.h"
#include "models/classifier/classifier_size.h"
#include "tools/dma/fit/summary.h"

namespace dma {

namespace {

// Left-out rows are no more probable than by the frequencies of the classes, or by so little that it is chance.
bool has_structure(const SavedClassifier& saved) {
  constexpr double kNatsByChance = 2.3;
  const ClassifierReport& r = saved.training.report;
  return r.frequencies_fraction < 0.5 &&
         (r.frequencies.log_loss - r.left_out.log_loss) * static_cast<double>(saved.training.rows) > kNatsByChance;
}

std::string layers_text(const SavedClassifier& saved, const Classifier::Part& part) {
  const PrincipalDirections& directions = saved.memory.directions;
  return fmt::format("{}-{}{}{}",
                     directions.used() ? static_cast<std::size_t>(directions.basis.cols()) + 1 : saved.features.size(),
                     joined(part.hidden, "-"), part.hidden.empty() ? "" : "-",
                     logits_for(saved.memory.classes.size()));
}

std::string part_name(const Classifier::Part& part) { return part.hidden.empty() ? "linear model" : "network"; }

}  // namespace

std::string summary_text(const SavedClassifier& saved) {
  const ClassifierTraining& t = saved.training;
  std::string text = fmt::format("reason    {}\n", t.report.reason);
  for (const Classifier::Part& part : saved.memory.parts)
    text += fmt::format("{:<10}{} with biases, {} weights; {:.3g} % of the mixture\n",
                        part.hidden.empty() ? "linear" : "network", layers_text(saved, part), part.mean().size(),
                        100 * part.fraction);
  if (saved.memory.neighbours)
    text += fmt::format("nearest   the classes of the nearest rows; {:.3g} % of the mixture\n",
                        100 * saved.memory.neighbours->memory().fraction);
  text += fmt::format("inputs    {}{}\n", joined(saved.features), saved.options.standardise ? " (standardised)" : "");
  text += scale_text(saved.memory.inputs, saved.features);
  std::vector<std::string> classes;
  for (std::size_t k = 0; k < t.counts.size(); ++k)
    classes.push_back(fmt::format("{} ({} row{})", saved.memory.classes[k], t.counts[k], t.counts[k] == 1 ? "" : "s"));
  text += fmt::format("target    {}: {}\n", saved.target, joined(classes));
  text += fmt::format("training  {} rows, {} epochs{}, seed {}\n", t.rows, joined(t.report.epochs, "/"),
                      t.report.interrupted ? ", interrupted" : "", saved.options.seed);
  text += fmt::format("left out  each row predicted by the others: {}\n", scores_text(t.report.left_out));
  if (t.held_out)
    text += fmt::format("held out  {} row{}: {}\n", t.held_out_rows, t.held_out_rows == 1 ? "" : "s",
                        scores_text(*t.held_out));
  return text;
}

std::vector<std::string> honest_sentences(const SavedClassifier& saved) {
  const ClassifierReport& r = saved.training.report;
  if (!has_structure(saved))
    return {
        fmt::format("{}: no structure found: predicts the class frequencies ({:.0f} % are of the most frequent class)",
                    saved.target, 100 * r.frequencies.accuracy)};
  const ClassScores& judge = saved.training.held_out ? *saved.training.held_out : r.left_out;
  return {fmt::format(
      "{}: classifies {:.{}f} % of {}, where {:.0f} % are of the most frequent class; probabilities are off "
      "by {:.1f} % on average",
      saved.target, 100 * judge.accuracy, judge.accuracy > 0.99 ? 1 : 0,
      saved.training.held_out ? fmt::format("the {} rows kept aside", saved.training.held_out_rows) : "unseen rows",
      100 * r.frequencies.accuracy, 100 * judge.calibration_error)};
}

Json summary_json(const SavedClassifier& saved) {
  const ClassifierTraining& t = saved.training;
  Json json = {{"features", saved.features},
               {"target", saved.target},
               {"classes", saved.memory.classes},
               {"options", to_json(saved.options)}};
  add_columns(json, saved.coding, saved.memory.inputs, saved.features);
  json["reason"] = t.report.reason;
  json["shares"] = {{"frequencies", json_number(t.report.frequencies_fraction)},
                    {"linear", json_number(t.report.linear_fraction)},
                    {"network", json_number(t.report.network_fraction)},
                    {"neighbours", json_number(t.report.neighbours_fraction)}};
  for (const Classifier::Part& part : saved.memory.parts)
    json["parts"].push_back({{"model", part_name(part)},
                             {"hidden", part.hidden},
                             {"weights", part.mean().size()},
                             {"share", json_number(part.fraction)},
                             {"prior_scale", json_number(part.scale())},
                             {"stretch", json_number(part.stretch())}});
  json["training"] = {{"rows", t.rows},
                      {"rows_of_classes", t.counts},
                      {"epochs", t.report.epochs},
                      {"settled", t.report.settled},
                      {"interrupted", t.report.interrupted}};
  json["left_out"] = to_json(t.report.left_out);
  json["frequencies"] = to_json(t.report.frequencies);
  if (t.held_out) {
    json["held_out"] = to_json(*t.held_out);
    json["held_out"]["rows"] = t.held_out_rows;
  }
  json["summary"] = honest_sentences(saved)[0];
  return json;
}

std::vector<LayerOfWeights> layers_of(const SavedClassifier& saved) {
  const Classifier classifier = make_classifier(saved);
  std::vector<LayerOfWeights> all;
  for (std::size_t k = 0; k < saved.memory.parts.size(); ++k) {
    const Classifier::Part& part = saved.memory.parts[k];
    const Classifier::Weights w = classifier.weights(part);
    for (std::size_t l = 0; l + 1 < w.first.size(); ++l) {
      const auto layer = Eigen::seq(w.first[l], w.first[l + 1] - 1);
      all.emplace_back(fmt::format("{} ({}), {}", part_name(part), layers_text(saved, part), l + 1),
                       Json{{"part", k + 1}, {"model", part_name(part)}, {"layer", l + 1}}, w.mean(layer),
                       w.variance(layer), w.prior_variance(layer));
    }
  }
  return all;
}

}  // namespace dma
