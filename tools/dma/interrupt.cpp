#include "tools/dma/interrupt.h"

namespace dma {

namespace {

volatile std::sig_atomic_t interrupted = 0;  // by which signal; a handler can reach nothing else

void note_interrupt(int signal) { interrupted = signal; }

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

int InterruptWatch::signal() const { return interrupted; }

}  // namespace dma
