#include "tools/dma/commands/fit_report.h"

#include <nlohmann/json.hpp>
#include <optional>

#include "tools/dma/io/progress.h"
#include "tools/dma/io/write_file.h"
#include "tools/dma/page/report.h"

namespace dma {

void write_report(const FitRequest& request, Json& json, const std::function<Json()>& make) {
  if (request.report.empty()) return;
  std::optional<ProgressLine> progress;
  if (!request.quiet && !request.json) progress.emplace().show("report: which inputs matter");
  json["report"] = make();
  write_file(request.report, report::page_of(json));
}

}  // namespace dma
