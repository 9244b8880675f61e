// A fitted classifier as the bytes of a model file (model_file.h), and back: every double keeps all its bits. The same
// fit gives the same bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/support/json.h"
#include "models/classifier/classifier.h"
#include "models/table/column_coding.h"

namespace dma {

class Fields;

struct ClassifierTraining {
  std::size_t rows = 0, held_out_rows = 0;
  std::vector<std::size_t> counts = {};  // rows of every class
  ClassifierReport report = {};
  std::optional<ClassScores> held_out = {};
};

struct SavedClassifier {
  std::vector<std::string> features;  // names of the columns
  std::string target;
  ClassifierOptions options;
  Classifier::Memory memory;
  ClassifierTraining training = {};
  ColumnCoding coding = {};  // how columns of a table become the features
  std::string source = {};   // the file it was read from
};

std::string classifier_to_text(const SavedClassifier& saved);
// An Error of one line, beginning with `source`, for what read_model() refuses.
SavedClassifier classifier_from_text(std::string_view text, std::string_view source);

// Every size and sign that Classifier would otherwise trust.
void check_saved(const SavedClassifier& saved);
void check_class_neighbours(const ClassNeighbours::Memory& neighbours, Eigen::Index columns);

Classifier make_classifier(const SavedClassifier& saved);

Json to_json(const ClassScores& scores);
void list_fields(Fields& f, ClassScores& scores);
void check_scores(const ClassScores& scores);  // an Error for what cannot be scores
Json to_json(const ClassifierOptions& options);

}  // namespace dma
