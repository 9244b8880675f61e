// dma-lab: the experiments, as commands.
#include "tools/experiments/commands/commands.h"

int main(int count, char** arguments) {
  dma::prepare_process();
  return dma::run_program(dma::lab_program(), count, arguments);
}
