#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/dma/fit/summary.h"

namespace dma {

namespace {

std::string sentence_of_classes(const TableModel& model) {
  constexpr double kNatsByChance = 2.3;
  const TrainingRecord& t = model.training();
  const TableReport& r = t.report;
  const ClassScores& left_out = *r.left_out_classes;
  // Left-out rows are no more probable than by the frequencies of the classes, or by so little that it is chance.
  if (r.frequencies >= 0.5 ||
      (r.of_frequencies.log_loss - left_out.log_loss) * static_cast<double>(t.rows) <= kNatsByChance)
    return fmt::format(
        "{}: no structure found: predicts the class frequencies ({:.0f} % are of the most frequent class)",
        model.targets()[0], 100 * r.of_frequencies.accuracy);
  const ClassScores& judge = t.held_out_classes ? *t.held_out_classes : left_out;
  return fmt::format(
      "{}: classifies {:.{}f} % of {}, where {:.0f} % are of the most frequent class; probabilities are off by "
      "{:.1f} % on average",
      model.targets()[0], 100 * judge.accuracy, judge.accuracy > 0.99 ? 1 : 0,
      t.held_out_classes ? fmt::format("the {} rows kept aside", t.held_out_rows) : "unseen rows",
      100 * r.of_frequencies.accuracy, 100 * judge.calibration_error);
}

std::string sentence_of_numbers(const TableModel& model, std::size_t j) {
  const TrainingRecord& t = model.training();
  const LeftOut& one = t.report.left_out[j];
  const std::string& name = model.targets()[j];
  // Rows kept aside have the last word: they were not learned by anything, not even by the noise.
  const bool kept_aside = j < t.held_out.size();
  const Scores& judge = kept_aside ? t.held_out[j] : one.scores;
  if (!std::isfinite(one.explained) || !std::isfinite(one.scores.rmse) || !std::isfinite(judge.rmse))
    return fmt::format("{}: its errors are too large for a number: use other units to have it scored", name);
  // A useless feature or two explain so much of the variance by chance.
  const double chance = std::min(0.5, 0.01 + 4 / static_cast<double>(std::max<std::size_t>(1, t.rows)));
  const std::string coverage = fmt::format("95 % intervals cover {:.0f} %", 100 * judge.coverage_95);
  const std::string rows =
      kept_aside
          ? fmt::format("rows left out in turn; of the {} rows kept aside the RMSE is {:.4g} (left out: {:.4g}) and",
                        t.held_out_rows, judge.rmse, one.scores.rmse)
          : "unseen rows;";
  // The model follows the learned rows and misses the others, as a line through far outliers does.
  if (one.explained < -chance)
    return fmt::format(
        "{}: no structure found that holds for unseen rows: their RMSE is {:.3g} times that of the mean; {}", name,
        std::sqrt(1 - one.explained), coverage);
  if (one.explained < chance) return fmt::format("{}: no structure found: predicts the mean; {}", name, coverage);
  return fmt::format("{}: explains {:.{}f} % of the variance of {} {}", name, 100 * one.explained,
                     one.explained > 0.99 ? 2 : 0, rows, coverage);
}

}  // namespace

std::vector<std::string> honest_sentences(const TableModel& model) {
  std::vector<std::string> sentences;
  const TableReport& r = model.training().report;
  if (model.own_graph() != nullptr && !model.standardises()) return sentences;
  if (r.left_out_classes) sentences.push_back(sentence_of_classes(model));
  for (std::size_t j = 0; j < r.left_out.size(); ++j) sentences.push_back(sentence_of_numbers(model, j));
  return sentences;
}

}  // namespace dma
