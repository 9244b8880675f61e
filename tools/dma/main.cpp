// dma: the command line. Wrong input gives one line on standard error and exit code 2.
#include "tools/dma/commands/commands.h"

int main(int count, char** arguments) {
  dma::prepare_process();
  return dma::run_program(dma::dma_program(), count, arguments);
}
