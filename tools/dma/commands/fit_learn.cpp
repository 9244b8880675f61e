// Learning while people wait: progress is shown, Ctrl-C and --time end it, networks leave checkpoints.
#include "tools/dma/commands/fit_learn.h"

#include <fmt/format.h>
#if __has_include(<malloc.h>)
#include <malloc.h>
#endif

#include <algorithm>

#include "engine/support/error.h"
#include "engine/support/text.h"
#include "factors/standard_registry.h"
#include "models/network/message_network.h"
#include "tools/dma/fit/learn.h"
#include "tools/dma/fit/shared_table.h"
#include "tools/dma/fit/summary.h"
#include "tools/dma/io/csv.h"
#include "tools/dma/io/interrupt.h"
#include "tools/dma/io/progress.h"
#include "tools/dma/io/read_file.h"
#include "tools/dma/io/shell_quoted.h"
#include "tools/dma/io/standard_streams.h"
#include "tools/dma/io/write_file.h"

namespace dma {

namespace {

// A checkpoint lies where it was asked for, or where the fit was resumed from, or beside the model.
std::filesystem::path checkpoint_path(const FitRequest& request) {
  if (!request.checkpoint.empty()) return request.checkpoint;
  if (!request.resume.empty()) return request.resume;
  if (request.model.empty()) return {};
  return request.model.string() + ".checkpoint";
}

// Hours of work do not end because a disk is full for a while: the fit goes on with the last checkpoint that was
// written. All processes of a team come here; the first one writes.
bool try_checkpoint(const FitRequest& request, const TableModel& model, const std::string& fingerprint) {
  try {
    const std::string text = model.text(fingerprint);
    if (request.writes && !checkpoint_path(request).empty()) write_file(checkpoint_path(request), text);
    return true;
  } catch (const Error& e) {
    say(fmt::format("no checkpoint is written: {}", e.what()));
    return false;
  }
}

TrainingData read_rows_to_fit(const FitRequest& request, const FitTeam& team) {
  std::optional<ProgressLine> line;
  if (!request.quiet && !request.json) line.emplace();
  const auto show = [&](double fraction) {
    if (line) line->show(fmt::format("reading {}: {:.0f} %", printable(request.data), 100 * fraction));
  };
  if (team.is_shared())
    if (auto shared = read_shared_table(request, team.group(), show)) return std::move(*shared);
  return read_training_data({.path = request.data,
                             .targets = request.targets,
                             .features = request.features,
                             .weights = request.weights,
                             .holdout = request.holdout,
                             .seed = request.settings.seed,
                             .numbers_are_names = request.numbers_are_classes,
                             .strict = request.strict,
                             .fraction_read = show});
}

// What was read in pieces leaves gaps among what is kept, and these are as large as the table.
void return_free_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

// Learns while people wait. Networks for numbers leave checkpoints.
Learned learn_watched(const FitRequest& request, const FitTeam& team, TableModel model, TrainingData& data,
                      TableFit of_model, FitEnd& end) {
  WatchedFit fit{std::move(of_model)};
  const bool has_checkpoints = model.network() != nullptr;
  const bool regularly = has_checkpoints && (!request.checkpoint.empty() || !request.resume.empty() ||
                                             (team.is_shared() && !checkpoint_path(request).empty()));
  InterruptWatch interrupt(request.seconds_to_learn());
  const auto warning = team.warn_when_stopped(
      interrupt, has_checkpoints ? checkpoint_path(request) : std::filesystem::path(), resume_line(request));
  using Shown = ProgressBar::Shown;
  const bool is_standardised = model.standardises() && !model.has_classes();
  const std::size_t members = model.network() != nullptr ? model.network()->options().members : 1;
  ProgressBar bar(request.progress                ? Shown::always
                  : request.quiet || request.json ? Shown::never
                                                  : Shown::on_terminals,
                  FitProgress{std::max<std::size_t>(1, members), fit.options,
                              is_standardised ? mean_log_scale(Standardiser::of(data.outputs)) : 0,
                              model.by_messages() != nullptr});
  fit.options.on_stage = bar.stage_watch();
  const std::string fingerprint = has_checkpoints ? data.fingerprint() : "";
  TableModel* learning = nullptr;
  bool interrupted_with_checkpoint = true;
  fit.on_epoch = [&](const TableEpoch& epoch) {
    bar.show(epoch);
    const bool goes_on = !interrupt.requested();
    if (regularly && goes_on && epoch.record.epoch % request.checkpoint_every == 0)
      try_checkpoint(request, *learning, fingerprint);
    return goes_on;
  };
  fit.keep_going = [&] { return !interrupt.requested(); };
  if (request.settings.max_seconds) fit.seconds_left = [&] { return interrupt.seconds_left(); };
  fit.began = [&](TableModel& own) { learning = &own; };
  fit.on_interruption = [&] {
    if (has_checkpoints && !checkpoint_path(request).empty())
      interrupted_with_checkpoint = try_checkpoint(request, *learning, fingerprint);
  };
  Learned learned = learn(std::move(model), data, std::move(fit));
  end.has_checkpoint = interrupted_with_checkpoint;
  end.signal = team.largest(interrupt.signal());
  end.resume_line = !has_checkpoints || checkpoint_path(request).empty() ? "" : resume_line(request);
  return learned;
}

std::vector<std::size_t> places_of(const CsvReader& reader, const GraphModel& model) {
  std::vector<std::size_t> places;
  for (const auto* names : {&model.inputs(), &model.targets()})
    for (const std::string& name : *names) {
      if (!reader.has(name))
        fail(
            "'{}' has no column '{}', which the graph observes{}; rename the column or the variable, or give the "
            "variable a value in the graph",
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

std::string resume_line(const FitRequest& request) {
  return request.command_line +
         (request.resume.empty() ? " --resume " + shell_quoted(checkpoint_path(request).string()) : "");
}

Learned learn_table(const FitRequest& request, const FitTeam& team, TrainingData& data, FitEnd& end) {
  data = read_rows_to_fit(request, team);
  return_free_memory();
  if (!data.has_classes()) {
    NetworkSettings settings =
        network_settings(request.settings, data.features.size(), data.targets.size(), data.rows());
    team.partition(request, settings.network, settings.fit, data);
    TableModel model = TableModel::network(settings.network, data.features, data.targets, data.coding);
    if (!request.resume.empty()) model = resume_from(request.resume, data, model, settings.fit);
    Learned learned = learn_watched(request, team, std::move(model), data, {.options = settings.fit}, end);
    if (!settings.network.choose_width) learned.reason = settings.reason;
    return learned;
  }
  team.refuse("a classifier");
  check_options(request,
                {"--target", "--features", "--classes", "--weights", "--columns", "--holdout", "--strict", "--plot",
                 "--plot-training", "--report"},
                "a classifier");
  const ClassifierOptions options = classifier_settings(request.settings);
  return learn_watched(request, team,
                       TableModel::classifier(options, data.features, data.targets[0], data.classes, data.coding), data,
                       class_fit(options), end);
}

Learned learn_graph(const FitRequest& request, const FitTeam& team, TrainingData& data, FitEnd& end) {
  check_options(request, {"--target", "--graph", "--holdout", "--strict", "--plot", "--plot-training", "--report"},
                "a graph of your own");
  const GraphModelOptions options = graph_settings(request.settings);
  CsvReader reader(request.data);
  const std::string name = request.graph.string();
  const std::string text = read_file(request.graph, "a graph file");
  std::optional<GraphModel> graph;
  try {
    GraphFile file = parse_graph(text);
    const GraphFile whole = file;
    std::erase_if(file.observations, [&](const GraphFile::Observation& given) {  // a column knows better
      return reader.has(file.graph[given.variable].name);
    });
    try {
      graph.emplace(std::move(file), standard_registry(), request.targets, options);
    } catch (const Error& e) {
      fail("{}", located(whole, e.what()));
    }
  } catch (const Error& e) {
    fail("'{}': {}", name, e.what());
  }
  data = read_observed(request, reader, *graph);
  const char* const drawn = !request.plot.empty() ? "--plot" : !request.report.empty() ? "--report" : nullptr;
  if (drawn && data.features.empty())
    fail("{}: the graph has no inputs, and all rows are alike; leave it out, `dma inspect` tells what was learned",
         drawn);
  const GraphFile file = graph->file();
  LearnOptions fit = graph->fit_options();
  if (team.is_shared()) fit.team = team.group().team(fit.workers = team.group().size());
  try {
    return learn_watched(request, team, TableModel::graph_of(std::move(*graph)), data, {.options = fit}, end);
  } catch (const Error& e) {
    fail("'{}': {}", name, located(file, e.what()));
  }
}

}  // namespace dma
