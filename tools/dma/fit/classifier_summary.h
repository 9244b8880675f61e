// What a classifier is and how it was trained, for people and for programs.
#pragma once

#include <string>

#include "models/files/classifier_file.h"

namespace dma {

std::string summary_text(const SavedClassifier& saved);
Json summary_json(const SavedClassifier& saved);

// One row per layer of every part: how far the data have moved and narrowed the beliefs of its weights.
std::string weights_text(const SavedClassifier& saved);
Json weights_json(const SavedClassifier& saved);

// One sentence that a person can act on, from rows predicted as if left out.
std::string honest_sentence(const SavedClassifier& saved);

// Probabilities of classes, rows x classes, and the most probable class: as CSV and as JSON.
std::string probabilities_csv(const Eigen::MatrixXd& probabilities, const std::string& target,
                              const std::vector<std::string>& classes);
Json probabilities_json(const Eigen::MatrixXd& probabilities, const std::string& target,
                        const std::vector<std::string>& classes);
std::string scores_text(const ClassScores& scores);
// An Error unless all are numbers in [0, 1] and those of a row sum to 1.
void check_probabilities(const Eigen::MatrixXd& probabilities);

}  // namespace dma
