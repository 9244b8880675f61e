#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "engine/support/error.h"
#include "engine/support/text.h"
#include "models/files/classifier_file.h"

namespace dma {

namespace {

void expect_of_classifier(bool holds, const char* what) {
  if (!holds) fail("{}", what);
}

bool is_fraction(double value) { return value >= 0 && value <= 1; }
bool is_positive(double value) { return value > 0 && std::isfinite(value); }

void check_scores(const ClassScores& s) {
  expect_of_classifier(
      is_fraction(s.accuracy) && s.log_loss >= 0 && std::isfinite(s.log_loss) && is_fraction(s.calibration_error),
      "a score is not usable");
}

void check_classifier_part(const SavedClassifier& saved, const Classifier::Part& part) {
  constexpr std::size_t kWidest = 100'000, kMostLayers = 100;  // no product of two widths overflows
  expect_of_classifier(part.hidden.size() <= kMostLayers, "there are too many layers");
  for (const std::size_t width : part.hidden)
    expect_of_classifier(width >= 1 && width <= kWidest, "the width of a layer is not usable");
  const PrincipalDirections& directions = saved.memory.directions;
  std::size_t below = directions.used() ? static_cast<std::size_t>(directions.basis.cols()) + 1 : saved.features.size(),
              weights = 0;
  for (const std::size_t width : part.hidden) weights += width * (below + 1), below = width;
  weights += (below + 1) * static_cast<std::size_t>(logits_for(static_cast<Index>(saved.memory.classes.size())));
  expect_of_classifier(is_fraction(part.fraction) && is_positive(part.scale) && is_positive(part.stretch),
                       "a number of a part is not usable");
  expect_of_classifier(static_cast<std::size_t>(part.mean.size()) == weights && part.mean.allFinite(),
                       "the means of the weights are not usable");
  expect_of_classifier(static_cast<std::size_t>(part.factor.rows()) == weights && part.factor.allFinite() &&
                           (part.factor.diagonal().array() > 0).all(),
                       "the factor of the precision is not usable");
}

}  // namespace

void check_saved(const SavedClassifier& saved) {
  constexpr double kRounding = 1e-9;
  const Classifier::Memory& m = saved.memory;
  const Classifier usable(saved.options);  // throws for options that are not
  expect_of_classifier(!saved.features.empty() && saved.features.size() <= 100'000,
                       "the number of features is not usable");
  for (const std::string& name : saved.features)
    expect_of_classifier(is_plain_text(name), "the name of a column holds control characters");
  saved.coding.check(saved.features);
  expect_of_classifier(is_plain_text(saved.target), "the name of the target holds control characters");
  expect_of_classifier(m.classes.size() >= 2 && m.classes.size() <= 100'000,
                       "there are fewer than two classes, or too many");
  for (const std::string& name : m.classes)
    expect_of_classifier(is_plain_text(name), "the name of a class holds control characters");
  expect_of_classifier(std::set(m.classes.begin(), m.classes.end()).size() == m.classes.size(),
                       "two classes have one name");
  const auto features = static_cast<Index>(saved.features.size()), classes = static_cast<Index>(m.classes.size());
  expect_of_classifier(m.inputs.fits(features), "shifts and scales do not fit the columns");
  expect_of_classifier(
      !m.directions.used() || (m.directions.basis.rows() == features && m.directions.basis.cols() <= features &&
                               m.directions.basis.allFinite()),
      "the directions do not fit the columns");
  expect_of_classifier(m.frequencies.size() == classes && m.frequencies.allFinite() &&
                           (m.frequencies.array() > 0).all() && std::abs(m.frequencies.sum() - 1) < kRounding,
                       "the frequencies do not fit the classes");
  double fractions = m.frequencies_fraction;
  expect_of_classifier(is_fraction(fractions), "the fraction of the frequencies is not in [0, 1]");
  for (const Classifier::Part& part : m.parts) {
    check_classifier_part(saved, part);
    fractions += part.fraction;
  }
  if (m.neighbours) fractions += m.neighbours->memory().fraction;
  expect_of_classifier(std::abs(fractions - 1) < kRounding, "the fractions of the mixture do not sum to 1");

  const ClassifierTraining& t = saved.training;
  expect_of_classifier(t.counts.size() == m.classes.size(), "the rows of the classes are not usable");
  expect_of_classifier(is_plain_text(t.report.reason), "the reason for the size holds control characters");
  expect_of_classifier(is_fraction(t.report.frequencies_fraction) && is_fraction(t.report.linear_fraction) &&
                           is_fraction(t.report.network_fraction) && is_fraction(t.report.neighbours_fraction),
                       "a fraction is not in [0, 1]");
  expect_of_classifier(t.report.settled.size() == t.report.epochs.size(), "the epochs are contradictory");
  check_scores(t.report.left_out);
  check_scores(t.report.frequencies);
  if (t.held_out) check_scores(*t.held_out);
}

}  // namespace dma
