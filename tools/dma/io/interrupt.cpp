#include "tools/dma/io/interrupt.h"

#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <mutex>

namespace dma {

namespace {

// All that a handler can reach.
volatile std::sig_atomic_t interrupted = 0;    // by which signal
std::atomic<std::int64_t> interrupted_at = 0;  // milliseconds
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

std::int64_t milliseconds() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

// The second ends the program at once, unless it comes with the first: timeout(1) sends each signal to the program and
// to its group, and no person presses Ctrl-C twice that fast.
void note_interrupt(int signal) {
  constexpr std::int64_t kTogether = 200;
  const std::int64_t now = milliseconds();
  if (interrupted == 0) {
    interrupted_at = now;
    interrupted = signal;
  } else if (now - interrupted_at >= kTogether) {
    std::signal(signal, SIG_DFL);
    raise(signal);  // when the handler has ended
  }
}

constexpr int kEnding[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
volatile std::sig_atomic_t waiting_signal = 0;  // the last that came while it had to wait

// The number of objects that hold signals now, and the actions to restore after the last.
struct Holders {
  std::mutex mutex;
  std::size_t count = 0;
  struct sigaction before[std::size(kEnding)] = {};
};
Holders& holders() {
  static Holders all;
  return all;
}

}  // namespace

InterruptWatch::InterruptWatch(double seconds) : end_(1e-3 * static_cast<double>(milliseconds()) + seconds) {
  interrupted = 0;
  struct sigaction action = {};
  action.sa_handler = &note_interrupt;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, &old_interrupt_);
  sigaction(SIGTERM, &action, &old_terminate_);
}

InterruptWatch::~InterruptWatch() {
  sigaction(SIGINT, &old_interrupt_, nullptr);
  sigaction(SIGTERM, &old_terminate_, nullptr);
}

int InterruptWatch::signal() const { return interrupted; }

double InterruptWatch::seconds_left() const { return end_ - 1e-3 * static_cast<double>(milliseconds()); }

SignalsHeld::SignalsHeld() {
  Holders& all = holders();
  const std::lock_guard lock(all.mutex);
  if (all.count++ > 0) return;
  waiting_signal = 0;
  struct sigaction note = {};
  note.sa_handler = [](int signal) { waiting_signal = signal; };
  note.sa_flags = SA_RESTART;
  for (std::size_t i = 0; i < std::size(kEnding); ++i) sigaction(kEnding[i], &note, &all.before[i]);
}

SignalsHeld::~SignalsHeld() {
  Holders& all = holders();
  const std::lock_guard lock(all.mutex);
  if (--all.count > 0) return;
  for (std::size_t i = 0; i < std::size(kEnding); ++i) sigaction(kEnding[i], &all.before[i], nullptr);
  const int signal = waiting_signal;
  waiting_signal = 0;
  if (signal != 0) ::kill(::getpid(), signal);
}

bool SignalsHeld::is_waiting() { return waiting_signal != 0; }

}  // namespace dma
