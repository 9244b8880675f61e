// Signals that end the program, where that would do harm: they wait, or are a question that work asks when it can stop
// cleanly.
#pragma once

#include <cmath>
#include <csignal>

namespace dma {

inline constexpr int kExitBySignal = 128;  // plus the signal: what a shell reports for a program that it ended

// While it lives, the first SIGINT or SIGTERM only makes requested() true; a second one ends the program as usual. So
// does the end of the time that it is given.
class InterruptWatch {
 public:
  explicit InterruptWatch(double seconds = HUGE_VAL);
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

  bool requested() const { return signal() != 0 || seconds_left() <= 0; }
  int signal() const;  // the one that came; 0: none
  double seconds_left() const;

 private:
  double end_;  // of the clock that counts since the machine was started
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
