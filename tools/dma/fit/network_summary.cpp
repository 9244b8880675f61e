#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/support/text.h"
#include "models/table/relevance.h"
#include "tools/dma/fit/summary.h"

namespace dma {

namespace {

std::size_t weight_count(const SavedBnn& saved) {
  std::size_t count = 0;
  for (const LayerPrior& prior : saved.memory.members.at(0).priors) count += prior.mean.size();
  return count;
}

std::uint64_t count(const SavedBnn& saved, std::uint64_t EpochRecord::*what) {
  std::uint64_t sum = 0;
  for (const auto& member : saved.memory.members)
    for (const EpochRecord& epoch : member.learner.epochs) sum += epoch.*what;
  return sum;
}

// Mean over members, in the units of the data.
double train_log_likelihood(const SavedBnn& saved) {
  double sum = 0;
  for (const auto& member : saved.memory.members)
    sum += member.learner.epochs.empty() ? 0 : member.learner.epochs.back().log_likelihood;
  return sum / static_cast<double>(saved.memory.members.size()) - mean_log_scale(saved.memory.targets);
}

double noise_sd(const SavedBnn& saved, std::size_t target) {
  return std::sqrt(saved.memory.noise_variance[target]) * saved.memory.targets.scale(static_cast<Eigen::Index>(target));
}

std::vector<std::size_t> epochs_of_members(const SavedBnn& saved) {
  std::vector<std::size_t> epochs;
  for (const auto& member : saved.memory.members) epochs.push_back(member.learner.epochs.size());
  return epochs;
}

std::string_view how_stopped(LearnReport::Stop stop) {
  using enum LearnReport::Stop;
  switch (stop) {
    case tolerance:
      return "stopped by the tolerance";
    case patience:
      return "stopped by the patience";
    case limit:
      return "stopped by the limit of epochs";
    case interrupted:
      return "interrupted";
    case least_gain:
      return "stopped when little more was gained";
    case diverged:
      return "stopped because the log-likelihood was not a number";
  }
  return "";
}

std::vector<std::string> stops_of_members(const SavedBnn& saved) {
  std::vector<std::string> stops;
  for (const auto stop : saved.training.stops)
    if (stops.empty() || stops.back() != how_stopped(stop)) stops.emplace_back(how_stopped(stop));
  return stops;
}

}  // namespace

double mean_log_scale(const Standardiser& targets) { return targets.scale.array().log().mean(); }

std::vector<std::vector<double>> training_curves(const SavedBnn& saved) {
  std::vector<std::vector<double>> curves;
  for (const auto& member : saved.memory.members) {
    curves.emplace_back();
    for (const EpochRecord& e : member.learner.epochs)
      curves.back().push_back(e.log_likelihood - mean_log_scale(saved.memory.targets));
  }
  return curves;
}

std::string summary_text(const SavedBnn& saved) {
  const BnnOptions& o = saved.options;
  const TrainingRecord& t = saved.training;
  std::string text = fmt::format(
      "network   {}{}, {} weights{}; method {}{}{}, seed {}\n", joined(o.layers, "-"), o.bias ? " with biases" : "",
      weight_count(saved), o.members > 1 ? fmt::format(" in each of {} members", o.members) : "", o.method,
      t.options.evidence_weight == 1 ? "" : fmt::format(", tempered {:g} times", t.options.evidence_weight),
      o.learn_prior ? ", learned priors" : "", o.seed);
  text += fmt::format("inputs    {}{}{}\n", joined(saved.features), o.standardise ? " (standardised)" : "",
                      o.features == "none" ? "" : fmt::format(" (feature map {})", o.features));
  text += scale_text(saved.memory.inputs, saved.features);
  if (saved.memory.joint && saved.memory.joint->relevance.size() > 0) {
    std::vector<std::string> names;  // all: by different degrees
    for (const Index j : inputs_that_matter(saved.memory.joint->relevance))
      names.push_back(saved.features.at(static_cast<std::size_t>(j)));
    if (names.size() < saved.features.size())
      text += fmt::format("matters   {} of {} inputs, by evidence: {}; networks see no others\n", names.size(),
                          saved.features.size(), joined(names));
  }
  for (std::size_t j = 0; j < saved.targets.size(); ++j)
    text += fmt::format("target    {}, noise sd {:.4g} ({})\n", saved.targets[j], noise_sd(saved, j),
                        !o.learn_noise                        ? "given"
                        : o.noise_model == NoiseModel::choose ? "learned"
                                                              : fmt::format("learned, {}", name_of(o.noise_model)));
  const std::string stops = t.stops.empty() ? "" : fmt::format(", {}", joined(stops_of_members(saved), "/"));
  if (o.is_joint())
    text += fmt::format("training  {} rows, {} epochs{}: log evidence {:.4f} a row\n", t.rows,
                        joined(epochs_of_members(saved), "/"), stops, train_log_likelihood(saved));
  else
    text +=
        fmt::format("training  {} rows, {} epochs{}: train log-likelihood {:.4f}, {} messages refused, {} replaced\n",
                    t.rows, joined(epochs_of_members(saved), "/"), stops, train_log_likelihood(saved),
                    count(saved, &EpochRecord::faults), count(saved, &EpochRecord::replaced));
  if (!t.far.empty())
    text += fmt::format(
        "far       {} beyond {} sd of what the others predict: not learned, and intervals are those of the others\n",
        t.far.size() == 1 ? "1 more row lies" : fmt::format("{} more rows lie", t.far.size()), kFarDeviations);
  if (saved.memory.joint) {
    const double fraction = saved.memory.joint->network_fraction;
    if (fraction < 1)
      text += fmt::format("linear    the linear model predicts left-out rows {}: it has {:.3g} % of the mixture\n",
                          fraction < 0.5 ? "better" : "nearly as well", 100 * (1 - fraction));
  }
  if (saved.memory.neighbours)
    for (std::size_t j = 0; j < saved.targets.size(); ++j) {
      const double percent = std::round(100 * saved.memory.neighbours->outputs[j].fraction);
      text +=
          fmt::format("nearest   {}neighbours {} %, the models above {} %: a Gaussian process on the nearest rows\n",
                      saved.targets.size() > 1 ? saved.targets[j] + ": " : "", percent, 100 - percent);
    }
  for (std::size_t j = 0; j < t.left_out.size(); ++j)
    text += fmt::format("left out  {}, each row predicted by the others: {}\n", saved.targets[j],
                        scores_text(t.left_out[j].scores));
  for (std::size_t j = 0; j < t.held_out.size(); ++j)
    text += fmt::format("held out  {} row{}, {}: {}\n", t.held_out_rows, t.held_out_rows == 1 ? "" : "s",
                        saved.targets[j], scores_text(t.held_out[j]));
  return text;
}

std::vector<std::string> honest_sentences(const SavedBnn& saved) {
  std::vector<std::string> sentences;
  for (std::size_t j = 0; j < saved.training.left_out.size(); ++j) {
    const LeftOut& one = saved.training.left_out[j];
    // Rows kept aside have the last word: they were not learned by anything, not even by the noise.
    const bool kept_aside = j < saved.training.held_out.size();
    const Scores& judge = kept_aside ? saved.training.held_out[j] : one.scores;
    if (!std::isfinite(one.explained) || !std::isfinite(one.scores.rmse) || !std::isfinite(judge.rmse)) {
      sentences.push_back(fmt::format("{}: its errors are too large for a number: use other units to have it scored",
                                      saved.targets[j]));
      continue;
    }
    // So much of the variance a useless feature or two explain by chance.
    const double chance = std::min(0.5, 0.01 + 4 / static_cast<double>(std::max<std::size_t>(1, saved.training.rows)));
    const std::string coverage = fmt::format("95 % intervals cover {:.0f} %", 100 * judge.coverage_95);
    const std::string rows =
        kept_aside
            ? fmt::format("rows left out in turn; of the {} rows kept aside the RMSE is {:.4g} (left out: {:.4g}) and",
                          saved.training.held_out_rows, judge.rmse, one.scores.rmse)
            : "unseen rows;";
    if (one.explained <
        -chance) {  // what it follows among the learned rows leads astray, as lines through far outliers do
      sentences.push_back(fmt::format(
          "{}: no structure found that holds for unseen rows: their RMSE is {:.3g} times that of the mean; {}",
          saved.targets[j], std::sqrt(1 - one.explained), coverage));
      continue;
    }
    sentences.push_back(one.explained < chance
                            ? fmt::format("{}: no structure found: predicts the mean; {}", saved.targets[j], coverage)
                            : fmt::format("{}: explains {:.{}f} % of the variance of {} {}", saved.targets[j],
                                          100 * one.explained, one.explained > 0.99 ? 2 : 0, rows, coverage));
  }
  return sentences;
}

Json summary_json(const SavedBnn& saved) {
  Json json = {{"features", saved.features}, {"targets", saved.targets}, {"options", to_json(saved.options)}};
  add_columns(json, saved.coding, saved.memory.inputs, saved.features);
  json["weights"] = weight_count(saved);
  for (std::size_t j = 0; j < saved.targets.size(); ++j)
    json["noise"][saved.targets[j]] = json_number(noise_sd(saved, j));
  json["training"] = {{"rows", saved.training.rows},
                      {"options", to_json(saved.training.options)},
                      {"epochs", epochs_of_members(saved)},
                      {"stopped_by", Json::array()},
                      {"ends", stops_of_members(saved)},
                      {"log_likelihood", json_number(train_log_likelihood(saved))},
                      {"refused_messages", count(saved, &EpochRecord::faults)},
                      {"replaced_messages", count(saved, &EpochRecord::replaced)}};
  for (const auto stop : saved.training.stops) json["training"]["stopped_by"].push_back(name_of(stop));
  json["training"]["far_rows"] = saved.training.far.size();
  if (!saved.training.far.empty()) json["training"]["far"] = saved.training.far;
  if (!saved.training.form.empty()) json["training"]["regime"] = saved.training.form;
  if (saved.memory.joint) {
    json["network_share"] = json_number(saved.memory.joint->network_fraction);
    for (Eigen::Index j = 0; j < saved.memory.joint->relevance.size(); ++j)
      json["relevance"][saved.features[static_cast<std::size_t>(j)]] = json_number(saved.memory.joint->relevance(j));
    if (saved.options.is_joint())
      json["smoothing"] =
          json_number(saved.memory.joint->smoothing >= 0 ? saved.memory.joint->smoothing
                                                         : saved.options.smoothing.value_or(BnnShape{}.smoothing));
    for (const auto& posterior :
         {saved.memory.joint->members.at(0).weighted_posterior, saved.memory.joint->members.at(0).plain_posterior}) {
      if (!posterior || json.contains("noise_function") || !saved.options.is_joint()) continue;
      for (std::size_t j = 0; j < saved.targets.size(); ++j) {
        const LogLinearNoise& noise = posterior->state.noise[j];
        Json slopes = Json::array();
        for (Eigen::Index i = 1; i < noise.beta.size(); ++i) slopes.push_back(json_number(noise.beta(i)));
        json["noise_function"][saved.targets[j]] = {{"log_variance", json_number(noise.beta(0))},
                                                    {"slopes", slopes},
                                                    {"degrees_of_freedom", json_number(posterior->tails[j].degrees)},
                                                    {"tail_scale", json_number(posterior->tails[j].scale)}};
      }
    }
  }
  if (saved.memory.neighbours)
    for (std::size_t j = 0; j < saved.targets.size(); ++j) {
      const Neighbours::Output& output = saved.memory.neighbours->outputs[j];
      Json lengthscales = Json::array();
      for (const double length : output.kernel.lengthscales) lengthscales.push_back(json_number(length));
      json["neighbours"].push_back(
          {{"target", saved.targets[j]}, {"share", json_number(output.fraction)}, {"lengthscales", lengthscales}});
    }
  for (std::size_t j = 0; j < saved.training.left_out.size(); ++j) {
    json["left_out"][saved.targets[j]] = to_json(saved.training.left_out[j].scores);
    json["left_out"][saved.targets[j]]["explained"] = json_number(saved.training.left_out[j].explained);
  }
  for (const std::string& sentence : honest_sentences(saved)) json["summary"].push_back(sentence);
  if (!saved.training.held_out.empty()) json["held_out"]["rows"] = saved.training.held_out_rows;
  for (std::size_t j = 0; j < saved.training.held_out.size(); ++j)
    json["held_out"][saved.targets[j]] = to_json(saved.training.held_out[j]);
  return json;
}

std::vector<LayerOfWeights> layers_of(const Bnn& net) {
  const BnnOptions& o = net.options();
  std::vector<LayerOfWeights> all;
  for (std::size_t member = 0; member < o.members; ++member)
    for (std::size_t layer = 0; layer + 1 < o.layers.size(); ++layer) {
      const std::vector<Gaussian> weights = net.weights(layer, member);
      Eigen::ArrayXd mean(std::ssize(weights)), variance = mean;
      for (std::size_t i = 0; i < weights.size(); ++i) {
        mean(static_cast<Eigen::Index>(i)) = weights[i].mean();
        variance(static_cast<Eigen::Index>(i)) = weights[i].variance();
      }
      const std::vector<double>& prior = net.prior(layer, member).variance;
      all.emplace_back(fmt::format("{}{}: {} -> {}", o.members > 1 ? fmt::format("network {}, ", member + 1) : "",
                                   layer + 1, o.layers[layer], o.layers[layer + 1]),
                       Json{{"member", member + 1}, {"layer", layer + 1}}, mean, variance,
                       Eigen::Map<const Eigen::ArrayXd>(prior.data(), std::ssize(prior)));
    }
  return all;
}

}  // namespace dma
