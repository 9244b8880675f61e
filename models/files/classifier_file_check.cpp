#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "engine/support/text.h"
#include "engine/support/usable.h"
#include "models/classifier/classifier_size.h"
#include "models/files/classifier_file.h"

namespace dma {

namespace {

bool is_fraction(double value) { return value >= 0 && value <= 1; }

void check_classifier_part(const SavedClassifier& saved, const Classifier::Part& part) {
  constexpr std::size_t kWidest = 100'000, kMostLayers = 100;  // no product of two widths overflows
  expect(part.hidden.size() <= kMostLayers, "there are too many layers");
  for (const std::size_t width : part.hidden)
    expect(width >= 1 && width <= kWidest, "the width of a layer is not usable");
  const PrincipalDirections& directions = saved.memory.directions;
  std::size_t below = directions.used() ? static_cast<std::size_t>(directions.basis.cols()) + 1 : saved.features.size(),
              weights = 0;
  const std::size_t inputs = below;
  for (const std::size_t width : part.hidden) weights += width * (below + 1), below = width;
  const std::size_t logits = logits_for(saved.memory.classes.size());
  weights += (below + 1) * logits;
  expect(is_fraction(part.fraction), "the fraction of a part is not in [0, 1]");
  check_posterior(part.posterior, static_cast<Index>(weights), logits, static_cast<Index>(inputs));
  expect(part.posterior.factor.size() > 0 && !part.posterior.stretch.empty(), "a part is not whole");
}

}  // namespace

// Called before the search is made, which trusts its rows.
void check_class_neighbours(const ClassNeighbours::Memory& m, Index columns) {
  const auto is_class = [&](Index c) { return c >= 0 && c < m.frequencies.size(); };
  expect(m.scales.size() == columns && m.rows.cols() == columns && m.rows.rows() > 0 &&
             m.rows.rows() == static_cast<Index>(m.classes.size()) && m.scales.allFinite() && m.rows.allFinite() &&
             m.width > 0 && std::isfinite(m.width) && m.doubt > 0 && std::isfinite(m.doubt) &&
             is_fraction(m.fraction) && std::ranges::all_of(m.classes, is_class) &&
             (m.weights.size() == 0 ||
              (m.weights.size() == m.rows.rows() && m.weights.allFinite() && (m.weights.array() >= 0).all())),
         "a number of the neighbours is not usable");
}

void check_scores(const ClassScores& s) {
  expect(is_fraction(s.accuracy) && s.log_loss >= 0 && std::isfinite(s.log_loss) && is_fraction(s.calibration_error),
         "a score is not usable");
}

void check_saved(const SavedClassifier& saved) {
  constexpr double kRounding = 1e-9;
  const Classifier::Memory& m = saved.memory;
  const Classifier usable(saved.options);  // throws for options that are not
  expect(!saved.features.empty() && saved.features.size() <= 100'000, "the number of features is not usable");
  for (const std::string& name : saved.features)
    expect(is_plain_text(name), "the name of a column holds control characters");
  saved.coding.check(saved.features);
  expect(is_plain_text(saved.target), "the name of the target holds control characters");
  expect(m.classes.size() >= 2 && m.classes.size() <= 100'000, "there are fewer than two classes, or too many");
  for (const std::string& name : m.classes) expect(is_plain_text(name), "the name of a class holds control characters");
  expect(std::set(m.classes.begin(), m.classes.end()).size() == m.classes.size(), "two classes have one name");
  const auto features = static_cast<Index>(saved.features.size()), classes = static_cast<Index>(m.classes.size());
  expect(m.inputs.fits(features), "shifts and scales do not fit the columns");
  expect(!m.directions.used() || (m.directions.basis.rows() == features && m.directions.basis.cols() <= features &&
                                  m.directions.basis.allFinite()),
         "the directions do not fit the columns");
  expect(m.frequencies.size() == classes && m.frequencies.allFinite() && (m.frequencies.array() > 0).all() &&
             std::abs(m.frequencies.sum() - 1) < kRounding,
         "the frequencies do not fit the classes");
  double fractions = m.frequencies_fraction;
  expect(is_fraction(fractions), "the fraction of the frequencies is not in [0, 1]");
  for (const Classifier::Part& part : m.parts) {
    check_classifier_part(saved, part);
    fractions += part.fraction;
  }
  if (m.neighbours) fractions += m.neighbours->memory().fraction;
  expect(std::abs(fractions - 1) < kRounding, "the fractions of the mixture do not sum to 1");

  const ClassifierTraining& t = saved.training;
  expect(t.counts.size() == m.classes.size(), "the rows of the classes are not usable");
  expect(is_plain_text(t.report.reason), "the reason for the size holds control characters");
  expect(is_fraction(t.report.frequencies_fraction) && is_fraction(t.report.linear_fraction) &&
             is_fraction(t.report.network_fraction) && is_fraction(t.report.neighbours_fraction),
         "a fraction is not in [0, 1]");
  expect(t.report.settled.size() == t.report.epochs.size(), "the epochs are contradictory");
  check_scores(t.report.left_out);
  check_scores(t.report.frequencies);
  if (t.held_out) check_scores(*t.held_out);
}

}  // namespace dma
