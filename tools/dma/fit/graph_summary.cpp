#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "engine/support/text.h"
#include "tools/dma/fit/summary.h"

namespace dma {

namespace {

constexpr std::size_t kMostShown = 40;

template <class AnyScores>
void add_scores(const char* what, const GraphModel& model, const std::vector<AnyScores>& scores, std::string& text) {
  for (std::size_t k = 0; k < scores.size(); ++k)
    text += fmt::format("{}  {}: {}\n", what, printable(model.targets()[k]), scores_text(scores[k]));
}

}  // namespace

std::string summary_text(const GraphModel& model) {
  const std::vector<GraphModel::Learned> beliefs = model.beliefs();
  std::string text =
      fmt::format("graph     {} factors, {} shared scalars\n", model.file().graph.factors().size(), beliefs.size());
  text += fmt::format("inputs    {}\n", printable(joined(model.inputs())));
  for (std::size_t k = 0; k < model.targets().size(); ++k)
    text += fmt::format("target    {}, {}\n", printable(model.targets()[k]), model.likelihood(k));
  text += fmt::format("training  {} rows, {}\n", model.training.rows, model.training.line);
  add_scores("left out", model, model.training.left_out, text);
  add_scores("held out", model, model.training.held_out, text);
  add_scores("left out", model, model.training.left_out_classes, text);
  add_scores("held out", model, model.training.held_out_classes, text);
  for (std::size_t i = 0; i < beliefs.size() && i < kMostShown; ++i)
    text += fmt::format("learned   {} = {:.4g} +- {:.2g}\n", printable(beliefs[i].name), beliefs[i].belief.mean(),
                        beliefs[i].belief.sd());
  if (beliefs.size() > kMostShown)
    text += fmt::format("learned   ... and {} more (--json has all)\n", beliefs.size() - kMostShown);
  return text;
}

Json summary_json(const GraphModel& model) {
  Json json{{"inputs", model.inputs()}, {"targets", Json::array()}, {"learned", Json::object()}};
  const GraphModel::Training& t = model.training;
  for (std::size_t k = 0; k < model.targets().size(); ++k) {
    Json target{{"name", model.targets()[k]}, {"likelihood", model.likelihood(k)}};
    if (model.has_classes()) target["classes"] = model.classes();
    const auto add = [&](const char* name, const auto& scores) {
      if (k < scores.size()) target[name] = to_json(scores[k]);
    };
    add("left_out", t.left_out), add("held_out", t.held_out);
    add("left_out", t.left_out_classes), add("held_out", t.held_out_classes);
    json["targets"].push_back(std::move(target));
  }
  for (const auto& [name, belief] : model.beliefs())
    json["learned"][name] = {{"mean", json_number(belief.mean())}, {"sd", json_number(belief.sd())}};
  json["rows"] = model.training.rows;
  json["held_out_rows"] = model.training.held_out_rows;
  json["training"] = model.training.line;
  json["options"] = to_json(model.options());
  json["program"] = describe(model.program());
  return json;
}

}  // namespace dma
