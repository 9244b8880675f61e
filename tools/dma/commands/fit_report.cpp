#include "tools/dma/commands/fit_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "engine/support/text.h"
#include "tools/dma/help/command_line.h"
#include "tools/dma/io/interrupt.h"
#include "tools/dma/io/progress.h"
#include "tools/dma/io/standard_streams.h"
#include "tools/dma/io/write_file.h"
#include "tools/dma/page/report.h"
#include "tools/dma/pictures/svg.h"

namespace dma {

void tell_of_columns(const FitRequest& request, const TrainingData& data) {
  for (const std::string& note : data.notes) say(note);
  if (!data.ignored.empty()) say(data.ignored);
  if (!request.columns || request.json) return;
  if (data.coding.empty())
    for (const std::string& name : data.features) fmt::print("column    {}: numbers\n", printable(name));
  for (const std::string& line : data.coding.lines()) fmt::print("column    {}\n", line);
}

void FitOutputs::write_model(const std::function<std::string()>& text) {
  if (request_.model.empty()) return;
  write_file(request_.model, text());
  files_.push_back(request_.model.string());
}

void FitOutputs::draw(const std::filesystem::path& path, const std::function<plot::Figure()>& figure) {
  if (path.empty()) return;
  plot::draw_picture(figure(), path);
  files_.push_back(path.string());
}

void end_early(const FitRequest& request, int signal) {
  say(fmt::format("{}{}", signal == 0 ? "the time was over before all was learned" : "interrupted",
                  request.model.empty() ? "" : "; the model is what was learned until then"));
  if (signal != 0) throw Exit{kExitBySignal + signal};
}

void FitOutputs::tell(Json json, const std::string& summary, const std::vector<std::string>& sentences,
                      const std::function<Json()>& report) {
  if (!request_.report.empty()) files_.push_back(request_.report.string());
  json["files"] = files_;
  if (!request_.report.empty()) {
    std::optional<ProgressLine> progress;
    if (!request_.quiet && !request_.json) progress.emplace().show("report: which inputs matter");
    json["report"] = report();
    write_file(request_.report, report::page_of(json));
  }
  if (request_.json) {
    fmt::print("{}", readable(json));
  } else if (!request_.quiet) {
    fmt::print("{}", summary);
    for (const std::string& file : files_) fmt::print("wrote     {}\n", printable(file));
    for (const std::string& line : sentences) fmt::print("{}\n", line);
  }
}

}  // namespace dma
