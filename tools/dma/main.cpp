// dma: the command line. Wrong input gives one line on standard error and exit code 2.
#include <csignal>

#include "tools/dma/program.h"
#include "tools/dma/standard_streams.h"

int main(int count, char** arguments) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow any more is an error like a full disk
  dma::open_standard_streams();
  return dma::run_program(count, arguments);
}
