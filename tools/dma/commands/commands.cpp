#include "tools/dma/commands/commands.h"

namespace dma {

namespace {

void add_commands(Command root, const std::string& line) {
  root.footer(
      "Example:\n  dma fit data.csv --target y --model model.json --plot fit.svg\nMore: dma fit --help, or man "
      "dma-fit");
  add_fit_command(root, line);
  add_predict_command(root);
  add_infer_command(root, line);
  add_smooth_command(root, line);
  add_rate_command(root);
  add_inspect_command(root);
  add_generate_command(root);
  add_factors_command(root);
  add_certify_command(root);
  add_completion_command(root);
}

}  // namespace

Program dma_program() {
  return {"dma", "Factor-graph inference by message passing: Bayesian neural networks from tables of numbers",
          add_commands};
}

}  // namespace dma
