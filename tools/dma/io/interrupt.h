// Signals that end the program, where that would do harm: they wait, or are a question that work asks when it can stop
// cleanly.
#pragma once

#include <csignal>

namespace dma {

inline constexpr int kExitBySignal = 128;  // plus the signal: what a shell reports for a program that it ended

// While it lives, the first SIGINT or SIGTERM only makes requested() true; a second one ends the program as usual.
class InterruptWatch {
 public:
  InterruptWatch();
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

  bool requested() const { return signal() != 0; }
  int signal() const;  // the one that came; 0: none

 private:
  struct sigaction old_interrupt_ = {}, old_terminate_ = {};
};

// While one lives, in whichever thread, signals that would end the program wait: nothing half made is left by Ctrl-C.
class SignalsHeld {
 public:
  SignalsHeld();
  ~SignalsHeld();
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

  static bool is_waiting();  // one of them
};

}  // namespace dma
