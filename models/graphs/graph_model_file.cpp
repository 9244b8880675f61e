// A learned graph as text, and back.
#include <nlohmann/json.hpp>

#include "engine/support/error.h"
#include "engine/support/fields.h"
#include "engine/support/text.h"
#include "engine/support/usable.h"
#include "models/files/bnn_file.h"
#include "models/files/classifier_file.h"
#include "models/files/model_file.h"
#include "models/graphs/graph_model.h"

namespace dma {

Json to_json(const JointLearnOptions& o) {
  return {{"learn_noise", o.learn_noise},
          {"noise_by_inputs", o.noise_by_inputs},
          {"tails", o.tails},
          {"learn_scale", o.learn_scale},
          {"starts", o.starts},
          {"epochs", o.epochs},
          {"seed", o.seed}};
}

std::string graph_model_text(const GraphModel& model) {
  Json json;
  json["inputs"] = model.inputs();
  json["targets"] = model.target_names();
  json["options"] = to_json(model.options());
  json["training"] = {{"rows", model.training.rows},
                      {"held_out_rows", model.training.held_out_rows},
                      {"report", model.training.line},
                      {"left_out", written(model.training.left_out)},
                      {"held_out", written(model.training.held_out)}};
  if (model.has_classes()) {
    json["classes"] = model.classes();
    json["training"]["left_out"] = written(model.training.left_out_classes);
    json["training"]["held_out"] = written(model.training.held_out_classes);
  }
  json["graph"] = parse_json(graph_text(model.file()));
  json["learned"] = parse_json(model.learner_->save());
  return model_file(model_kinds::kGraph, json);
}

GraphModel graph_model_from(std::string_view text, std::string_view source, const Registry& registry) {
  std::unique_ptr<GraphModel> model;
  read_model(text, source, {model_kinds::kGraph}, [&](const Json& json) {
    const Json& o = json.at("options");
    JointLearnOptions options{.epochs = whole<int>(o, "epochs"),
                              .learn_noise = o.at("learn_noise").get<bool>(),
                              .noise_by_inputs = o.at("noise_by_inputs").get<bool>(),
                              .tails = o.at("tails").get<bool>(),
                              .learn_scale = o.at("learn_scale").get<bool>(),
                              .starts = whole<std::size_t>(o, "starts"),
                              .seed = whole<std::uint64_t>(o, "seed")};
    model = std::make_unique<GraphModel>(parse_graph(json_text(json.at("graph"))), registry,
                                         json.at("targets").get<std::vector<std::string>>(), std::move(options));
    if (json.at("inputs").get<std::vector<std::string>>() != model->inputs())
      fail("its inputs are not those of its graph");
    const Json& t = json.at("training");
    model->training = {
        whole<std::size_t>(t, "rows"), whole<std::size_t>(t, "held_out_rows"), t.at("report").get<std::string>(), {}};
    model->learner_->load(json_text(json.at("learned")));
    expect(is_plain_text(model->training.line), "its report holds control characters");
    // One for each target, or none.
    const auto read_scores = [&](auto& left_out, auto& held_out) {
      for (const auto& [name, scores] : {std::pair("left_out", &left_out), {"held_out", &held_out}}) {
        read_into(t.at(name), *scores);
        for (const auto& one : *scores) check_scores(one);
        expect(scores->empty() || scores->size() == (model->has_classes() ? 1 : model->targets().size()),
               "its scores are not those of its targets");
      }
    };
    if (model->has_classes()) {
      model->classes_ = json.at("classes").get<std::vector<std::string>>();
      if (static_cast<Index>(model->classes_.size()) != model->program().outputs())
        fail("its classes are not those of its graph");
      for (const std::string& name : model->classes_) expect(is_plain_text(name), "a class holds control characters");
      read_scores(model->training.left_out_classes, model->training.held_out_classes);
    } else {
      read_scores(model->training.left_out, model->training.held_out);
    }
  });
  return std::move(*model);
}

}  // namespace dma
