#include "tools/dma/commands/fit_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "engine/support/text.h"
#include "tools/dma/io/progress.h"
#include "tools/dma/io/standard_streams.h"
#include "tools/dma/io/write_file.h"
#include "tools/dma/page/report.h"

namespace dma {

void tell_of_columns(const FitRequest& request, const TrainingData& data) {
  for (const std::string& note : data.notes) say(note);
  if (!data.ignored.empty()) say(data.ignored);
  if (!request.columns || request.json) return;
  if (data.coding.empty())
    for (const std::string& name : data.features) fmt::print("column    {}: numbers\n", printable(name));
  for (const std::string& line : data.coding.lines()) fmt::print("column    {}\n", line);
}

void write_report(const FitRequest& request, Json& json, const std::function<Json()>& make) {
  if (request.report.empty()) return;
  std::optional<ProgressLine> progress;
  if (!request.quiet && !request.json) progress.emplace().show("report: which inputs matter");
  json["report"] = make();
  write_file(request.report, report::page_of(json));
}

}  // namespace dma
