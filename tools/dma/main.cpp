// dma: the command line. Wrong input gives one line on standard error and exit code 2.
#if __has_include(<malloc.h>)
#include <malloc.h>
#endif

#include <csignal>

#include "tools/dma/io/standard_streams.h"
#include "tools/dma/program.h"

int main(int count, char** arguments) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow any more is an error like a full disk
#ifdef M_MMAP_THRESHOLD
  // The matrices of every epoch are returned and asked for again: pages that go back to the system in between must be cleared anew, an
  // eighth of the time of a small table.
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 128 << 20);
#endif
  dma::open_standard_streams();
  return dma::run_program(count, arguments);
}
