// What a fit has learned, how good it is, what it looks at: as JSON, and as a page made of nothing but that JSON.
//
// The JSON of `dma fit --json` gets an object "report"; every number on the page stands somewhere in that JSON, and the
// page carries it along.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/files/bnn_file.h"
#include "models/files/classifier_file.h"
#include "tools/dma/fit/training_data.h"

namespace dma::report {

// What the reader needs to do it again, and what was said about it.
struct Origin {
  std::string command, file;
  std::string warning = {};  // empty: none
};

struct FittedRegression {
  const SavedBnn& saved;
  const Bnn& model;
  const TrainingData& data;
  const std::optional<Prediction>& left_out;  // the learned rows, each as if it had not been learned
};

struct FittedClassifier {
  const SavedClassifier& saved;
  const Classifier& model;
  const TrainingData& data;
  const std::vector<std::vector<double>>& evidence;  // log evidence a row after every epoch of every part
};

Json report_of(const FittedRegression& fit, const Origin& origin);
Json report_of(const FittedClassifier& fit, const Origin& origin);

// From the whole JSON of a fit, with its "report".
std::string page_of(const Json& whole);

}  // namespace dma::report
