// dma inspect: what is inside a model file.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "engine/support/text.h"
#include "tools/dma/commands/commands.h"
#include "tools/dma/fit/learn.h"
#include "tools/dma/fit/summary.h"
#include "tools/dma/io/write_file.h"
#include "tools/dma/page/fit_figures.h"
#include "tools/dma/pictures/hinton_figure.h"
#include "tools/dma/pictures/svg.h"

namespace dma {

namespace {

struct InspectRequest {
  std::filesystem::path model, plot, plot_training;
  bool json = false;
};

void inspect(const InspectRequest& request) {
  const TableModel model = load_model(request.model);
  if (!request.plot.empty() && model.own_graph() != nullptr)
    fail("--plot: '{}' is a learned graph, which has no such picture; leave the option out", request.model.string());
  for (const auto* picture : {&request.plot, &request.plot_training}) plot::check_picture(*picture);
  check_outputs({{"--plot", request.plot}, {"--plot-training", request.plot_training}}, {{"model", request.model}});
  const std::vector<LayerOfWeights> layers = layers_of(model);
  if (request.json) {
    Json json = summary_json(model);
    if (!layers.empty()) json["layers"] = layers_json(layers);
    fmt::print("{}", readable(json));
  } else {
    fmt::print("{}{}", summary_text(model), layers.empty() ? "" : "\n" + layers_text(layers));
    for (const std::string& line : honest_sentences(model)) fmt::print("\n{}\n", line);
  }
  if (!request.plot.empty()) plot::draw_picture(hinton_figure(model.method()), request.plot);
  if (!request.plot_training.empty()) plot::draw_picture(training_figure(model.curves()), request.plot_training);
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
