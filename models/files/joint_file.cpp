#include "models/files/joint_file.h"

#include <algorithm>
#include <cmath>

#include "engine/learn/joint/posterior.h"
#include "engine/support/error.h"
#include "engine/support/fields.h"
#include "engine/support/text.h"
#include "engine/support/usable.h"
#include "models/table/relevance.h"

namespace dma {

void list_fields(Fields& f, LogLinearNoise& n) {
  f("log_variance", n.beta);
  f("precision", n.precision);
  f("lowest", n.lowest);
  f("highest", n.highest);
}

void list_fields(Fields& f, SharedState::Watch& w) {
  f("first", w.first);
  f("flat", w.flat);
  f("reference", w.reference);
  f("best_score", w.best_score);
  f("best", w.best);
}

void list_fields(Fields& f, SharedState& s) {
  f("epoch", s.epoch);
  f("mean", s.mean);
  f("scale", s.scale);
  f("damping", s.damping);
  f("noise", s.noise);
  f("subset", s.subset);
  f("watch", s.watch);
}

void list_fields(Fields& f, StudentTails& t) {
  f("degrees", t.degrees);
  f("scale", t.scale);
}

void list_fields(Fields& f, SharedPosterior& p) {
  f("state", p.state);
  f("log_evidence", p.log_evidence);
  f("tails", p.tails);
  f("stretch", p.stretch);
  f.triangle("factor", p.factor);
  f("learned_rows", p.rows);
  f("row_weights", p.weights);
}

void list_fields(Fields& f, JointRegression::Member& m) {
  f("plain", m.plain);
  f("plain_done", m.plain_done);
  f("weighted", m.weighted);
  f("plain_posterior", m.plain_posterior);
  f("weighted_posterior", m.weighted_posterior);
}

void list_fields(Fields& f, JointRegression::Memory& m) {
  f("network_fraction", m.network_fraction);
  f("lowest_inputs", m.lowest);
  f("highest_inputs", m.highest);
  f("smoothing", m.smoothing);
  f("relevance", m.relevance);
  f("width", m.width_reason);
  f("linear", m.baseline);
  f("members", m.members);
}

void list_fields(Fields& f, Neighbours::Output& o) {
  f("fraction", o.fraction);
  f("trend", o.trend);
  f("trend_covariance", o.trend_covariance);
  f("lengthscales", o.kernel.lengthscales);
  f("signal", o.kernel.signal);
  f("noise", o.kernel.noise);
  f("tails", o.tails);
}

void list_fields(Fields& f, Neighbours::Memory& m) {
  f("rows", m.rows);
  f("targets", m.targets);
  f("outputs", m.outputs);
  f("row_weights", m.weights);
}

void check_neighbours(const BnnOptions& options, const Neighbours::Memory& memory) {
  const auto inputs = static_cast<Index>(options.layers.front()), outputs = static_cast<Index>(options.layers.back());
  expect(memory.rows.cols() == inputs && memory.targets.cols() == outputs && memory.rows.rows() > 0 &&
             memory.rows.rows() == memory.targets.rows() && is_moderate(memory.rows) && is_moderate(memory.targets),
         "the rows of the neighbours do not fit the layers");
  check_row_weights(memory.weights, memory.rows.rows());
  expect(memory.outputs.size() == options.layers.back(), "the neighbours do not fit the targets");
  for (const Neighbours::Output& o : memory.outputs) {
    const NeighbourKernel& k = o.kernel;
    expect(o.trend.size() == inputs + 1 && is_moderate(o.trend) && k.lengthscales.size() == inputs &&
               (o.trend_covariance.size() == 0 ||
                (o.trend_covariance.rows() == inputs + 1 && o.trend_covariance.cols() == inputs + 1)) &&
               is_moderate(o.trend_covariance) && std::ranges::all_of(k.lengthscales, is_divisor) && k.signal >= 0 &&
               is_moderate(k.signal) && is_divisor(k.noise) && o.fraction >= 0 && o.fraction <= 1,
           "a number of the neighbours is not usable");
    check_tails(o.tails);
  }
}

void check_joint_memory(const BnnOptions& options, const JointRegression::Memory& memory) {
  const bool whole = options.is_joint();  // otherwise the linear baseline of a network with messages
  const std::vector<std::size_t> layers =
      whole ? options.layers : std::vector{options.layers.front(), options.layers.back()};
  const std::size_t outputs = options.layers.back();
  const auto inputs = static_cast<Index>(options.layers.front());
  expect(memory.smoothing == -1 || (memory.smoothing >= 0 && is_moderate(memory.smoothing)),
         "the smoothing is not usable");
  const Vector& relevance = memory.relevance;
  const std::size_t seen = relevance.size() > 0 ? inputs_that_matter(relevance).size() : layers.front();
  expect(relevance.size() == 0 || (relevance.size() == inputs && (relevance.array() > 0).all() &&
                                   (relevance.array() <= 1).all() && seen > 0),
         "the relevances do not fit the inputs");
  Index scalars = 0;
  for (std::size_t l = 0; l + 1 < layers.size(); ++l)
    scalars += static_cast<Index>(layers[l + 1] * ((l == 0 ? seen : layers[l]) + (options.bias || !whole ? 1 : 0)));
  expect(is_plain_text(memory.width_reason), "the reason for the width holds control characters");
  expect(memory.network_fraction >= 0 && memory.network_fraction <= 1, "the network's fraction is not in [0, 1]");
  expect(memory.members.size() == (whole ? std::max<std::size_t>(1, options.members) : 1),
         "the number of jointly learned members is contradictory");
  expect(memory.lowest.size() == inputs && memory.highest.size() == inputs && is_moderate(memory.lowest) &&
             is_moderate(memory.highest),
         "the range of the inputs does not fit the first layer");
  for (const auto& member : memory.members) {
    check_state(member.plain, scalars, outputs, inputs);
    check_state(member.weighted, scalars, outputs, inputs);
    if (member.plain_posterior) {
      check_posterior(*member.plain_posterior, scalars, outputs, inputs);
      expect(member.plain.noise.size() == outputs, "a member's noise does not fit the targets");
    }
    if (member.weighted_posterior) check_posterior(*member.weighted_posterior, scalars, outputs, inputs);
  }
  if (memory.baseline) check_posterior(*memory.baseline, static_cast<Index>(outputs) * (inputs + 1), outputs, inputs);
  expect(memory.network_fraction == 1 || memory.baseline || (!whole && memory.members[0].plain_posterior),
         "the linear model is missing");
}

}  // namespace dma
