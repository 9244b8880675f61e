#include <cmath>

#include "models/learn/mixing.h"
#include "models/learn/table_learner.h"
#include "models/table/noise.h"

namespace dma {

// Noise that each model has learned alone holds what it misses and others know; in a mixture their spread counts that
// once more. So the noise of all is scaled to what makes left-out rows most likely under the mixture. Returns the
// factors on the noise of every output.
std::vector<double> TableLearner::mix_with_neighbours(RowData data, const LearnOptions& options) {
  GraphMixture& mixture = graphs_->mixture();
  const Matrix targets = data.targets;
  const Vector weights = data.weights;
  Neighbours::Fit found = Neighbours::fit(
      std::move(data.rows), std::move(data.targets),
      {.seed = options_.seed, .least_noise = data.least_noise, .jobs = options.jobs, .on_stage = options.on_stage},
      std::move(data.weights));
  std::vector<Index> judged, places;  // rows that neither model has learned from; where the neighbours have them
  for (std::size_t i = 0; i < found.judged.size(); ++i)
    if (mixture.judged().empty() || std::ranges::binary_search(mixture.judged(), found.judged[i])) {
      judged.push_back(found.judged[i]);
      places.push_back(static_cast<Index>(i));
    }
  const Matrix seen = targets(judged, Eigen::all);
  const Vector seen_weights = weights_of(weights, judged);
  const Matrix ahead =
      log_densities(rows_of({found.left_out}, places), seen) - log_densities(rows_of(mixture.left_out(), judged), seen);
  Vector fractions(targets.cols());
  for (Index k = 0; k < targets.cols(); ++k)
    fractions(k) = found.is_learned[static_cast<std::size_t>(k)]
                       ? likeliest_fraction(ahead.col(k), kBenefitOfDoubt, seen_weights)
                       : 0;
  std::vector<double> factors(static_cast<std::size_t>(targets.cols()), 1.0);
  if ((fractions.array() == 0).all()) return factors;
  found.model.set_fractions(fractions);
  report_.neighbours.assign(fractions.begin(), fractions.end());
  const bool has_all = static_cast<Index>(found.judged.size()) == targets.rows();
  neighbours_left_out_ = has_all ? std::move(found.left_out) : found.model.left_out(options.jobs);
  neighbours_left_out_.weight = fractions.transpose().replicate(targets.rows(), 1);
  neighbours_ = std::move(found.model);
  for (Index k = 0; k < targets.cols(); ++k)
    for (const bool covers : {false, true}) {
      if (fractions(k) == 0) continue;
      const std::vector<PredictionComponent> own = rows_of(mixed_left_out(), judged);
      const double least = data.least_noise.size() > 0 ? data.least_noise(k) : 0,
                   factor = covers ? covering_factor(own, seen, k, seen_weights)
                                   : likeliest_factor(own, seen, k, seen_weights, least);
      factors[static_cast<std::size_t>(k)] *= factor;
      mixture.scale_noise(k, factor);
      neighbours_->scale_noise(k, factor);
      neighbours_left_out_.tails[static_cast<std::size_t>(k)].scale *= factor;
    }
  judged_ = std::move(judged);
  return factors;
}

void TableLearner::learn_counts(std::vector<CountNoise> noise, double smoothing) {
  counts_ = std::move(noise);
  options_.ensemble.choose_smoothing = false;
  options_.family = [family = options_.family, smoothing](const PreparedColumns& columns) {
    GraphFamily same = family(columns);
    same.first.smoothing = smoothing;
    return same;
  };
}

std::vector<CountNoise> TableLearner::likeliest_counts(const TableRows& rows) const {
  TableRows judged{{}, rows.targets, rows.weights};
  const std::vector<PredictionComponent> left_out = judged_left_out(judged);
  std::vector<CountNoise> found = counts_;
  for (std::size_t k = 0; k < found.size(); ++k)
    found[k].shape =
        likeliest_shape(left_out, judged.targets, static_cast<Index>(k), found[k].exposure, judged.weights);
  return found;
}

double TableLearner::left_out_log_mass(const TableRows& rows) const {
  TableRows judged{{}, rows.targets, rows.weights};
  const Prediction left_out = in_units_before(Prediction::mix(judged_left_out(judged)));
  return weighted_sum(log_mass_of_counts(left_out, judged.targets), judged.weights) /
         total_weight(judged.targets.rows(), judged.weights);
}

Eigen::VectorXd TableLearner::class_numbers(const TableRows& rows) const { return rows.targets.col(0); }

// Frequencies of the classes, graphs and nearest rows: every step up in complexity must earn its place. `score`: of the
// graphs.
void TableLearner::mix_classes(const TableRows& rows, double score, const LearnOptions& options) {
  const OutputLikelihoods& likelihoods = graphs_->mixture().model().likelihoods;
  const Eigen::VectorXd classes = class_numbers(rows);
  const ClassFrequencies counted(classes, options_.classes, rows.weights);
  frequencies_ = counted.all;
  report_.of_frequencies = counted.scores;
  frequencies_fraction_ = 0;
  if (!options_.frequencies) return;
  frequencies_fraction_ = counted.fraction_beside(score - kBenefitOfDoubt, total_weight(classes.size(), rows.weights));
  frequencies_left_out_ = component_of_classes(counted.without_each, frequencies_fraction_, likelihoods);
  report_.frequencies = frequencies_fraction_;
  if (!options_.neighbours || report_.interrupted || graphs_->mixture().memory().choice.sizes.empty() ||
      !ClassNeighbours::suits(rows.inputs.rows(), std::ssize(number_columns())))
    return;
  ClassNeighbours::Fit found =
      ClassNeighbours::fit(numbers_of(inputs_.apply(rows.inputs)), numbers_of(inputs_.scale).transpose(),
                           counted.classes, frequencies_, counted.without_each, options.jobs, rows.weights);
  const Eigen::MatrixXd known = probabilities_of(Prediction::mix(mixed_left_out()).mean, options_.classes);
  Vector ahead(classes.size());
  for (Index n = 0; n < ahead.size(); ++n) {
    const Index c = counted.classes[static_cast<std::size_t>(n)];
    ahead(n) = std::log(found.left_out(n, c) / known(n, c));
  }
  const double fraction = likeliest_fraction(ahead, kBenefitOfDoubt + ClassNeighbours::kFlattery, rows.weights);
  if (!(fraction > 0)) return;
  // The graphs know more where no row is near. Left-out rows lie among the rest and hardly tell. This costs at most
  // 0.01 nats per row.
  constexpr double kMostNeighbours = 0.99;
  const double taken = std::min(fraction, kMostNeighbours);
  found.model.set_fraction(taken);
  report_.neighbours = {taken};
  neighbours_left_out_ = component_of_classes(found.left_out, taken, likelihoods);
  class_neighbours_ = std::make_shared<const ClassNeighbours>(std::move(found.model));
}

}  // namespace dma
