// dma fit: from a table of numbers to a network with honest uncertainty.
#include <fmt/format.h>
#if __has_include(<malloc.h>)
#include <malloc.h>
#endif

#include <charconv>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/support/error.h"
#include "engine/support/text.h"
#include "models/files/bnn_file.h"
#include "tools/dma/commands/commands.h"
#include "tools/dma/commands/fit_classifier.h"
#include "tools/dma/commands/fit_graph.h"
#include "tools/dma/commands/fit_report.h"
#include "tools/dma/fit/checkpoint.h"
#include "tools/dma/fit/fit_check.h"
#include "tools/dma/fit/fit_request.h"
#include "tools/dma/fit/fit_team.h"
#include "tools/dma/fit/fit_update.h"
#include "tools/dma/fit/model_summary.h"
#include "tools/dma/fit/saved_fit.h"
#include "tools/dma/fit/shared_table.h"
#include "tools/dma/fit/training_data.h"
#include "tools/dma/io/interrupt.h"
#include "tools/dma/io/progress.h"
#include "tools/dma/io/shell_quoted.h"
#include "tools/dma/io/standard_streams.h"
#include "tools/dma/io/write_file.h"
#include "tools/dma/page/report.h"
#include "tools/dma/pictures/fit_figures.h"
#include "tools/dma/pictures/svg.h"

namespace dma {

namespace {

void check_files(const FitRequest& request) {
  for (const auto* picture : {&request.plot, &request.plot_training}) plot::check_picture(*picture);
  check_outputs({{"--model", request.model},
                 {"--checkpoint", request.checkpoint},
                 {"--plot", request.plot},
                 {"--plot-training", request.plot_training},
                 {"--report", request.report}},
                {{"data", request.data}, {"--graph", request.graph}});
  for (const auto* file :
       {&request.model, &request.plot, &request.plot_training, &request.report})  // --checkpoint may go on in it
    if (!file->empty()) check_outputs({{"output", *file}}, {{"--resume", request.resume}});
}

// A checkpoint lies where it was asked for, or where the fit was resumed from, or beside the model.
std::filesystem::path checkpoint_path(const FitRequest& request) {
  if (!request.checkpoint.empty()) return request.checkpoint;
  if (!request.resume.empty()) return request.resume;
  if (request.model.empty()) return {};
  return request.model.string() + ".checkpoint";
}

std::string resume_line(const FitRequest& request) {
  return request.command_line +
         (request.resume.empty() ? " --resume " + shell_quoted(checkpoint_path(request).string()) : "");
}

// Hours of work do not end because a disk is full for a while: the fit goes on with the last checkpoint that was
// written.
bool try_checkpoint(const FitRequest& request, const Bnn& net, const TrainingData& data, const LearnOptions& options) {
  try {
    save_checkpoint(request.writes ? checkpoint_path(request) : std::filesystem::path(), net, data, options);
    return true;
  } catch (const Error& e) {
    say(fmt::format("no checkpoint is written: {}", e.what()));
    return false;
  }
}

struct Learned {
  FitReport report;
  int signal = 0;              // that interrupted it
  bool has_checkpoint = true;  // after an interruption
};

Learned learn(Bnn& net, const TrainingData& data, const LearnOptions& options, const FitRequest& request,
              const FitTeam& team) {
  const bool regularly =
      !request.checkpoint.empty() || !request.resume.empty() || (team.is_shared() && !checkpoint_path(request).empty());
  const double log_scale = net.options().standardise ? mean_log_scale(Standardiser::of(data.outputs)) : 0;
  InterruptWatch interrupt(request.seconds_to_learn());
  const auto warning = team.warn_when_stopped(interrupt, resume_line(request));
  using Shown = ProgressBar::Shown;
  ProgressBar bar(request.progress                  ? Shown::always
                  : request.quiet || request.json ? Shown::never
                                                  : Shown::on_terminals,
                  {net.options().members, options, log_scale, !net.options().is_joint()});
  const auto on_epoch = [&](const BnnEpoch& epoch) {
    bar.show(epoch);
    if (regularly && epoch.record.epoch % request.checkpoint_every == 0) try_checkpoint(request, net, data, options);
    return !interrupt.requested();
  };
  LearnOptions watched = options;
  watched.on_stage = bar.stage_watch();
  net.keep_going_while([&] { return !interrupt.requested(); },
                       request.settings.max_seconds ? [&] { return interrupt.seconds_left(); }
                                                    : std::function<double()>());
  Learned learned{net.fit(data.inputs, data.outputs, watched, on_epoch, data.weights)};
  learned.signal = team.largest(interrupt.signal());
  if (learned.report.interrupted && !checkpoint_path(request).empty())
    learned.has_checkpoint = try_checkpoint(request, net, data, options);
  return learned;
}

void say_how_to_resume(const FitRequest& request, bool by_time) {
  const std::string what = by_time ? "the time was over before all was learned" : "interrupted";
  if (checkpoint_path(request).empty())
    say(what + "; nothing is saved, because neither --model nor --checkpoint is given");
  else
    say(what + "; go on with: " + resume_line(request));
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

// 30, 30s, 5min, 1.5h.
double seconds_in(const std::string& time) {
  double number = 0;
  const auto [rest, error] = std::from_chars(time.data(), time.data() + time.size(), number);
  const std::string unit(rest, time.data() + time.size());
  for (const auto& [name, seconds] : {std::pair("", 1), {"s", 1}, {"min", 60}, {"h", 3600}})
    if (error == std::errc() && unit == name && number > 0 && number < 1e6) return number * seconds;
  fail("--time: '{}' is given; a time above 0 such as 30s, 5min or 1.5h is expected", printable(time));
}

void fit(FitRequest request) {
  FitTeam team(request);
  if (!request.time.empty()) request.settings.max_seconds = seconds_in(request.time);
  if (request.checkpoint_every < 1)
    fail("--checkpoint-every: {} is given; at least 1 is expected", request.checkpoint_every);
  if (!request.update.empty() && !request.graph.empty())
    fail("--graph and --update are given; an update keeps the graph of its model: leave --graph out");
  if (!request.update.empty()) return fit_update(request);
  if (request.targets.empty()) fail("--target is missing: name the column to predict, as in --target price");
  check_files(request);
  if (!request.graph.empty()) {
    team.refuse("a graph of your own");
    return fit_graph(request);
  }
  TrainingData data = read_rows_to_fit(request, team);
  return_free_memory();
  if (data.has_classes()) {
    team.refuse("a classifier");
    return fit_classifier(request, data);
  }
  auto [network, options, method_reason] =
      model_for(request.settings, data.features.size(), data.targets.size(), data.rows());
  team.partition(request, network, options, data);
  Bnn net = request.resume.empty() ? Bnn(network) : resume_from(request.resume, data, network, options);

  const Learned learned = learn(net, data, options, request, team);
  const FitReport& report = learned.report;
  if (network.choose_width) method_reason = report.form;
  data.drop(report.far);
  SavedBnn saved = saved_fit(net, data, options, report);
  if (!request.writes) return team.leave();
  Bnn model = make_bnn(saved);
  std::string warning;
  try {
    warning = check_fit(model, data);
  } catch (const Error& e) {
    if (!report.interrupted) throw;
    warning = e.what();  // more epochs may mend it
  }
  if (!request.quiet) tell_of_columns(request, data);
  if (report.copies > 0 && !request.quiet)
    say(fmt::format("{} of {} rows are copies of others, target and all: each is learned once", report.copies,
                    data.rows()));
  if (data.held_out_rows() > 0)
    saved.training.held_out =
        scores_of([&](Eigen::Index begin,
                      Eigen::Index rows) { return model.predict(data.held_out_inputs.middleRows(begin, rows)); },
                  data.held_out_outputs, data.held_out_weights);
  FitOutputs outputs(request);
  outputs.write_model([&] { return bnn_to_text(saved); });
  if (learned.signal != 0 && !report.interrupted) {  // it came when nothing was left to learn
    team.leave();
    std::raise(learned.signal);
  }

  outputs.draw(request.plot, [&] {
    return fit_figure([&](const Eigen::MatrixXd& inputs) { return model.predict(inputs); }, data);
  });
  outputs.draw(request.plot_training, [&] { return training_figure(training_curves(saved)); });
  Json json = summary_json(saved);
  json["reason"] = method_reason;
  outputs.tell(std::move(json), fmt::format("reason    {}\n{}", method_reason, summary_text(saved)),
               honest_sentences(saved), [&] {
                 return report::report_of(report::fitted(saved, model, data, net.left_out()),
                                          {request.command_line, request.data, warning});
               });
  if (!warning.empty()) say("warning: " + warning);
  team.leave();
  if (report.interrupted) {
    if (learned.has_checkpoint) say_how_to_resume(request, learned.signal == 0);
    if (learned.signal != 0) throw Exit{kExitBySignal + learned.signal};
  }
}

}  // namespace

void add_fit_command(Command app, const std::string& command_line) {
  auto request = std::make_shared<FitRequest>();
  request->command_line = command_line;
  const Command command =
      app.add_subcommand("fit", "Learn a Bayesian neural network from a table: numbers, or classes of rows");
  command.footer(
      "Example:\n"
      "  dma fit houses.csv --target price --holdout 0.1 --model model.json --plot fit.svg\n"
      "The table has a line of column names, then rows, with comma, semicolon, tab or white space between cells. Text, "
      "dates, yes and\n"
      "no, amounts and missing cells become numbers in a way that the model keeps (--columns tells which); --strict "
      "takes numbers alone.\n"
      "A target column of text holds classes: a classifier is fitted, and predict gives their probabilities. Numbers "
      "such as 0 and 1 "
      "stay\n"
      "numbers unless --classes is given.\n"
      "dma fit data.csv --graph graph.json --target y learns the shared variables of a graph of your own; columns are "
      "its "
      "observed variables.\n"
      "dma fit --update model.json new.csv adds rows to a fitted model; units, and how noise depends on inputs, stay "
      "as they were.\n"
      "Ctrl-C finishes the epoch, saves, and says how to resume.");
  const std::string data = "Data", output = "Output";
  command.add_option("data", request->data, "CSV file with a header").value("FILE").required();
  command.add_option("--target", request->targets, "column to predict; may be given several times")
      .allow_extra_args(false)
      .group(data);
  command
      .add_option(
          "--graph", request->graph,
          "graph file of your own model, whose observed variables are columns by name and whose shared ones are "
          "learned")
      .group(data);
  command
      .add_flag("--classes", request->numbers_are_classes,
                "the target's values are names of classes, even if they are numbers")
      .group(data);
  command.add_option("--features", request->features, "columns to learn from: a,b,c (default: all but the targets)")
      .allow_extra_args(false)
      .group(data);
  command
      .add_option("--weights", request->weights,
                  "column with the weight of every row: a row of weight 2 counts as two, one of weight 0 is left out")
      .value("COLUMN")
      .group(data);
  command.add_option("--holdout", request->holdout, "fraction of rows kept aside to score the model, such as 0.1")
      .group(data);
  command.add_flag("--columns", request->columns, "print what was made of every column").group(data);
  command.add_flag("--strict", request->strict, "refuse cells that are no plain numbers").group(data);
  add_fit_settings(command, request->settings);
  command
      .add_option("--time", request->time,
                  "the best model in that time, such as 30s, 5min or 1.5h; it depends on how fast the machine is")
      .value("TIME")
      .group("Learning");
  command.add_option("--model", request->model, "file for the fitted model, such as model.json").group(output);
  command.add_option("--plot", request->plot, "picture of the fit, .svg").group(output);
  command.add_option("--plot-training", request->plot_training, "picture of the training curve, .svg")
      .group(output);
  command
      .add_option(
          "--report", request->report,
          "page about the fit, such as report.html: scores, pictures, which inputs matter; it needs nothing else")
      .group(output);
  command.add_option("--checkpoint", request->checkpoint, "file to save the unfinished fit in while it runs")
      .group(output);
  command.add_option("--checkpoint-every", request->checkpoint_every, "epochs between checkpoints")
      .capture_default_str()
      .group(output);
  command
      .add_option("--update", request->update,
                  "add the rows to this model, which then is that of old and new rows, without the old ones; into "
                  "--model if given")
      .group(data);
  command.add_option("--resume", request->resume, "go on from this checkpoint; repeat all other options").group(output);
  command
      .add_flag("--progress", request->progress,
                "how far learning has come and when it will end, on standard error: a line every second, or one that "
                "is redrawn on a terminal")
      .group(output);
  command.add_flag("--quiet", request->quiet, "print errors only").group(output);
  command.add_flag("--json", request->json, "print the report as JSON").group(output);
  command.callback([request] { fit(*request); });
}

}  // namespace dma
