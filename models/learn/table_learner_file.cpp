// A TableLearner as members of a file, and its learned scalars.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/learn/gaussian/file.h"
#include "engine/support/text.h"
#include "engine/support/usable.h"
#include "models/learn/table_learner.h"
#include "models/table/relevance.h"

namespace dma {

void list_fields(Fields& f, Neighbours::Output& value) {
  DMA_LIST(fraction, trend, trend_covariance);
  f("lengthscales", value.kernel.lengthscales);
  f("signal", value.kernel.signal);
  f("noise", value.kernel.noise);
  f("tails", value.tails);
}

void list_fields(Fields& f, Neighbours::Memory& value) {
  DMA_LIST(rows, targets, outputs);
  f("row_weights", value.weights);
}

void list_fields(Fields& f, ClassNeighbours::Memory& value) {
  DMA_LIST(fraction, width, doubt, scales, rows, classes);
  f("row_weights", value.weights);
}

namespace {

bool is_fraction(double value) { return value >= 0 && value <= 1; }

// Each is called before a search is made, which trusts its rows.
void check_neighbours(const Neighbours::Memory& memory, Index inputs, Index outputs) {
  expect(memory.rows.cols() == inputs && memory.targets.cols() == outputs && memory.rows.rows() > 0 &&
             memory.rows.rows() == memory.targets.rows() && is_moderate(memory.rows) && is_moderate(memory.targets),
         "the rows of the neighbours do not fit the columns");
  check_row_weights(memory.weights, memory.rows.rows());
  expect(std::ssize(memory.outputs) == outputs, "the neighbours do not fit the targets");
  for (const Neighbours::Output& o : memory.outputs) {
    const NeighbourKernel& k = o.kernel;
    expect(o.trend.size() == inputs + 1 && is_moderate(o.trend) && k.lengthscales.size() == inputs &&
               (o.trend_covariance.size() == 0 ||
                (o.trend_covariance.rows() == inputs + 1 && o.trend_covariance.cols() == inputs + 1)) &&
               is_moderate(o.trend_covariance) && std::ranges::all_of(k.lengthscales, is_divisor) && k.signal >= 0 &&
               is_moderate(k.signal) && is_divisor(k.noise) && is_fraction(o.fraction),
           "a number of the neighbours is not usable");
    check_tails(o.tails);
  }
}

void check_neighbours(const ClassNeighbours::Memory& m, Index columns) {
  const auto is_class = [&](Index c) { return c >= 0 && c < m.frequencies.size(); };
  expect(m.scales.size() == columns && m.rows.cols() == columns && m.rows.rows() > 0 &&
             m.rows.rows() == std::ssize(m.classes) && m.scales.allFinite() && m.rows.allFinite() && m.width > 0 &&
             std::isfinite(m.width) && m.doubt > 0 && std::isfinite(m.doubt) && is_fraction(m.fraction) &&
             std::ranges::all_of(m.classes, is_class) &&
             (m.weights.size() == 0 ||
              (m.weights.size() == m.rows.rows() && m.weights.allFinite() && (m.weights.array() >= 0).all())),
         "a number of the neighbours is not usable");
}

}  // namespace

void TableLearner::list(Fields& f, bool whole) {
  f("inputs", inputs_);
  f("outputs", targets_);
  f("directions", directions_.basis);
  if (options_.finds_effects) f.unless_empty("effects", effects_);
  f.unless_empty("counts", counts_);
  f("noise_variance", noise_variance_);
  f("reason", reason_);
  f("frequencies", frequencies_);
  f("frequencies_fraction", frequencies_fraction_);
  std::string sizes = graphs_ ? graphs_->size_reason() : "";
  f("sizes", sizes);
  GraphMixture::Memory graphs;
  if (graphs_) graphs = graphs_->mixture().memory();
  std::vector<std::vector<EpochRecord>> epochs = epochs_;
  if (!whole) {  // a prediction needs neither the state of learning nor members without a posterior
    const auto begun =
        std::ranges::count_if(graphs.members, [](const auto& m) { return m.plain_posterior.has_value(); });
    graphs.members.resize(static_cast<std::size_t>(begun));
    epochs.resize(graphs.members.size());
    for (auto& member : graphs.members) {
      member.plain = member.plain.condensed();
      member.weighted = {};
    }
  }
  f("epochs", epochs);
  f("graphs", graphs);
  std::optional<Neighbours::Memory> nearest;
  if (neighbours_) nearest = neighbours_->memory();
  f("neighbours", nearest);
  std::optional<ClassNeighbours::Memory> nearest_classes;
  if (class_neighbours_) nearest_classes = class_neighbours_->memory();
  f("class_neighbours", nearest_classes);
  if (!f.is_reading()) return;

  const auto columns = static_cast<Index>(options_.inputs);
  expect(inputs_.shift.size() == (options_.features == "none" ? columns : 1) && inputs_.fits(inputs_.shift.size()),
         "shifts and scales do not fit the columns");
  constexpr double kOfLogarithms = std::numeric_limits<double>::min();  // (log_target.h)
  expect(targets_.fits(static_cast<Index>(options_.outputs)) &&
             std::ranges::all_of(targets_.log_from, [](double from) { return from == 0 || from == kOfLogarithms; }),
         "shifts and scales do not fit the targets");
  const Index numbers = number_count();
  check_effects();
  expect(counts_.empty() || (counts_.size() == options_.outputs && options_.count_target && options_.classes == 0 &&
                             std::ranges::all_of(counts_,
                                                 [](const CountNoise& own) {
                                                   return is_divisor(own.exposure) &&
                                                          (own.shape == 0 || is_divisor(own.shape));
                                                 })),
         "the counts do not fit the targets");
  expect(!directions_.used() || (options_.for_size && directions_.basis.rows() == numbers &&
                                 directions_.basis.cols() <= numbers && directions_.basis.allFinite()),
         "the directions do not fit the columns");
  expect(is_plain_text(reason_) && is_plain_text(sizes), "a reason holds control characters");
  constexpr std::size_t kWidest = 100'000, kMostLayers = 100;  // no product of two widths overflows
  expect(graphs.choice.sizes.size() <= kMostLayers &&
             std::ranges::all_of(graphs.choice.sizes, [](std::size_t n) { return n >= 1 && n <= kWidest; }),
         "a size is not usable");
  check_relevance(graphs.choice.relevance, numbers);
  expect(epochs.size() == graphs.members.size(), "the epochs do not fit the members");
  expect(whole || options_.classes > 0 || !noise_variance_.empty(), "there is no noise");  // a fit that ends has one
  make_graphs();
  GraphMixture& mixture = graphs_->mixture();
  mixture.choose(graphs.choice);
  const Index outputs = mixture.model().rows->outputs(), inputs = graphs.lowest.size();
  expect(inputs == static_cast<Index>(this->columns().numbers) + std::ssize(effects_),
         "the range of the inputs does not fit the columns");
  expect(!graphs.simple || mixture.simple() != nullptr, "the graphs have no simple one");
  check_mixture(graphs, MixtureSizes(mixture.model(), mixture.simple(), mixture.model().rows->scalars(), inputs));
  graphs_->restore(std::move(graphs), std::move(sizes));
  expect(targets_.log_from.size() == 0 || (options_.standardise && options_.classes == 0 && is_gaussian()),
         "only standardised numbers have logarithms");
  expect(!nearest || is_gaussian(), "only numbers with Gaussian noise have such neighbours");
  expect(!nearest_classes || options_.classes > 0, "only classes have such neighbours");
  if (nearest) {
    check_neighbours(*nearest, inputs - std::ssize(effects_), outputs);
    neighbours_.emplace(std::move(*nearest));
  }
  if (nearest_classes) {
    nearest_classes->frequencies = frequencies_;
    check_neighbours(*nearest_classes, std::ssize(number_columns()));
    class_neighbours_ = std::make_shared<const ClassNeighbours>(std::move(*nearest_classes));
  }
  epochs_ = std::move(epochs);
  learned_rows_.reset();
  far_.clear();
}

void TableLearner::check_effects() const {
  constexpr std::size_t kMostOfOne = 10;
  const auto is_number = [&](std::size_t column) {
    return column < options_.inputs && (options_.levels.empty() || options_.levels[column] == 0);
  };
  for (const LevelEffects& own : effects_)
    expect(own.column < options_.inputs && own.levels >= 1 &&
               own.levels <= (is_number(own.column) ? own.values.size() : options_.levels[own.column]) &&
               is_number(own.column) == !own.values.empty() && own.slopes.size() <= kMostOfOne &&
               (own.slopes.empty() || !directions_.used()) && std::ranges::all_of(own.slopes, is_number),
           "the effects of values do not fit the columns");
  expect(effects_.size() <= options_.inputs && (effects_.empty() || options_.features == "none"),
         "the effects of values do not fit the columns");
}

void TableLearner::check() const {
  constexpr double kRounding = 1e-9, kLeast = 1e-300, kMost = 1e300;
  expect(is_fraction(frequencies_fraction_), "the fraction of the frequencies is not in [0, 1]");
  const auto classes = static_cast<Index>(options_.classes);
  if (classes > 0)
    expect(frequencies_.size() == classes && frequencies_.allFinite() && (frequencies_.array() > 0).all() &&
               std::abs(frequencies_.sum() - 1) < kRounding,
           "the frequencies do not fit the classes");
  else
    expect(frequencies_.size() == 0 && frequencies_fraction_ == 0, "only classes have frequencies");
  if (classes == 0)
    expect(noise_variance_.size() == options_.outputs || (noise_variance_.empty() && !is_fitted()),
           "noise_variance has not one number for each output");
  for (const double variance : noise_variance_)
    if (!(variance >= kLeast && variance <= kMost))
      fail("a variance of the noise is not between {} and {}", kLeast, kMost);
  for (const auto& member : epochs_)
    for (std::size_t e = 0; e < member.size(); ++e)
      expect(member[e].epoch == static_cast<int>(e) + 1, "the epochs are not counted in their order");
  if (!is_fitted()) return;
  const GraphMixture& mixture = graphs_->mixture();
  check_mixture(mixture.memory(), MixtureSizes(mixture.model(), mixture.simple(), mixture.model().rows->scalars(),
                                               mixture.memory().lowest.size()));
}

std::vector<LearnedVariable> TableLearner::variables() const {
  std::vector<LearnedVariable> all;
  if (!is_fitted()) return all;
  const GraphMixture& mixture = graphs_->mixture();
  for (std::size_t k = 0; k < mixture.memory().members.size(); ++k) {
    const GraphMixture::Member& member = mixture.memory().members[k];
    if (!member.plain_posterior) continue;
    const auto [means, variances] = mixture.marginals(k);
    const Vector prior = mixture.prior_of(k).scaled(member.last().state.scale).cwiseInverse();
    Index at = 0;
    for (const SharedModel::Variable& variable : mixture.model().variables) {
      LearnedVariable own{k, variable.name, variable.rows, variable.columns, {}, {}};
      for (std::size_t i = 0; i < variable.rows * variable.columns; ++i, ++at) {
        own.beliefs.push_back(Gaussian::from_moments(means(at), variances(at)));
        own.prior_variance.push_back(prior(at));
      }
      all.push_back(std::move(own));
    }
  }
  return all;
}

double TableLearner::products_per_row() const {
  constexpr double kNeighbours = 3e5;            // a matrix over the nearest rows, a search
  constexpr double kProductsOfLikelihood = 1e5;  // that is averaged over what is known of its input
  const GraphMixture& mixture = graphs_->mixture();
  const GraphMixture::Memory& memory = mixture.memory();
  const auto outputs = static_cast<double>(mixture.model().rows->outputs());
  double products = neighbours_ ? kNeighbours * outputs : 0;
  if (class_neighbours_) products += static_cast<double>(class_neighbours_->memory().rows.size());
  for (const auto& likelihood : mixture.model().likelihoods)
    products += likelihood && !likelihood->is_class() ? kProductsOfLikelihood : 0;
  const auto of_posterior = [&](const std::optional<SharedPosterior>& own) {
    if (!own) return 0.0;
    const double scalars = static_cast<double>(own->state.mean.size());
    return outputs * scalars *
           (own->rows.size() > 0 ? std::min(scalars, outputs * static_cast<double>(own->rows.rows())) : scalars);
  };
  if (memory.fraction < 1) products += of_posterior(memory.simple);
  for (const GraphMixture::Member& member : memory.members)
    if (memory.fraction > 0) products += of_posterior(member.plain_posterior) + of_posterior(member.weighted_posterior);
  return products;
}

}  // namespace dma
