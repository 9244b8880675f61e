// dma inspect: what is inside a model file.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/support/error.h"
#include "tools/dma/commands/commands.h"
#include "tools/dma/fit/classifier_summary.h"
#include "tools/dma/fit/graph_summary.h"
#include "tools/dma/fit/model_summary.h"
#include "tools/dma/io/model_file.h"
#include "tools/dma/io/standard_streams.h"
#include "tools/dma/io/write_file.h"
#include "tools/dma/pictures/fit_figures.h"
#include "tools/dma/pictures/hinton_figure.h"
#include "tools/dma/pictures/svg.h"

namespace dma {

namespace {

struct InspectRequest {
  std::filesystem::path model, plot, plot_training;
  bool json = false;
};

void check_inspect_files(const InspectRequest& request) {
  for (const auto* picture : {&request.plot, &request.plot_training}) plot::check_picture(*picture);
  check_outputs({{"--plot", request.plot}, {"--plot-training", request.plot_training}}, {{"model", request.model}});
}

void inspect_classifier(const InspectRequest& request, const SavedClassifier& saved) {
  if (!request.plot_training.empty())
    fail("--plot-training: '{}' is a classifier, which keeps no curve of its training; leave the option out",
         request.model.string());
  check_inspect_files(request);
  std::optional<plot::Figure> figure;
  if (!request.plot.empty()) figure = hinton_figure(make_classifier(saved));
  if (request.json) {
    Json json = summary_json(saved);
    json["layers"] = weights_json(saved);
    fmt::print("{}", readable(json));
  } else {
    fmt::print("{}\n{}\n{}\n", summary_text(saved), weights_text(saved), honest_sentence(saved));
  }
  if (figure) plot::draw_picture(*figure, request.plot);
}

void inspect_network(const InspectRequest& request, const SavedBnn& saved) {
  const Bnn net = make_bnn(saved);
  check_inspect_files(request);
  if (request.json) {
    Json json = summary_json(saved);
    json["layers"] = weights_json(net);
    fmt::print("{}", readable(json));
  } else {
    fmt::print("{}\n{}", summary_text(saved), weights_text(net));
  }
  if (!request.plot.empty()) plot::draw_picture(hinton_figure(net), request.plot);
  if (!request.plot_training.empty())
    plot::draw_picture(training_figure(training_curves(saved)), request.plot_training);
}

void inspect_graph(const InspectRequest& request, const GraphModel& model) {
  for (const auto& [option, file] : {std::pair("--plot", &request.plot), {"--plot-training", &request.plot_training}})
    if (!file->empty())
      fail("{}: '{}' is a learned graph, which has no such picture; leave the option out", option,
           request.model.string());
  fmt::print("{}", request.json ? readable(summary_json(model)) : summary_text(model));
}

void inspect(const InspectRequest& request) {
  const auto model = load_model(request.model);
  if (const auto* classifier = std::get_if<SavedClassifier>(&model))
    inspect_classifier(request, *classifier);
  else if (const auto* graph = std::get_if<GraphModel>(&model))
    inspect_graph(request, *graph);
  else
    inspect_network(request, std::get<SavedBnn>(model));
}

}  // namespace

void add_inspect_command(Command app) {
  auto request = std::make_shared<InspectRequest>();
  const Command command = app.add_subcommand("inspect", "Show layers, weights, noise and training record of a model");
  command.footer(
      "Example:\n"
      "  dma inspect model.json --plot hinton.svg\n"
      "The table has one row per layer: root mean square of the posterior means, of the posterior and of the prior "
      "standard\n"
      "deviations, and the fraction of weights whose mean is more than two standard deviations from 0.");
  command.add_option("model", request->model, "model file of dma fit, or a checkpoint").required();
  command.add_option("--plot", request->plot, "Hinton diagram of the weights, .svg");
  command.add_option("--plot-training", request->plot_training, "picture of the training curve, .svg");
  command.add_flag("--json", request->json, "print JSON");
  command.callback([request] { inspect(*request); });
}

}  // namespace dma
