#include "tools/dma/commands/fit_report.h"

#include <fmt/format.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/support/text.h"
#include "tools/dma/fit/summary.h"
#include "tools/dma/help/command_line.h"
#include "tools/dma/io/interrupt.h"
#include "tools/dma/io/progress.h"
#include "tools/dma/io/standard_streams.h"
#include "tools/dma/io/write_file.h"
#include "tools/dma/page/fit_figures.h"
#include "tools/dma/page/report.h"
#include "tools/dma/pictures/svg.h"

namespace dma {

namespace {

// Lines on standard error about columns and rows; with --columns a line for each column.
void tell_of_rows(const FitRequest& request, const TrainingData& data, std::size_t copies) {
  if (!data.without_target.empty()) say(data.without_target);
  for (const std::string& note : data.notes) say(note);
  if (!data.ignored.empty()) say(data.ignored);
  if (request.columns && !request.json) {
    if (data.coding.empty())
      for (const std::string& name : data.features) fmt::print("column    {}: numbers\n", printable(name));
    for (const std::string& line : data.coding.lines()) fmt::print("column    {}\n", line);
  }
  if (copies > 0)
    say(fmt::format("{} of {} rows are copies of others, target and all: each is learned once", copies, data.rows()));
}

plot::Figure picture_of(const Learned& learned, const TrainingData& data) {
  const TableModel& model = learned.model;
  if (!model.has_classes())
    return fit_figure([&](const Eigen::MatrixXd& inputs) { return model.predict(inputs); }, data);
  const bool held_out = data.held_out_rows() > 0;
  const Eigen::MatrixXd probabilities =
      held_out ? model.probabilities(data.held_out_inputs) : learned.left_out_probabilities;
  const ClassLabels labels = held_out ? data.held_out_labels() : data.labels();
  return classes_figure(model, data,
                        {probabilities, labels.of_rows, labels.names,
                         fmt::format("{} rows{}", probabilities.rows(), held_out ? " kept aside" : ", each left out")});
}

void tell_of_end(const FitRequest& request, const Learned& learned, const FitEnd& end) {
  const std::string what = end.signal == 0 ? "the time was over before all was learned" : "interrupted";
  if (!end.resume_line.empty()) {
    if (end.has_checkpoint) say(what + "; go on with: " + end.resume_line);
  } else if (learned.model.network() != nullptr) {
    say(what + "; nothing is saved, because neither --model nor --checkpoint is given");
  } else {
    say(what + (request.model.empty() ? "" : "; the model is what was learned until then"));
  }
  if (end.signal != 0) throw Exit{kExitBySignal + end.signal};
}

}  // namespace

void report_fit(const FitRequest& request, Learned& learned, const TrainingData& data, FitEnd& end, FitTeam& team) {
  TableModel& model = learned.model;
  check_learned(learned, data);
  if (!request.quiet) tell_of_rows(request, data, model.training().report.copies);
  if (data.held_out_rows() > 0 && !data.features.empty()) model.judge(held_out_of(data, model));
  if (!request.model.empty()) write_file(request.model, model.text());
  if (end.signal != 0 && !learned.interrupted) {  // it came when nothing was left to learn
    team.leave();
    std::raise(end.signal);
  }
  if (!request.plot.empty()) plot::draw_picture(picture_of(learned, data), request.plot);
  if (!request.plot_training.empty()) plot::draw_picture(training_figure(model.curves()), request.plot_training);
  std::vector<std::string> files;
  for (const auto* file : {&request.model, &request.plot, &request.plot_training, &request.report})
    if (!file->empty()) files.push_back(file->string());

  Json json = summary_json(model);
  if (!learned.reason.empty()) json["reason"] = learned.reason;
  json["files"] = files;
  if (!request.report.empty()) {
    std::optional<ProgressLine> progress;
    if (!request.quiet && !request.json) progress.emplace().show("report: which inputs matter");
    json["report"] = report::report_of(learned, data, {request.command_line, request.data});
    write_file(request.report, report::page_of(json));
  }
  const auto seconds = end.seconds.all();
  if (request.json) {
    for (const auto& [stage, time] : seconds) json["seconds"][stage] = json_number(time);  // the page has none
    fmt::print("{}", readable(json));
  } else if (!request.quiet) {
    if (!learned.reason.empty()) fmt::print("reason    {}\n", learned.reason);
    fmt::print("{}", summary_text(model));
    for (const std::string& file : files) fmt::print("wrote     {}\n", printable(file));
    for (const std::string& line : honest_sentences(model)) fmt::print("{}\n", line);
    for (const auto& [stage, time] : seconds)
      if (request.verbose) fmt::print("seconds   {:.3f} {}\n", time, stage);
  }
  if (!learned.warning.empty()) say("warning: " + learned.warning);
  team.leave();
  if (learned.interrupted) tell_of_end(request, learned, end);
}

}  // namespace dma
