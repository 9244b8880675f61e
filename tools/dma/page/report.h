// The report of a fit, as JSON and as a page: what it learned, how good it is, which inputs it uses.
//
// The JSON of `dma fit --json` gets an object "report"; every number on the page stands somewhere in that JSON, and the
// page carries it along.
#pragma once

#include <string>

#include "engine/support/json.h"
#include "tools/dma/fit/learn.h"

namespace dma::report {

// The command and the file that a reader needs to do it again.
struct Origin {
  std::string command, file;
};

// An Error for a graph without inputs.
Json report_of(const Learned& learned, const TrainingData& data, const Origin& origin);

// The loss of the learned rows per target before anything is shuffled, and by how much each column of the table makes
// it rise, most important first: {"target", "before", "inputs": [{"name", "rise", "sd"}]}.
Json importance_of(const Learned& learned, const TrainingData& data);

// From the whole JSON of a fit, with its "report".
std::string page_of(const Json& whole);

}  // namespace dma::report
