#include "tools/dma/fit/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/support/fields.h"
#include "engine/support/text.h"
#include "models/learn/table_learner.h"
#include "models/network/message_network.h"
#include "models/table/noise.h"
#include "models/table/relevance.h"

namespace dma {

namespace {

constexpr std::size_t kMostShown = 40;  // learned scalars of a graph
constexpr std::size_t kAbout = 10;      // columns at the beginning of a line that say what it is about

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

std::vector<std::string> ends_of(const TableModel& model) {
  std::vector<std::string> ends;
  for (const LearnReport& member : model.training().report.members)
    if (ends.empty() || ends.back() != how_stopped(member.stop)) ends.emplace_back(how_stopped(member.stop));
  return ends;
}

std::vector<std::size_t> epochs_of(const TableModel& model) {
  std::vector<std::size_t> epochs;
  for (const auto& curve : model.curves()) epochs.push_back(curve.size());
  return epochs;
}

// After the last epoch, in the units of the data; mean over members.
double train_log_likelihood(const TableModel& model) {
  const auto curves = model.curves();
  double sum = 0;
  for (const auto& curve : curves) sum += curve.empty() ? 0 : curve.back();
  return sum / static_cast<double>(std::max<std::size_t>(1, curves.size()));
}

std::uint64_t count(const TableModel& model, std::uint64_t EpochRecord::*what) {
  std::uint64_t sum = 0;
  if (const MessageNetwork* net = model.by_messages())
    for (std::size_t k = 0; k < net->members(); ++k)
      for (const EpochRecord& epoch : net->epochs(k)) sum += epoch.*what;
  return sum;
}

std::size_t weight_count(const TableModel& model) {
  std::size_t weights = 0;
  for (const LearnedVariable& own : model.method().variables())
    if (own.member == 0) weights += own.beliefs.size();
  return weights;
}

// The columns on a logarithmic scale.
std::vector<std::string> logged(const std::vector<std::string>& columns, const Standardiser& units) {
  std::vector<std::string> names;
  for (std::size_t j = 0; j < columns.size(); ++j)
    if (units.is_log(static_cast<Eigen::Index>(j))) names.push_back(columns[j]);
  return names;
}

std::vector<std::string> logged_targets(const TableModel& model) {
  const TableLearner* const table = model.jointly();
  return table != nullptr && !model.has_classes() ? logged(model.targets(), table->target_units())
                                                  : std::vector<std::string>();
}

Vector relevance_of(const TableModel& model) {
  const TableLearner* const table = model.jointly();
  return table != nullptr ? table->relevance() : Vector();
}

std::vector<double> neighbour_fractions(const TableModel& model) {
  const TableLearner* const table = model.jointly();
  if (table == nullptr) return {};
  if (table->class_neighbours()) return {table->class_neighbours()->memory().fraction};
  if (!table->neighbours()) return {};
  const Vector fractions = table->neighbours()->fractions();
  return {fractions.begin(), fractions.end()};
}

// Widths of layers, inputs that a network sees first; empty: it is no network.
std::vector<std::size_t> widths_of(const TableModel& model) {
  if (model.own_graph() != nullptr) return {};
  if (const MessageNetwork* net = model.by_messages(); net != nullptr) return model.network()->options().layers;
  const TableLearner& table = *model.jointly();
  std::vector<std::size_t> layers = {table.directions().used()
                                         ? static_cast<std::size_t>(table.directions().basis.cols()) + 1
                                         : table.options().inputs};
  const GraphMixture& mixture = table.graphs().mixture();
  layers.insert(layers.end(), mixture.memory().choice.sizes.begin(), mixture.memory().choice.sizes.end());
  layers.push_back(static_cast<std::size_t>(mixture.model().rows->outputs()));
  return layers;
}

std::string percent(double fraction) { return fmt::format("{:.3g} %", 100 * fraction); }

std::string plural(std::size_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

void add_model(const TableModel& model, std::string& text) {
  if (const GraphModel* graph = model.own_graph()) {
    text += fmt::format("graph     {} factors, {} shared scalars\n", graph->file().graph.factors().size(),
                        graph->program().scalars());
    if (const auto& sizes = model.jointly()->graphs().size_reason(); !sizes.empty())
      text += fmt::format("sizes     {}\n", sizes);
    return;
  }
  const bool bias = model.network() == nullptr || model.network()->options().bias;
  const std::size_t members = model.curves().size();
  std::string method;
  if (const Bnn* net = model.network()) method = "; method " + net->options().method;
  text += fmt::format("network   {}{}, {} weights{}{}, seed {}\n", joined(widths_of(model), "-"),
                      bias ? " with biases" : "", weight_count(model),
                      members > 1 ? fmt::format(" in each of {} members", members) : "", method, model.seed());
}

void add_inputs(const TableModel& model, std::string& text) {
  const std::string features = model.network() != nullptr && model.network()->options().features != "none"
                                   ? fmt::format(" (feature map {})", model.network()->options().features)
                                   : "";
  text += fmt::format("inputs    {}{}{}\n", printable(joined(model.features())),
                      model.standardises() ? " (standardised)" : "", features);
  if (const auto names = logged(model.features(), model.input_units()); !names.empty())
    text += fmt::format("scale     logarithmic for {}\n", joined(names));
  std::vector<std::string> names;
  for (const Index j : inputs_that_matter(relevance_of(model)))
    names.push_back(model.features().at(static_cast<std::size_t>(j)));
  if (!names.empty() && names.size() < model.features().size())
    text += fmt::format("matters   {} of {} inputs, by evidence: {}; networks see no others\n", names.size(),
                        model.features().size(), joined(names));
}

void add_targets(const TableModel& model, std::string& text) {
  const TrainingRecord& t = model.training();
  if (model.has_classes()) {
    std::vector<std::string> classes;
    for (std::size_t k = 0; k < model.classes().size(); ++k)
      classes.push_back(k < t.counts.size() ? fmt::format("{} ({})", model.classes()[k], plural(t.counts[k], "row"))
                                            : model.classes()[k]);
    text += fmt::format("target    {}{}: {}\n", printable(model.targets()[0]),
                        model.own_graph() != nullptr ? ", softmax" : "", joined(classes));
    return;
  }
  const std::vector<double> noise = model.method().noise();
  const std::vector<std::string> by_logarithm = logged_targets(model);
  for (std::size_t j = 0; j < model.targets().size(); ++j) {
    std::string how;
    if (const GraphModel* graph = model.own_graph()) {
      how = graph->likelihood(j);
    } else if (const TableLearner* table = model.jointly(); table != nullptr && !table->counts().empty()) {
      how = fmt::format("a count: {} (learned)", table->counts()[j].text());
    } else if (std::isnan(noise[j])) {
      how = "its noise is not learned yet";
    } else {
      const BnnOptions& o = model.network()->options();
      const bool is_log = std::ranges::find(by_logarithm, model.targets()[j]) != by_logarithm.end();
      how = fmt::format("{}noise sd {:.4g}{} ({})", is_log ? "log-normal, " : "", noise[j],
                        is_log ? " of its logarithm" : "",
                        !o.learn_noise                        ? "given"
                        : o.noise_model == NoiseModel::choose ? "learned"
                                                              : fmt::format("learned, {}", name_of(o.noise_model)));
    }
    text += fmt::format("target    {}, {}\n", printable(model.targets()[j]), how);
  }
}

void add_training(const TableModel& model, std::string& text) {
  const TrainingRecord& t = model.training();
  const std::vector<std::string> ends = ends_of(model);
  const std::string stops = ends.empty() ? "" : fmt::format(", {}", joined(ends, "/"));
  if (model.own_graph() != nullptr)
    text += fmt::format("training  {} rows, {}\n", t.rows, t.line);
  else if (model.jointly() != nullptr)
    text += fmt::format("training  {} rows, {} epochs{}: log evidence {:.4f} per row\n", t.rows,
                        joined(epochs_of(model), "/"), stops, train_log_likelihood(model));
  else
    text +=
        fmt::format("training  {} rows, {} epochs{}: train log-likelihood {:.4f}, {} messages refused, {} replaced\n",
                    t.rows, joined(epochs_of(model), "/"), stops, train_log_likelihood(model),
                    count(model, &EpochRecord::faults), count(model, &EpochRecord::replaced));
  if (!t.report.far.empty())
    text += fmt::format(
        "far       {} beyond {} sd of what the others predict: not learned, and intervals are those of the others\n",
        t.report.far.size() == 1 ? "1 more row lies" : fmt::format("{} more rows lie", t.report.far.size()),
        kFarDeviations);
}

void add_mixture(const TableModel& model, std::string& text) {
  const TableReport& r = model.training().report;
  if (r.graphs < 1)
    text += fmt::format("linear    the linear model predicts left-out rows {}: it has {} of the mixture\n",
                        r.graphs < 0.5 ? "better" : "nearly as well", percent(1 - r.graphs));
  if (r.frequencies > 1e-3)
    text += fmt::format("constant  the frequencies of the classes have {} of the mixture\n", percent(r.frequencies));
  const std::vector<double> nearest = neighbour_fractions(model);
  for (std::size_t j = 0; j < nearest.size(); ++j) {
    const double share = std::round(100 * nearest[j]);
    text +=
        fmt::format("nearest   {}neighbours {} %, the models above {} %: {}\n",
                    nearest.size() > 1 ? model.targets()[j] + ": " : "", share, 100 - share,
                    model.has_classes() ? "the classes of the nearest rows" : "a Gaussian process on the nearest rows");
  }
}

void add_scores(const TableModel& model, std::string& text) {
  const TrainingRecord& t = model.training();
  const auto line = [&](const char* what, std::size_t j, const char* how, const std::string& scores) {
    text += fmt::format("{}  {}{}: {}\n", what, printable(model.targets()[j]), how, scores);
  };
  const std::string held_out = fmt::format(", {}", plural(t.held_out_rows, "row"));
  for (std::size_t j = 0; j < t.report.left_out.size(); ++j)
    line("left out", j, ", each row predicted by the others", scores_text(t.report.left_out[j].scores));
  if (t.report.left_out_classes)
    line("left out", 0, ", each row predicted by the others", scores_text(*t.report.left_out_classes));
  for (std::size_t j = 0; j < t.held_out.size(); ++j) line("held out", j, held_out.c_str(), scores_text(t.held_out[j]));
  if (t.held_out_classes) line("held out", 0, held_out.c_str(), scores_text(*t.held_out_classes));
}

void add_beliefs(const TableModel& model, std::string& text) {
  if (model.own_graph() == nullptr) return;
  const std::vector<GraphModel::Learned> beliefs = model.own_graph()->beliefs();
  for (std::size_t i = 0; i < beliefs.size() && i < kMostShown; ++i)
    text += fmt::format("learned   {} = {:.4g} +- {:.2g}\n", printable(beliefs[i].name), beliefs[i].belief.mean(),
                        beliefs[i].belief.sd());
  if (beliefs.size() > kMostShown)
    text += fmt::format("learned   ... and {} more (--json has all)\n", beliefs.size() - kMostShown);
}

Json training_json(const TableModel& model) {
  const TrainingRecord& t = model.training();
  Json json = {{"rows", t.rows},
               {"options", written(t.options)},
               {"epochs", epochs_of(model)},
               {"stopped_by", Json::array()},
               {"ends", ends_of(model)},
               {"interrupted", t.report.interrupted},
               {"log_likelihood", json_number(train_log_likelihood(model))},
               {"refused_messages", count(model, &EpochRecord::faults)},
               {"replaced_messages", count(model, &EpochRecord::replaced)},
               {"far_rows", t.report.far.size()}};
  for (const LearnReport& member : t.report.members) json["stopped_by"].push_back(name_of(member.stop));
  if (!t.line.empty()) json["line"] = t.line;
  if (!t.report.far.empty()) json["far"] = t.report.far;
  if (!t.report.form.empty()) json["form"] = t.report.form;
  if (!t.counts.empty()) json["rows_of_classes"] = t.counts;
  return json;
}

void add_noise_function(const TableModel& model, Json& json) {
  const TableLearner* const table = model.jointly();
  if (table == nullptr || model.has_classes() || !table->is_fitted() || !table->counts().empty()) return;
  const SharedPosterior& posterior = table->graphs().mixture().memory().members[0].last();
  for (std::size_t j = 0; j < model.targets().size(); ++j) {
    const LogLinearNoise& noise = posterior.state.noise[j];
    Json slopes = Json::array();
    for (Index i = 1; i < noise.beta.size(); ++i) slopes.push_back(json_number(noise.beta(i)));
    json["noise_function"][model.targets()[j]] = {{"log_variance", json_number(noise.beta(0))},
                                                  {"slopes", slopes},
                                                  {"degrees_of_freedom", json_number(posterior.tails[j].degrees)},
                                                  {"tail_scale", json_number(posterior.tails[j].scale)}};
  }
}

void add_scores(const TableModel& model, Json& json) {
  const TrainingRecord& t = model.training();
  for (std::size_t j = 0; j < t.report.left_out.size(); ++j) {
    Json& one = json["left_out"][model.targets()[j]] = written(t.report.left_out[j].scores);
    one["explained"] = json_number(t.report.left_out[j].explained);
  }
  if (t.report.left_out_classes) {
    json["left_out"][model.targets()[0]] = written(*t.report.left_out_classes);
    json["frequencies"] = written(t.report.of_frequencies);
  }
  if (t.held_out_rows > 0) json["held_out"]["rows"] = t.held_out_rows;
  for (std::size_t j = 0; j < t.held_out.size(); ++j) json["held_out"][model.targets()[j]] = written(t.held_out[j]);
  if (t.held_out_classes) json["held_out"][model.targets()[0]] = written(*t.held_out_classes);
}

// Pairs of what a line is about and what it says.
Json lines_of(std::string_view text) {
  Json lines = Json::array();
  for (std::size_t end; (end = text.find('\n')) != text.npos; text.remove_prefix(end + 1)) {
    const std::string_view about = text.substr(0, kAbout), says = text.substr(kAbout, end - kAbout);
    lines.push_back({about.substr(0, about.find_last_not_of(' ') + 1), says});
  }
  return lines;
}

}  // namespace

double mean_log_scale(const Standardiser& targets) { return targets.scale.array().log().mean(); }

std::string summary_text(const TableModel& model) {
  std::string text;
  add_model(model, text);
  add_inputs(model, text);
  add_targets(model, text);
  add_training(model, text);
  add_mixture(model, text);
  add_scores(model, text);
  add_beliefs(model, text);
  return text;
}

Json summary_json(const TableModel& model) {
  const TableReport& r = model.training().report;
  Json json = {{"features", model.features()}, {"targets", model.targets()}, {"lines", lines_of(summary_text(model))}};
  if (model.has_classes()) json["classes"] = model.classes();
  if (const Bnn* net = model.network()) json["options"] = written(net->options());
  if (const Classifier* net = model.classifier()) json["options"] = written(net->options());
  if (!model.coding().empty()) json["columns"] = written(model.coding().rules);
  if (const auto names = logged(model.features(), model.input_units()); !names.empty()) json["log_inputs"] = names;
  if (const auto names = logged_targets(model); !names.empty()) json["log_targets"] = names;
  if (const TableLearner* table = model.jointly())
    for (std::size_t j = 0; j < table->counts().size(); ++j)
      json["count_targets"][model.targets()[j]] = table->counts()[j].text();
  if (const auto widths = widths_of(model); !widths.empty()) json["widths"] = widths;
  json["weights"] = weight_count(model);
  const std::vector<double> noise = model.method().noise();
  for (std::size_t j = 0; j < noise.size(); ++j)
    json["noise"][model.targets()[j]] = std::isnan(noise[j]) ? Json() : json_number(noise[j]);
  json["training"] = training_json(model);
  json["shares"] = {{"network", json_number(r.graphs)}, {"linear", json_number(1 - r.graphs)}};
  if (model.has_classes()) json["shares"]["frequencies"] = json_number(r.frequencies);
  json["shares"]["neighbours"] = Json::array();
  for (const double fraction : neighbour_fractions(model))
    json["shares"]["neighbours"].push_back(json_number(fraction));
  const Vector relevance = relevance_of(model);
  for (Index j = 0; j < relevance.size(); ++j)
    json["relevance"][model.features()[static_cast<std::size_t>(j)]] = json_number(relevance(j));
  if (const TableLearner* table = model.jointly(); table != nullptr && table->is_fitted()) {
    json["smoothing"] = json_number(table->graphs().mixture().memory().choice.smoothing);
    if (table->neighbours())
      for (std::size_t j = 0; j < model.targets().size(); ++j) {
        Json lengthscales = Json::array();
        for (const double length : table->neighbours()->memory().outputs[j].kernel.lengthscales)
          lengthscales.push_back(json_number(length));
        json["lengthscales"][model.targets()[j]] = std::move(lengthscales);
      }
  }
  add_noise_function(model, json);
  add_scores(model, json);
  for (const std::string& sentence : honest_sentences(model)) json["summary"].push_back(sentence);
  if (const GraphModel* graph = model.own_graph()) {
    json["options"] = written(graph->options());
    json["likelihoods"] = Json::array();
    for (std::size_t k = 0; k < model.targets().size(); ++k) json["likelihoods"].push_back(graph->likelihood(k));
    json["learned"] = Json::object();
    for (const auto& [name, belief] : graph->beliefs())
      json["learned"][name] = {{"mean", json_number(belief.mean())}, {"sd", json_number(belief.sd())}};
    json["program"] = describe(graph->program());
  }
  return json;
}

std::string scores_text(const Scores& s) {
  return fmt::format("RMSE {:.4g}, log-likelihood {:.4f}, inside 50/90/95 % intervals: {:.1f}/{:.1f}/{:.1f} %", s.rmse,
                     s.log_likelihood, 100 * s.coverage_50, 100 * s.coverage_90, 100 * s.coverage_95);
}

std::string scores_text(const ClassScores& s) {
  return fmt::format("accuracy {:.2f} %, log-loss {:.4f}, calibration error {:.2f} %", 100 * s.accuracy, s.log_loss,
                     100 * s.calibration_error);
}

}  // namespace dma
