#include "tools/dma/commands/fit_graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/support/error.h"
#include "engine/support/text.h"
#include "factors/standard_registry.h"
#include "models/graphs/graph_model.h"
#include "tools/dma/fit/graph_summary.h"
#include "tools/dma/fit/prediction_table.h"
#include "tools/dma/fit/training_data.h"
#include "tools/dma/help/command_line.h"
#include "tools/dma/io/csv.h"
#include "tools/dma/io/interrupt.h"
#include "tools/dma/io/progress.h"
#include "tools/dma/io/read_file.h"
#include "tools/dma/io/standard_streams.h"
#include "tools/dma/io/write_file.h"

namespace dma {

namespace {

// What is said of a network, or of its files, means nothing here.
void refuse_other_options(const FitRequest& r) {
  const FitSettings& s = r.settings;
  const std::pair<const char*, bool> given[] = {{"--hidden", !s.hidden.empty()},
                                                {"--slopes", !s.slopes.empty()},
                                                {"--noise", !s.noise.empty()},
                                                {"--bias", s.bias.has_value()},
                                                {"--standardise", s.standardise.has_value()},
                                                {"--features-map", s.feature_map != "none"},
                                                {"--prior-scale", s.prior_scale != 1},
                                                {"--method", s.method.has_value()},
                                                {"--tempering", s.tempering.has_value()},
                                                {"--batches", s.batches.has_value()},
                                                {"--batch-size", s.batch_size.has_value()},
                                                {"--parts", s.parts.has_value()},
                                                {"--tolerance", s.tolerance.has_value()},
                                                {"--patience", s.patience.has_value()},
                                                {"--preset", s.preset != "table"},
                                                {"--workers", s.workers != 1},
                                                {"--features", !r.features.empty()},
                                                {"--classes", r.numbers_are_classes},
                                                {"--columns", r.columns},
                                                {"--plot", !r.plot.empty()},
                                                {"--plot-training", !r.plot_training.empty()},
                                                {"--report", !r.report.empty()},
                                                {"--checkpoint", !r.checkpoint.empty()},
                                                {"--resume", !r.resume.empty()}};
  for (const auto& [option, is_given] : given)
    if (is_given) fail("{}: a graph of your own (--graph) knows no such option; leave it out", option);
}

JointLearnOptions options_of(const FitSettings& s) {
  JointLearnOptions options{.learn_noise = true, .tails = true, .seed = s.seed, .jobs = s.jobs};
  if (s.noise_model) {
    const std::vector<std::string> known = {"given", "constant", "inputs"};
    if (std::ranges::find(known, *s.noise_model) == known.end())
      fail("--noise-model: a graph of your own knows no '{}'{}", *s.noise_model, suggestion(*s.noise_model, known));
    options.learn_noise = options.tails = *s.noise_model != "given";
    options.noise_by_inputs = *s.noise_model == "inputs";
  }
  options.learn_scale = s.learn_prior.value_or(false);
  options.starts = s.members.value_or(1);
  if (s.epochs) options.epochs = *s.epochs;
  if (s.least_gain) options.least_gain = *s.least_gain;
  return options;
}

std::vector<std::size_t> places_of(const CsvReader& reader, const GraphModel& model) {
  std::vector<std::size_t> places;
  for (const auto* names : {&model.inputs(), &model.targets()})
    for (const std::string& name : *names) {
      if (!reader.has(name))
        fail(
            "'{}' has no column '{}', which the graph observes{}; rename the column or the variable, or give the "
            "variable "
            "a value in the graph",
            reader.path().string(), name, suggestion(name, reader.names()));
      places.push_back(reader.column(name));
    }
  return places;
}

void tell_of_other_columns(const CsvReader& reader, const std::vector<std::size_t>& used) {
  std::vector<std::string> others;
  for (std::size_t i = 0; i < reader.names().size(); ++i)
    if (std::ranges::find(used, i) == used.end()) others.push_back(fmt::format("'{}'", reader.names()[i]));
  if (!others.empty())
    say(fmt::format("the graph observes no variable of the name{} {}: ignored", others.size() > 1 ? "s" : "",
                    fmt::join(others, ", ")));
}

}  // namespace

void fit_graph(const FitRequest& request) {
  refuse_other_options(request);
  check_outputs({{"--model", request.model}}, {{"data", request.data}, {"--graph", request.graph}});
  InterruptWatch interrupt;
  std::optional<ProgressLine> progress;
  if (!request.quiet && !request.json) progress.emplace();
  JointLearnOptions options = options_of(request.settings);
  options.on_epoch = [&](const JointEpoch& e) {
    if (progress)
      progress->show(fmt::format("start {} of {}, epoch {} of at most {}, log evidence {:.4f}", e.start + 1,
                                 options.starts, e.epoch.epoch, options.epochs, e.epoch.log_evidence));
    return !interrupt.requested();
  };
  CsvReader reader(request.data);
  const std::string name = request.graph.string();
  const std::string graph = read_file(request.graph, "a graph file");
  std::optional<GraphModel> model;
  try {
    GraphFile file = parse_graph(graph);
    const GraphFile whole = file;
    std::erase_if(file.observations, [&](const GraphFile::Observation& given) {  // a column knows better
      return reader.has(file.graph[given.variable].name);
    });
    try {
      model.emplace(std::move(file), standard_registry(), request.targets, options);
    } catch (const Error& e) {
      fail("{}", located(whole, e.what()));
    }
  } catch (const Error& e) {
    fail("'{}': {}", name, e.what());
  }
  const std::vector<std::size_t> places = places_of(reader, *model);
  const Eigen::MatrixXd all = reader.read(places);
  const Eigen::Index held_out = count_held_out(request.holdout, all.rows());
  const std::vector<Eigen::Index> order = split_rows(all.rows(), held_out, request.settings.seed);
  const auto inputs = static_cast<Eigen::Index>(model->inputs().size());
  const Eigen::MatrixXd learned = all(std::vector<Eigen::Index>(order.begin(), order.end() - held_out), Eigen::all),
                        kept = all(std::vector<Eigen::Index>(order.end() - held_out, order.end()), Eigen::all);
  JointLearnReport report;
  try {
    report = model->fit(learned.leftCols(inputs), learned.rightCols(all.cols() - inputs));
  } catch (const Error& e) {
    fail("'{}': {}", name, located(model->file(), e.what()));
  }
  progress.reset();
  if (!report.interrupted && inputs > 0) check_prediction(model->predict(learned.leftCols(inputs)), model->targets());
  if (held_out > 0 && inputs > 0) {
    model->training.held_out_rows = static_cast<std::size_t>(held_out);
    model->training.held_out = scores_of(model->predict(kept.leftCols(inputs)), kept.rightCols(all.cols() - inputs));
  }
  if (!request.quiet) tell_of_other_columns(reader, places);
  if (!request.model.empty()) write_file(request.model, graph_model_text(*model));
  if (request.json) {
    Json json = summary_json(*model);
    json["files"] = request.model.empty() ? Json::array() : Json::array({request.model.string()});
    fmt::print("{}", readable(json));
  } else if (!request.quiet) {
    fmt::print("{}", summary_text(*model));
    if (!request.model.empty()) fmt::print("wrote     {}\n", printable(request.model.string()));
  }
  if (report.interrupted) {
    say(request.model.empty() ? "interrupted" : "interrupted; the model is what was learned until then");
    throw Exit{kExitBySignal + interrupt.signal()};
  }
}

}  // namespace dma
