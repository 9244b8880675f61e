// Members of the file of a MessageNetwork, and its learned variables.
#include <algorithm>
#include <cmath>
#include <set>

#include "engine/learn/gaussian/file.h"
#include "engine/support/text.h"
#include "engine/support/usable.h"
#include "models/network/message_network.h"
#include "models/table/relevance.h"

namespace dma {

void list_fields(Fields& f, LayerPrior& p) {
  f.packed("mean", p.mean);
  f.packed("variance", p.variance);
}

namespace {

struct SavedMember {
  std::vector<double> noise_variance;
  std::vector<LayerPrior> priors;
  LearnMemory learned;
};

void list_fields(Fields& f, SavedMember& value) { DMA_LIST(noise_variance, priors, learned); }

// Every belief must be proper: prior precision plus stored precisions. A single stored message may lack precision only
// by rounding.
void check_messages(const LearnMemory& learned, std::size_t batches, const std::vector<double>& prior_precision) {
  const auto is_finite = [](double value) { return std::isfinite(value); };
  expect(learned.tau.empty() || learned.tau.size() == batches,
         "the number of stored messages is not the number of batches");
  for (std::size_t b = 0; b < learned.tau.size(); ++b) {
    expect(learned.tau[b].size() == prior_precision.size() && learned.rho[b].size() == prior_precision.size(),
           "the messages do not fit the layers");
    expect(std::ranges::all_of(learned.rho[b], is_finite) && std::ranges::all_of(learned.tau[b], is_finite),
           "a message is not a usable number");
  }
  constexpr double kRounding = 1e-6;
  for (std::size_t i = 0; i < prior_precision.size(); ++i) {
    double precision = prior_precision[i], least = 0;
    for (const auto& rho : learned.rho) {
      precision += rho[i];
      least = std::min(least, rho[i]);
    }
    expect(precision > 0 && !(least < -kRounding * precision), "a precision is negative");
  }
  for (std::size_t e = 0; e < learned.epochs.size(); ++e)
    expect(learned.epochs[e].epoch == static_cast<int>(e) + 1, "the epochs are not counted in their order");
}

void check_noise(const std::vector<double>& variances, std::size_t outputs) {
  constexpr double kLeast = 1e-300, kMost = 1e300;  // a fit that goes on squares, divides and multiplies it
  expect(variances.size() == outputs, "noise_variance has not one number for each output");
  for (const double variance : variances)
    if (!(variance >= kLeast && variance <= kMost))
      fail("a variance of the noise is not between {} and {}", kLeast, kMost);
}

void check_priors(const std::vector<LayerPrior>& priors, const BnnOptions& options) {
  const auto& layers = options.layers;
  expect(priors.size() == layers.size() - 1, "the number of priors is not the number of layers");
  for (std::size_t l = 0; l + 1 < layers.size(); ++l) {
    const std::size_t expected = layers[l + 1] * (layers[l] + (options.bias ? 1 : 0));
    expect(priors[l].mean.size() == expected && priors[l].variance.size() == expected,
           "the priors do not fit the layers");
    // Variance 0 is a weight known exactly, +inf one of which nothing is known.
    expect(std::ranges::all_of(priors[l].variance, [](double v) { return v >= 0; }) &&
               std::ranges::all_of(priors[l].mean, [](double m) { return is_moderate(m); }),
           "a prior is not a usable number");
  }
}

}  // namespace

void MessageNetwork::list(Fields& f, bool whole) {
  std::vector<SavedMember> saved;
  if (!f.is_reading())
    for (std::size_t k = 0; k < members_.size(); ++k) {
      const Member& member = members_[k];
      saved.push_back({member.noise_variance, member.priors,
                       whole               ? member.learner->whole_memory()
                       : gathered_.empty() ? member.learner->condensed_memory()
                                           : gathered_.at(k)});
    }
  std::optional<GraphMixture::Memory> linear;
  if (linear_) linear = linear_->mixture().memory();
  f("inputs", inputs_);
  f("outputs", targets_);
  f("noise_variance", noise_variance_);
  f("members", saved);
  f("fraction", fraction_);
  f("linear", linear);
  if (!f.is_reading()) return;

  const std::size_t outputs = options_.layers.back();
  for (const Standardiser* s : {&inputs_, &targets_})
    expect(s->fits(s->shift.size()), "shifts and scales do not fit the columns, or are no usable numbers");
  expect(targets_.log_from.size() == 0, "a target has a logarithmic scale");
  expect(features_.outputs(static_cast<std::size_t>(inputs_.shift.size())) == options_.layers.front(),
         "the shifts of the inputs do not fit the first layer");
  expect(static_cast<std::size_t>(targets_.shift.size()) == outputs,
         "the shifts of the targets do not fit the last layer");
  check_noise(noise_variance_, outputs);
  expect(saved.size() == std::max<std::size_t>(1, options_.members), "the number of members is contradictory");
  expect(fraction_ >= 0 && fraction_ <= 1, "the network's fraction is not in [0, 1]");
  expect(linear ? options_.linear_baseline : fraction_ == 1, "the linear model is missing, or nobody asked for it");
  members_.clear();
  for (SavedMember& own : saved) {
    check_noise(own.noise_variance, outputs);
    check_priors(own.priors, options_);
    std::vector<double> precision;
    for (const LayerPrior& prior : own.priors)
      for (const double variance : prior.variance) precision.push_back(1 / variance);
    check_messages(own.learned, batches_, precision);
    Member& member = members_.emplace_back();
    member.priors = std::move(own.priors);
    member.noise_variance = std::move(own.noise_variance);
    make_learner(member, go_on_with_.value_or(LearnOptions{.batches = 1}));
    if (!own.learned.tau.empty()) member.learner->restore(std::move(own.learned));
  }
  learned_rows_.reset();
  if (!linear) return;
  make_linear();
  GraphMixture& mixture = linear_->mixture();
  const auto columns = static_cast<Index>(options_.layers.front());
  expect(linear->choice.sizes.empty(), "the linear model has hidden layers");
  check_relevance(linear->choice.relevance, columns);
  mixture.choose(linear->choice);
  check_mixture(*linear, MixtureSizes(mixture.model(), nullptr, mixture.model().rows->scalars(), columns));
  mixture.restore(std::move(*linear));
}

void MessageNetwork::check() const { check_noise(noise_variance_, options_.layers.back()); }

void MessageNetwork::go_on_with(const LearnOptions& options, std::size_t batches) {
  go_on_with_ = options;
  batches_ = batches;
}

std::vector<LearnedVariable> MessageNetwork::variables() const {
  std::vector<LearnedVariable> all;
  for (std::size_t k = 0; k < members_.size(); ++k) {
    const Member& member = members_[k];
    for (std::size_t l = 0; l + 1 < options_.layers.size(); ++l) {
      std::size_t first = 0;
      for (const BnnGraph::Learned& learned : member.net.learned(l)) {
        const auto& variable = member.net.graph[learned.variable];
        const std::size_t rows = options_.layers[l + 1], columns = variable.size / rows;
        LearnedVariable own{k, variable.name, rows, columns, {}, {}};
        const Belief belief = member.learner->belief(learned.variable);
        for (std::size_t i = 0; i < belief.size(); ++i) {
          own.beliefs.push_back(belief[i]);
          own.prior_variance.push_back(member.priors[l].variance[first + i]);
        }
        first += belief.size();
        all.push_back(std::move(own));
      }
    }
  }
  return all;
}

double MessageNetwork::products_per_row() const {
  constexpr double kProductsPerMessage = 100;
  double weights = 0;
  for (const LayerPrior& prior : members_[0].priors) weights += static_cast<double>(prior.mean.size());
  return kProductsPerMessage * static_cast<double>(members_.size()) * weights;
}

}  // namespace dma
