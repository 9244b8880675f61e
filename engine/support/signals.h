// Whose signals are.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <initializer_list>

namespace dma {

// Threads begun while it lives get no signal that ends the program: those are for who called, who knows where they would do
// harm, such as in the middle of a file.
class SignalsForCaller {
 public:
  SignalsForCaller() {
    sigset_t ending;
    sigemptyset(&ending);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) sigaddset(&ending, signal);
    pthread_sigmask(SIG_BLOCK, &ending, &before_);
  }
  ~SignalsForCaller() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsForCaller(const SignalsForCaller&) = delete;
  SignalsForCaller& operator=(const SignalsForCaller&) = delete;

 private:
  sigset_t before_ = {};
};

}  // namespace dma
