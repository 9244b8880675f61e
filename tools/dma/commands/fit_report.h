// What `dma fit` says of the table, and the files it writes, whatever is fitted.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "models/files/readable_json.h"
#include "tools/dma/fit/fit_request.h"
#include "tools/dma/fit/training_data.h"
#include "tools/dma/pictures/figure.h"

namespace dma {

// Lines on standard error about columns and rows; with --columns a line for each column.
void tell_of_columns(const FitRequest& request, const TrainingData& data);

// Of a fit that ended early and cannot be resumed: by a signal, with which the program then ends, or with its time.
void end_early(const FitRequest& request, int signal);

class FitOutputs {
 public:
  explicit FitOutputs(const FitRequest& request) : request_(request) {}

  void write_model(const std::function<std::string()>& text);
  // Nothing without a path.
  void draw(const std::filesystem::path& path, const std::function<plot::Figure()>& figure);
  // The JSON of the fit or, for people, the summary, the files and the sentences. Where a page is asked for, the JSON
  // gets its "report", which `report` makes, and the page is written.
  void tell(Json json, const std::string& summary, const std::vector<std::string>& sentences,
            const std::function<Json()>& report);

 private:
  const FitRequest& request_;
  std::vector<std::string> files_;
};

}  // namespace dma
