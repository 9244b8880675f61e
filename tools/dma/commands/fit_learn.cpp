// Learning while people wait: progress is shown, Ctrl-C and --time end it, networks leave checkpoints.
#include "tools/dma/commands/fit_learn.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/support/text.h"
#include "factors/standard_registry.h"
#include "models/network/message_network.h"
#include "tools/dma/fit/learn.h"
#include "tools/dma/fit/shared_table.h"
#include "tools/dma/fit/summary.h"
#include "tools/dma/io/csv_rows.h"
#include "tools/dma/io/interrupt.h"
#include "tools/dma/io/progress.h"
#include "tools/dma/io/read_file.h"
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

void refuse_checkpoints(const FitRequest& request) {
  for (const auto& [option, file] : {std::pair{"--checkpoint", &request.checkpoint}, {"--resume", &request.resume}})
    if (!file->empty()) fail("{}: only networks for numbers leave checkpoints; leave it out", option);
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
  return read_training_data(
      {.path = request.data,
       .targets = request.targets,
       .features = request.features,
       .weights = request.weights,
       .holdout = request.holdout,
       .seed = request.settings.seed,
       .target_cells = request.numbers_are_classes ? TargetCells::names : TargetCells::as_they_look,
       .strict = request.strict,
       .fraction_read = show});
}

// Without the numbers that change meanwhile.
std::string name_of_stage(const std::string& what) {
  if (what.empty()) return "epochs";
  if (what.ends_with("rows held out")) return "widths, by rows held out";
  return what.find(" of ") != what.npos ? "some of the rows" : what;
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
                  FitProgress{std::max<std::size_t>(1, members), fit.options.epochs,
                              is_standardised ? mean_log_scale(Standardiser::of(data.outputs)) : 0,
                              model.by_messages() != nullptr});
  fit.options.on_stage = [&](const LearnStage& stage) {
    end.seconds.begin(name_of_stage(stage.what));
    bar.show(stage);
  };
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
  end.seconds.begin("preparing");
  Learned learned = learn(std::move(model), data, std::move(fit));
  end.seconds.begin("writing");
  end.has_checkpoint = interrupted_with_checkpoint;
  end.signal = team.largest(interrupt.signal());
  end.resume_line = !has_checkpoints || checkpoint_path(request).empty() ? "" : resume_line(request);
  return learned;
}

}  // namespace

std::string resume_line(const FitRequest& request) {
  return request.command_line +
         (request.resume.empty() ? " --resume " + shell_quoted(checkpoint_path(request).string()) : "");
}

Learned learn_table(const FitRequest& request, const FitTeam& team, TrainingData& data, FitEnd& end) {
  data = read_rows_to_fit(request, team);
  give_back_memory();
  if (data.has_classes()) {
    team.refuse("a classifier");
    refuse_checkpoints(request);
  }
  ModelToLearn made = model_to_learn(request.settings, data, [&](NetworkSettings& settings) {
    team.partition(request, settings.network, settings.fit, data);
  });
  if (!request.resume.empty()) made.model = resume_from(request.resume, data, made.model, made.fit.options);
  Learned learned = learn_watched(request, team, std::move(made.model), data, std::move(made.fit), end);
  if (!made.reason.empty()) learned.reason = made.reason;
  return learned;
}

Learned learn_graph(const FitRequest& request, const FitTeam& team, TrainingData& data, FitEnd& end) {
  refuse_checkpoints(request);
  const GraphModelOptions options = graph_settings(request.settings);
  const TableSource source(request.data);
  const std::string name = request.graph.string();
  const std::string text = read_file(request.graph, "a graph file");
  std::optional<GraphModel> graph;
  try {
    GraphFile file = parse_graph(text);
    const GraphFile whole = file;
    std::erase_if(file.observations, [&](const GraphFile::Observation& given) {  // a column knows better
      return source.has(file.graph[given.variable].name.text());
    });
    try {
      graph.emplace(std::move(file), standard_registry(), request.targets, options);
    } catch (const Error& e) {
      fail("{}", located(whole, e.what()));
    }
  } catch (const Error& e) {
    fail("'{}': {}", name, e.what());
  }
  data = read_observed(
      {.path = request.data,
       .targets = {},
       .features = request.features,
       .weights = request.weights,
       .holdout = request.holdout,
       .seed = request.settings.seed,
       .target_cells = graph->has_classes() || request.numbers_are_classes ? TargetCells::names : TargetCells::numbers},
      source, *graph);
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
