#include "tools/dma/fit/classifier_summary.h"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>

#include "engine/support/error.h"
#include "engine/support/text.h"
#include "models/files/coding_file.h"
#include "tools/dma/fit/model_summary.h"
#include "tools/dma/io/csv_text.h"

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
                     logits_for(static_cast<Index>(saved.memory.classes.size())));
}

std::string part_name(const Classifier::Part& part) { return part.hidden.empty() ? "linear model" : "network"; }

struct LayerOfPart {
  std::size_t part, layer;
  Index weights;
  double mean, sd, prior_sd, clear;  // root mean squares; fraction of weights more than two deviations from 0
};

void for_each_layer(const SavedClassifier& saved,
                    const std::function<void(const Classifier::Part&, const LayerOfPart&)>& visit) {
  const Classifier classifier = make_classifier(saved);
  for (std::size_t k = 0; k < saved.memory.parts.size(); ++k) {
    const Classifier::Part& part = saved.memory.parts[k];
    const Classifier::Weights w = classifier.weights(part);
    for (std::size_t l = 0; l + 1 < w.first.size(); ++l) {
      const Index begin = w.first[l], count = w.first[l + 1] - begin;
      const auto mean = w.mean.segment(begin, count).array(), variance = w.variance.segment(begin, count).array();
      visit(part, {k, l, count, std::sqrt(mean.square().mean()), std::sqrt(variance.mean()),
                   std::sqrt(w.prior_variance.segment(begin, count).mean()),
                   (mean.abs() > 2 * variance.sqrt()).cast<double>().mean()});
    }
  }
}

}  // namespace

std::string scores_text(const ClassScores& s) {
  return fmt::format("accuracy {:.2f} %, log-loss {:.4f}, calibration error {:.2f} %", 100 * s.accuracy, s.log_loss,
                     100 * s.calibration_error);
}

std::string summary_text(const SavedClassifier& saved) {
  const ClassifierTraining& t = saved.training;
  std::string text = fmt::format("reason    {}\n", t.report.reason);
  for (const Classifier::Part& part : saved.memory.parts)
    text += fmt::format("{:<10}{} with biases, {} weights; {:.3g} % of the mixture\n",
                        part.hidden.empty() ? "linear" : "network", layers_text(saved, part), part.mean.size(),
                        100 * part.fraction);
  if (saved.memory.neighbours)
    text += fmt::format("nearest   the classes of the nearest rows; {:.3g} % of the mixture\n",
                        100 * saved.memory.neighbours->memory().fraction);
  text += fmt::format("inputs    {}{}\n", joined(saved.features), saved.options.standardise ? " (standardised)" : "");
  if (const auto logged = logged_inputs(saved.memory.inputs, saved.features); !logged.empty())
    text += fmt::format("scale     logarithmic for {}\n", joined(logged));
  std::vector<std::string> classes;
  for (std::size_t k = 0; k < t.counts.size(); ++k)
    classes.push_back(
        fmt::format("{} ({} row{})", saved.memory.classes[k], t.counts[k], t.counts[k] == 1 ? "" : "s"));
  text += fmt::format("target    {}: {}\n", saved.target, joined(classes));
  text += fmt::format("training  {} rows, {} epochs{}, seed {}\n", t.rows, joined(t.report.epochs, "/"),
                      t.report.interrupted ? ", interrupted" : "", saved.options.seed);
  text += fmt::format("left out  each row predicted by the others: {}\n", scores_text(t.report.left_out));
  if (t.held_out)
    text += fmt::format("held out  {} row{}: {}\n", t.held_out_rows, t.held_out_rows == 1 ? "" : "s",
                        scores_text(*t.held_out));
  return text;
}

std::string honest_sentence(const SavedClassifier& saved) {
  const ClassifierReport& r = saved.training.report;
  if (!has_structure(saved))
    return fmt::format(
        "{}: no structure found: predicts the class frequencies ({:.0f} % are of the most frequent class)",
        saved.target, 100 * r.frequencies.accuracy);
  const ClassScores& judge = saved.training.held_out ? *saved.training.held_out : r.left_out;
  return fmt::format(
      "{}: classifies {:.{}f} % of {}, where {:.0f} % are of the most frequent class; probabilities are off "
      "by {:.1f} % on average",
      saved.target, 100 * judge.accuracy, judge.accuracy > 0.99 ? 1 : 0,
      saved.training.held_out ? fmt::format("the {} rows kept aside", saved.training.held_out_rows) : "unseen rows",
      100 * r.frequencies.accuracy, 100 * judge.calibration_error);
}

Json summary_json(const SavedClassifier& saved) {
  const ClassifierTraining& t = saved.training;
  Json json = {{"features", saved.features},
               {"target", saved.target},
               {"classes", saved.memory.classes},
               {"options", to_json(saved.options)}};
  if (!saved.coding.empty()) json["columns"] = to_json(saved.coding);
  if (const auto logged = logged_inputs(saved.memory.inputs, saved.features); !logged.empty())
    json["log_inputs"] = logged;
  json["reason"] = t.report.reason;
  json["shares"] = {{"frequencies", json_number(t.report.frequencies_fraction)},
                    {"linear", json_number(t.report.linear_fraction)},
                    {"network", json_number(t.report.network_fraction)},
                    {"neighbours", json_number(t.report.neighbours_fraction)}};
  for (const Classifier::Part& part : saved.memory.parts)
    json["parts"].push_back({{"model", part_name(part)},
                             {"hidden", part.hidden},
                             {"weights", part.mean.size()},
                             {"share", json_number(part.fraction)},
                             {"prior_scale", json_number(part.scale)},
                             {"stretch", json_number(part.stretch)}});
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
  json["summary"] = honest_sentence(saved);
  return json;
}

std::string weights_text(const SavedClassifier& saved) {
  std::string text = fmt::format("{:<28}{:>8}{:>12}{:>12}{:>12}{:>12}\n", "layer", "weights", "rms mean", "rms sd",
                                 "prior sd", "clear sign");
  for_each_layer(saved, [&](const Classifier::Part& part, const LayerOfPart& l) {
    text += fmt::format("{:<28}{:>8}{:>12.4g}{:>12.4g}{:>12.4g}{:>10.1f} %\n",
                        fmt::format("{} ({}), {}", part_name(part), layers_text(saved, part), l.layer + 1), l.weights,
                        l.mean, l.sd, l.prior_sd, 100 * l.clear);
  });
  return text;
}

Json weights_json(const SavedClassifier& saved) {
  Json all = Json::array();
  for_each_layer(saved, [&](const Classifier::Part& part, const LayerOfPart& l) {
    all.push_back({{"part", l.part + 1},
                   {"model", part_name(part)},
                   {"layer", l.layer + 1},
                   {"weights", l.weights},
                   {"rms_mean", json_number(l.mean)},
                   {"rms_sd", json_number(l.sd)},
                   {"prior_sd", json_number(l.prior_sd)},
                   {"share_with_clear_sign", json_number(l.clear)}});
  });
  return all;
}

void check_probabilities(const Eigen::MatrixXd& p) {
  constexpr double kRounding = 1e-9;
  for (Eigen::Index n = 0; n < p.rows(); ++n)
    if (!(p.row(n).minCoeff() >= 0) || !(std::abs(p.row(n).sum() - 1) < kRounding))
      fail(
          "the probabilities of row {} overflow: its inputs are too far from the training data; use other units, or "
          "leave the row out",
          n + 1);
}

std::string probabilities_csv(const Eigen::MatrixXd& p, const std::string& target,
                              const std::vector<std::string>& classes) {
  std::string out = csv_cell(target + "_class");
  for (const std::string& name : classes) out += fmt::format(",{}", csv_cell(fmt::format("{}_p_{}", target, name)));
  const auto found = most_probable(p);
  for (Eigen::Index n = 0; n < p.rows(); ++n) {
    out += fmt::format("\n{}", csv_cell(classes[static_cast<std::size_t>(found[static_cast<std::size_t>(n)])]));
    for (Eigen::Index k = 0; k < p.cols(); ++k) out += fmt::format(",{}", p(n, k));
  }
  out.push_back('\n');
  return out;
}

Json probabilities_json(const Eigen::MatrixXd& p, const std::string& target,
                        const std::vector<std::string>& classes) {
  Json json;
  json["rows"] = p.rows();
  Json& own = json["predictions"][target];
  own["class"] = Json::array();
  for (const Eigen::Index k : most_probable(p))
    own["class"].push_back(classes[static_cast<std::size_t>(k)]);
  for (std::size_t k = 0; k < classes.size(); ++k) {
    Json& values = own["probabilities"][classes[k]] = Json::array();
    for (const double value : p.col(static_cast<Eigen::Index>(k))) values.push_back(json_number(value));
  }
  return json;
}

}  // namespace dma
