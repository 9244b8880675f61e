// dma fit: from a table of numbers to a model with honest uncertainty.
#include <fmt/format.h>

#include <memory>

#include "engine/support/text.h"
#include "tools/dma/commands/commands.h"
#include "tools/dma/commands/fit_learn.h"
#include "tools/dma/commands/fit_report.h"
#include "tools/dma/fit/fit_update.h"
#include "tools/dma/io/write_file.h"
#include "tools/dma/page/fit_figures.h"
#include "tools/dma/page/report.h"
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

void fit(FitRequest request) {
  if (!request.time.empty()) {
    const auto seconds = with_unit(request.time, {{"", 1}, {"s", 1}, {"min", 60}, {"h", 3600}});
    if (!seconds || *seconds >= 1e9)
      fail("--time: '{}' is given; a time above 0 such as 30s, 5min or 1.5h is expected", printable(request.time));
    request.settings.max_seconds = *seconds;
  }
  FitTeam team(request);
  if (request.checkpoint_every < 1)
    fail("--checkpoint-every: {} is given; at least 1 is expected", request.checkpoint_every);
  if (!request.update.empty()) return fit_update(request);
  if (request.targets.empty()) fail("--target is missing: name the column to predict, as in --target price");
  check_files(request);
  TrainingData data;
  FitEnd end;
  end.seconds.begin("reading");
  Learned learned =
      request.graph.empty() ? learn_table(request, team, data, end) : learn_graph(request, team, data, end);
  if (!request.writes) return team.leave();
  report_fit(request, learned, data, end, team);
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
      "such as 0 and 1 stay\n"
      "numbers unless --classes is given.\n"
      "dma fit data.csv --graph graph.json --target y learns the shared variables of a graph of your own; columns are "
      "its observed variables.\n"
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
  command.add_option("--plot-training", request->plot_training, "picture of the training curve, .svg").group(output);
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
      .add_option(
          "--update", request->update,
          "add the rows of the table to this fitted model; the old rows are not needed. Written into --model if given")
      .group(data);
  command.add_option("--resume", request->resume, "go on from this checkpoint; repeat all other options").group(output);
  command
      .add_flag("--progress", request->progress,
                "how far learning has come and when it will end, on standard error: a line every second, or one that "
                "is redrawn on a terminal")
      .group(output);
  command.add_flag("--verbose", request->verbose, "print the seconds of every stage, too").group(output);
  command.add_flag("--quiet", request->quiet, "print errors only").group(output);
  command.add_flag("--json", request->json, "print the report as JSON").group(output);
  command.callback([request, command] {
    request->given = command.given();
    fit(*request);
  });
}

}  // namespace dma
