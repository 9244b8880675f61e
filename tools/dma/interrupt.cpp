#include "tools/dma/interrupt.h"

namespace dma {

namespace {

volatile std::sig_atomic_t interrupted = 0;  // a signal handler can reach nothing else

void note_interrupt(int) { interrupted = 1; }

}  // namespace

InterruptWatch::InterruptWatch() {
  interrupted = 0;
  struct sigaction action = {};
  action.sa_handler = &note_interrupt;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigaction(SIGINT, &action, &old_interrupt_);
  sigaction(SIGTERM, &action, &old_terminate_);
}

InterruptWatch::~InterruptWatch() {
  sigaction(SIGINT, &old_interrupt_, nullptr);
  sigaction(SIGTERM, &old_terminate_, nullptr);
}

bool InterruptWatch::requested() const { return interrupted != 0; }

}  // namespace dma
