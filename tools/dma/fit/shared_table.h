// A table that several processes read together: each reads its own shard of the file and sends every row to the process
// whose worker learns it.
#pragma once

#include <functional>
#include <optional>

#include "tools/dma/fit/fit_request.h"
#include "tools/dma/fit/training_data.h"
#include "tools/dma/io/processes.h"

namespace dma {

// The rows that the workers of this process learn, dealt as one process would deal them (models/table/deal_rows.h);
// rows kept aside are with the first process. Nothing, in all processes alike, if every process has to read all rows:
// for joint learning, classes, weights, files that are not plain (csv_plain.h), and tables that will be refused.
std::optional<TrainingData> read_shared_table(const FitRequest& request, const ProcessGroup& group,
                                              const std::function<void(double)>& fraction_read);

}  // namespace dma
