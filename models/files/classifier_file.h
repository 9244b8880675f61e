// A fitted classifier as text, and back: JSON with readable keys, in which every double keeps all its bits, with
// a checksum. The same fit gives the same bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/classifier/classifier.h"
#include "models/files/readable_json.h"
#include "models/table/column_coding.h"

namespace dma {

inline constexpr std::string_view kClassifierFormat = "dma-classifier";

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

// Whether the text says that it is one; nothing else of it is looked at.
bool is_classifier_text(std::string_view text);

std::string classifier_to_text(const SavedClassifier& saved);
// An Error of one line, beginning with `source`, for text that is damaged, cut short, of another kind, or of a later
// version.
SavedClassifier classifier_from_text(std::string_view text, std::string_view source);

// Every size and sign that Classifier would otherwise trust.
void check_saved(const SavedClassifier& saved);

Classifier make_classifier(const SavedClassifier& saved);

Json to_json(const ClassScores& scores);
ClassScores class_scores_from(const Json& json);
void check_scores(const ClassScores& scores);  // an Error for what cannot be scores
Json to_json(const ClassifierOptions& options);

}  // namespace dma
