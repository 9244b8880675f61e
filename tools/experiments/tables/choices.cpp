#include "tools/experiments/tables/choices.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "models/table/prediction.h"
#include "models/table/standardiser.h"
#include "tools/experiments/paper/thread_seconds.h"

namespace dma::uci {

namespace {

using Options = JointRegressionOptions;

constexpr Index kUnits = 50;

void set_layers(Options& options, std::vector<Index> hidden) {
  std::vector<Index> layers = {options.shape.layers.front()};
  layers.insert(layers.end(), hidden.begin(), hidden.end());
  layers.push_back(options.shape.layers.back());
  options.shape.layers = std::move(layers);
  options.shape.slopes.assign(hidden.size(), 0.1);
}

std::vector<Choice> make_choices() {
  using Share = Options::Share;
  std::vector<Choice> all = {
      {"default", [](Options&) {}},
      {"exponent 0.5", [](Options& o) { o.weight_exponent = 0.5; }},
      {"exponent 1", [](Options& o) { o.weight_exponent = 1; }},
      {"plain fit alone", [](Options& o) { o.share = Share::plain; }},
      {"weighted fit alone", [](Options& o) { o.share = Share::weighted; }},
      {"half of each fit", [](Options& o) { o.share = Share::half; }},
      {"constant noise", [](Options& o) { o.noise_model = NoiseModel::constant; }},
      {"no tails", [](Options& o) { o.tails = false; }},
      {"epochs 30 + 20", [](Options& o) { o.epochs = 30, o.weighted_epochs = 20; }},
      {"epochs 120 + 80", [](Options& o) { o.epochs = 120, o.weighted_epochs = 80; }},
      {"rival by left-out rows", [](Options& o) { o.rival_by = Options::RivalBy::left_out; }},
      {"rival by evidence", [](Options& o) { o.rival_by = Options::RivalBy::evidence; }},
      {"no rival", [](Options& o) { o.linear_rival = false; }},
      {"one member", [](Options& o) { o.members = 1; }},
      {"four members", [](Options& o) { o.members = 4; }},
      {"not anchored", [](Options& o) { o.anchored = false; }},
  };
  for (const double jitter : {0.5, 0.2, 1.0})
    all.push_back({fmt::format("jitter {}", jitter), [jitter](Options& o) { o.choose_jitter = false, o.shape.jitter = jitter; }});
  all.push_back({"hidden 50,50", [](Options& o) { set_layers(o, {kUnits, kUnits}); }});
  return all;
}

struct Selection {
  std::string name;
  std::vector<std::string> among;
  bool by_evidence;
};

const std::vector<Selection>& selections() {
  static const std::vector<Selection> kAll = {
      {"jitter by evidence", {"jitter 0.5", "jitter 0.2", "jitter 1"}, true},
      {"jitter by left-out rows", {"jitter 0.5", "jitter 0.2", "jitter 1"}, false},
      {"depth by evidence", {"default", "hidden 50,50"}, true},
      {"depth by left-out rows", {"default", "hidden 50,50"}, false},
  };
  return kAll;
}

struct Mean {
  double value = 0, error = 0;
};

Mean mean_of(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  Mean m;
  for (const double v : values) m.value += v / count;
  for (const double v : values) m.error += (v - m.value) * (v - m.value);
  m.error = values.size() > 1 ? std::sqrt(m.error / (count - 1) / count) : 0;
  return m;
}

}  // namespace

const std::vector<Choice>& choices() {
  static const std::vector<Choice> kAll = make_choices();
  return kAll;
}

ChoiceScore score_choice(const Choice& choice, const ScoredTable& table, std::uint64_t seed) {
  const Standardiser of_inputs = Standardiser::of(table.inputs), of_targets = Standardiser::of(table.targets);
  Options options{.shape = {.layers = {table.inputs.cols(), kUnits, table.targets.cols()}, .slopes = {0.1}}};
  options.seed = seed;
  choice.change(options);
  const double start = thread_seconds();
  JointRegression model(options);
  const Matrix targets = of_targets.apply(table.targets);
  model.fit({of_inputs.apply(table.inputs), targets});
  const auto predict = [&](std::vector<PredictionComponent> components) {
    return Prediction::mix(std::move(components)).in_units_before(of_targets);
  };
  ChoiceScore score;
  score.scores = scores_of(predict(model.predict(of_inputs.apply(table.scored_inputs))), table.scored_targets).at(0);
  score.left_out = predict(model.left_out()).log_density(table.targets).mean();
  score.evidence = -1e300;
  for (const auto& member : model.memory().members) score.evidence = std::max(score.evidence, member.plain_evidence);
  score.seconds = thread_seconds() - start;
  return score;
}

void add_selections(ChoiceScores& all) {
  for (const Selection& selection : selections()) {
    std::vector<std::size_t> among;
    for (std::size_t c = 0; c < all.tried.size(); ++c)
      if (std::ranges::find(selection.among, all.tried[c].name) != selection.among.end()) among.push_back(c);
    if (among.size() < selection.among.size()) continue;  // not all of them were tried
    for (auto& table : all.scores)
      for (auto& split : table) {
        const std::size_t best = *std::ranges::max_element(
            among, {}, [&](std::size_t c) { return selection.by_evidence ? split[c].evidence : split[c].left_out; });
        ChoiceScore taken = split[best];
        taken.seconds = 0;
        for (const std::size_t c : among) taken.seconds += split[c].seconds;
        split.push_back(taken);
      }
    all.tried.push_back({selection.name, {}});
  }
}

std::string choices_text(const ChoiceScores& all) {
  std::string text;
  for (std::size_t t = 0; t < all.tables.size(); ++t) {
    const auto& splits = all.scores[t];
    text += fmt::format("\n{} ({} fits each)\n{:<26}{:>22}{:>12}{:>10}{:>10}{:>9}\n", all.tables[t], splits.size(), "",
                        "log-lik - default", "RMSE ratio", "coverage", "left out", "CPU s");
    for (std::size_t c = 0; c < all.tried.size(); ++c) {
      std::vector<double> gain, ratio, coverage, left_out, seconds;
      for (const auto& split : splits) {
        const ChoiceScore &own = split[c], &first = split[0];
        gain.push_back(own.scores.log_likelihood - (c == 0 ? 0 : first.scores.log_likelihood));
        ratio.push_back(c == 0 ? own.scores.rmse : own.scores.rmse / std::max(first.scores.rmse, 1e-300));
        coverage.push_back(own.scores.coverage_95);
        left_out.push_back(own.left_out);
        seconds.push_back(own.seconds);
      }
      const Mean g = mean_of(gain);
      text += fmt::format("{:<26}{:>+13.4f} +- {:.4f}{:>12.4f}{:>10.3f}{:>+10.3f}{:>9.2f}{}\n", all.tried[c].name, g.value, g.error,
                          mean_of(ratio).value, mean_of(coverage).value, mean_of(left_out).value, mean_of(seconds).value,
                          c == 0 ? "   (log-likelihood and RMSE themselves)" : "");
    }
  }
  return text;
}

}  // namespace dma::uci
