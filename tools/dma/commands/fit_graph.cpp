#include "tools/dma/commands/fit_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/support/error.h"
#include "engine/support/text.h"
#include "factors/standard_registry.h"
#include "models/graphs/graph_model.h"
#include "tools/dma/commands/fit_report.h"
#include "tools/dma/fit/classifier_summary.h"
#include "tools/dma/fit/graph_summary.h"
#include "tools/dma/fit/prediction_table.h"
#include "tools/dma/fit/training_data.h"
#include "tools/dma/help/command_line.h"
#include "tools/dma/io/csv.h"
#include "tools/dma/io/interrupt.h"
#include "tools/dma/io/progress.h"
#include "tools/dma/io/read_file.h"
#include "tools/dma/io/standard_streams.h"
#include "tools/dma/page/report.h"
#include "tools/dma/pictures/fit_figures.h"

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
                                                {"--neighbours", s.neighbours.has_value()},
                                                {"--log-inputs", s.log_inputs.has_value()},
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
                                                {"--weights", !r.weights.empty()},
                                                {"--columns", r.columns}};
  for (const auto& [option, is_given] : given)
    if (is_given) fail("{}: a graph of your own (--graph) knows no such option; leave it out", option);
  for (const auto& [option, file] : {std::pair("--checkpoint", &r.checkpoint), {"--resume", &r.resume}})
    if (!file->empty())
      fail("{}: a graph of your own is learned in one go, and --model keeps what an interruption leaves; leave it out",
           option);
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

std::string other_columns(const CsvReader& reader, const std::vector<std::size_t>& used) {
  std::vector<std::string> others;
  for (std::size_t i = 0; i < reader.names().size(); ++i)
    if (std::ranges::find(used, i) == used.end()) others.push_back(fmt::format("'{}'", reader.names()[i]));
  if (others.empty()) return {};
  return fmt::format("the graph observes no variable of the name{} {}: ignored", others.size() > 1 ? "s" : "",
                     joined(others));
}

// Columns that the graph observes; rows kept aside.
TrainingData read_observed(const FitRequest& request, CsvReader& reader, const GraphModel& model) {
  const std::vector<std::size_t> places = places_of(reader, model);
  TrainingData data;
  data.features = model.inputs(), data.targets = model.targets(), data.ignored = other_columns(reader, places);
  CsvReader::ClassColumn labels{.column = places.back(), .numbers_are_names = true};
  Eigen::MatrixXd all = reader.read(places, CsvReader::Missing::is_error, model.has_classes() ? &labels : nullptr);
  if (model.has_classes()) set_classes(labels.cells, request.data, data, all.col(all.cols() - 1));
  const Eigen::Index held_out = count_held_out(request.holdout, all.rows());
  const std::vector<Eigen::Index> order = split_rows(all.rows(), held_out, request.settings.seed);
  const std::vector<Eigen::Index> learned(order.begin(), order.end() - held_out),
      kept(order.end() - held_out, order.end());
  const auto inputs = static_cast<Eigen::Index>(model.inputs().size()), outputs = all.cols() - inputs;
  data.inputs = all.leftCols(inputs)(learned, Eigen::all);
  data.outputs = all.rightCols(outputs)(learned, Eigen::all);
  data.held_out_inputs = all.leftCols(inputs)(kept, Eigen::all);
  data.held_out_outputs = all.rightCols(outputs)(kept, Eigen::all);
  return data;
}

}  // namespace

void fit_graph(const FitRequest& request) {
  refuse_other_options(request);
  InterruptWatch interrupt(request.seconds_to_learn());
  std::optional<ProgressLine> progress;
  if (!request.quiet && !request.json) progress.emplace();
  JointLearnOptions options = options_of(request.settings);
  double values = 1;                           // of the targets
  std::vector<std::vector<double>> evidence(options.starts);  // of each, after every epoch
  options.on_epoch = [&](const JointEpoch& e) {
    evidence[e.start].push_back(e.epoch.log_evidence / values);
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
  const TrainingData data = read_observed(request, reader, *model);
  const bool predicts = !data.features.empty();
  if (!predicts && (!request.plot.empty() || !request.report.empty()))
    fail("--{}: the graph has no inputs, and all rows are alike; leave it out, `dma inspect` tells what was learned",
         request.plot.empty() ? "report" : "plot");
  if (model->has_classes() && (!request.plot.empty() || !request.report.empty()))
    fail("--{}: of a graph with classes there is none; leave it out", request.plot.empty() ? "report" : "plot");
  values = static_cast<double>(data.outputs.size());
  JointLearnReport report;
  try {
    report = model->has_classes() ? model->fit(data.inputs, data.labels()) : model->fit(data.inputs, data.outputs);
  } catch (const Error& e) {
    fail("'{}': {}", name, located(model->file(), e.what()));
  }
  progress.reset();
  const auto predict = [&](const Eigen::MatrixXd& inputs) { return model->predict(inputs); };
  if (!report.interrupted && model->has_classes())
    check_probabilities(model->probabilities(data.inputs));
  else if (!report.interrupted && predicts)
    check_prediction(predict(data.inputs), data.targets);
  if (data.held_out_rows() > 0 && predicts) {
    model->training.held_out_rows = data.held_out_rows();
    if (model->has_classes())
      model->training.held_out_classes = {class_scores_of(model->probabilities(data.held_out_inputs),
                                                          model->classes_of(data.held_out_labels()))};
    else
      model->training.held_out = scores_of(predict(data.held_out_inputs), data.held_out_outputs);
  }
  if (!request.quiet) tell_of_columns(request, data);
  FitOutputs outputs(request);
  outputs.write_model([&] { return graph_model_text(*model); });
  outputs.draw(request.plot, [&] { return fit_figure(predict, data); });
  outputs.draw(request.plot_training, [&] { return training_figure(evidence, "start"); });
  outputs.tell(summary_json(*model), summary_text(*model), {}, [&] {
    return report::report_of(report::fitted(*model, data, evidence), {request.command_line, request.data});
  });
  if (report.interrupted) {
    end_early(request, interrupt.signal());
  }
}

}  // namespace dma
