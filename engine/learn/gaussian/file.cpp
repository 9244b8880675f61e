#include "engine/learn/gaussian/file.h"

#include <algorithm>
#include <cmath>

#include "engine/support/model_file.h"
#include "engine/support/text.h"
#include "engine/support/usable.h"

namespace dma {

namespace {

constexpr double kMostLog = 690;  // logarithm of the largest variance: 1e300
constexpr std::string_view kLearner = "learner";

void check_state(const SharedState& s, Index scalars, std::size_t outputs, Index inputs) {
  expect(s.mean.size() == 0 || s.mean.size() == scalars, "the means of the weights do not fit the layers");
  expect(is_moderate(s.mean) && s.scale.size() > 0 && std::ranges::all_of(s.scale, is_divisor) &&
             is_divisor(s.damping) && s.epoch >= 0 && s.subset >= 0,
         "a number of the learned state is not usable");
  expect(s.noise.size() == outputs || (s.noise.empty() && s.mean.size() == 0), "the noise does not fit the targets");
  for (const LogLinearNoise& n : s.noise)
    expect(n.beta.size() >= 1 && n.beta.size() <= inputs + 1 && n.beta.cwiseAbs().maxCoeff() <= kMostLog &&
               is_divisor(n.precision) && n.lowest <= n.highest && n.highest >= -kMostLog && std::isfinite(n.lowest) &&
               std::isfinite(n.highest),
           "the noise function is not usable");
  if (!s.watch.best.empty()) check_state(s.watch.best[0], scalars, outputs, inputs);
}

}  // namespace

void list_fields(Fields& f, LogLinearNoise& value) {
  f("log_variance", value.beta);
  DMA_LIST(precision, lowest, highest);
}

void list_fields(Fields& f, SharedState::Watch& value) { DMA_LIST(first, flat, reference, best_score, best); }

void list_fields(Fields& f, SharedState& value) { DMA_LIST(epoch, mean, scale, damping, noise, subset, watch); }

void list_fields(Fields& f, StudentTails& value) { DMA_LIST(degrees, scale); }

void list_fields(Fields& f, SharedPosterior& value) {
  DMA_LIST(state, log_evidence, tails, stretch);
  f.triangle("factor", value.factor);
  f("learned_rows", value.rows);
  f("row_weights", value.weights);
}

void list_fields(Fields& f, GraphChoice& value) { DMA_LIST(sizes, smoothing, relevance); }

void list_fields(Fields& f, GraphMixture::Member& value) {
  DMA_LIST(plain, plain_done, weighted, plain_posterior, weighted_posterior, plain_evidence, fraction,
           effective_scalars, determined, since);
}

void list_fields(Fields& f, GraphMixture::Memory& value) {
  DMA_LIST(choice, first_at_mean, fraction);
  f("lowest_inputs", value.lowest);
  f("highest_inputs", value.highest);
  DMA_LIST(simple, members);
}

void check_tails(const StudentTails& t) {
  expect(t.degrees >= StudentTails::kLeastDegrees && std::isfinite(t.degrees) && is_divisor(t.scale),
         "the tails are not usable");
}

void check_row_weights(const Vector& weights, Index rows) {
  expect(weights.size() == 0 || (weights.size() == rows && std::ranges::all_of(weights, is_divisor)),
         "the weights of the rows are not usable");
}

namespace {

void check_posterior(const SharedPosterior& p, Index scalars, Index scales, const MixtureSizes& sizes) {
  const std::size_t outputs = sizes.outputs;
  expect(p.state.mean.size() == scalars && p.state.noise.size() == outputs && p.state.scale.size() == scales,
         "a posterior is not whole");
  check_state(p.state, scalars, outputs, sizes.inputs);
  for (const LogLinearNoise& n : p.state.noise) expect(n.highest <= kMostLog, "the noise function is not usable");
  expect(std::isfinite(p.log_evidence), "the log evidence is not a number");
  expect(p.tails.size() == outputs, "the tails do not fit the targets");
  for (const StudentTails& t : p.tails) check_tails(t);
  expect((p.stretch.empty() || p.stretch.size() == outputs) && std::ranges::all_of(p.stretch, is_divisor),
         "the stretch of a target is not usable");
  expect((p.factor.size() > 0) != (p.rows.size() > 0), "a posterior has neither a factor nor rows, or both");
  expect(p.factor.size() > 0 || sizes.is_gaussian, "a posterior of targets without Gaussian noise has no factor");
  expect(p.factor.size() == 0 || is_factor(p.factor, scalars), "the factor of the precision is not usable");
  expect(p.rows.size() == 0 || (p.rows.cols() == sizes.inputs && is_moderate(p.rows)),
         "the learned rows are not usable");
  check_row_weights(p.weights, p.rows.rows());
}

}  // namespace

MixtureSizes::MixtureSizes(const SharedModel& model, const SharedModel* simple_model, Index own_scalars,
                           Index own_inputs)
    : scalars(own_scalars),
      inputs(own_inputs),
      scales(model.prior.group_count()),
      outputs(static_cast<std::size_t>(model.rows->outputs())),
      is_gaussian(model.likelihoods.empty()) {
  if (simple_model == nullptr) return;
  simple = simple_model->rows->scalars();
  scales_of_simple = simple_model->prior.group_count();
}

void check_mixture(const GraphMixture::Memory& memory, const MixtureSizes& sizes) {
  const auto& [scalars, simple, inputs, scales, scales_of_simple, outputs, is_gaussian] = sizes;
  const auto is_fraction = [](double x) { return x >= 0 && x <= 1; };
  expect(memory.choice.smoothing >= 0 && is_moderate(memory.choice.smoothing), "the smoothing is not usable");
  const Vector& relevance = memory.choice.relevance;
  expect(relevance.size() == 0 ||
             (relevance.size() <= inputs && (relevance.array() > 0).all() && (relevance.array() <= 1).all()),
         "the relevances do not fit the inputs");
  expect(is_fraction(memory.fraction), "the fraction of the graphs is not in [0, 1]");
  expect(memory.lowest.size() == inputs && memory.highest.size() == inputs && is_moderate(memory.lowest) &&
             is_moderate(memory.highest),
         "the range of the inputs does not fit the columns");
  double fractions = 0;
  for (const GraphMixture::Member& member : memory.members) {
    check_state(member.plain, scalars, outputs, inputs);
    check_state(member.weighted, scalars, outputs, inputs);
    if (member.plain_posterior) {
      check_posterior(*member.plain_posterior, scalars, scales, sizes);
      expect(member.plain.noise.size() == outputs, "a member's noise does not fit the targets");
    }
    if (member.weighted_posterior) check_posterior(*member.weighted_posterior, scalars, scales, sizes);
    expect(is_fraction(member.fraction) && std::isfinite(member.effective_scalars) && member.since >= 0 &&
               is_moderate(member.determined),
           "a number of a member is not usable");
    fractions += member.plain_posterior ? member.fraction : 0;
  }
  constexpr double kRounding = 1e-6;
  expect(!memory.members.empty(), "there is no member");
  expect(!memory.members[0].plain_posterior || std::abs(fractions - 1) < kRounding,
         "the fractions of the members do not add up to 1");
  if (memory.simple) check_posterior(*memory.simple, simple, scales_of_simple, sizes);
  expect(memory.fraction == 1 || memory.simple, "the simple graph is missing");
}

void list_fields(Fields& f, SavedLearner& value) { DMA_LIST(shape, examples, frozen, held, mixture); }

// Names and sizes that must be the same in the learner that loads it.
std::string shape_of(const Graph& graph, const RowProgram& program, const std::vector<VariableId>& targets) {
  const auto sizes = [&](const std::vector<VariableId>& variables) {
    Json list = Json::array();
    for (const VariableId v : variables) list.push_back({graph[v].name, graph[v].size});
    return list;
  };
  return json_text(
      Json{{"inputs", sizes(program.inputs())}, {"shared", sizes(program.shared())}, {"targets", sizes(targets)}});
}

std::string learned_text(SavedLearner learner) { return model_file(kLearner, written(learner)); }

SavedLearner learned_from(std::string_view bytes, std::string_view shape) {
  SavedLearner learner;
  read_model(bytes, "the saved learner", {kLearner}, [&](const Json& json) {
    read_into(json, learner);
    if (learner.shape != shape) fail("load: it was saved from another graph: {} instead of {}", learner.shape, shape);
  });
  return learner;
}

}  // namespace dma
