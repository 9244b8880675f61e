// Signals that would end the program: work asks for them when it can stop cleanly, or makes them wait.
#pragma once

#include <cmath>
#include <csignal>

namespace dma {

inline constexpr int kExitBySignal = 128;  // plus the signal: what a shell reports for a program that it ended

// While it lives, the first SIGINT or SIGTERM, or the end of the time, only makes requested() true; a second signal
// ends the program as usual.
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
  double end_;  // time on the clock that counts since the machine was started
  struct sigaction old_interrupt_ = {}, old_terminate_ = {};
};

// While one lives, in any thread, signals that would end the program wait, so that Ctrl-C leaves no half-made file.
class SignalsHeld {
 public:
  SignalsHeld();
  ~SignalsHeld();
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

  static bool is_waiting();  // one of them
};

}  // namespace dma
