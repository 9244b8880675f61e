#include "tools/experiments/commands/commands.h"

namespace dma {

namespace {

void add_lab_commands(Command root, const std::string&) {
  root.footer("Example:\n  dma-lab reproduce all --quick --out out/reproduce\nMore: dma-lab reproduce --help");
  add_reproduce_command(root);
  add_uci_command(root);
  add_classify_command(root);
  add_honesty_command(root);
  add_compare_command(root);
  add_scaling_command(root);
}

}  // namespace

Program lab_program() {
  return {"dma-lab",
          "Experiments with dma: the paper's figures and tables, real data, promises beside what is measured",
          add_lab_commands};
}

}  // namespace dma
