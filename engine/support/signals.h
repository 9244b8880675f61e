// Threads that receive no signals.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <optional>
#include <system_error>
#include <thread>
#include <utility>

namespace dma {

// Threads begun while it lives receive no signal that ends the program: the calling thread handles them.
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

// A worker thread without such signals; none if the system grants no more threads (ulimit -u, a container).
template <class Work>
std::optional<std::jthread> begin_thread(Work&& work) {
  const SignalsForCaller thread_gets_none;
  try {
    return std::jthread(std::forward<Work>(work));
  } catch (const std::system_error&) {
    return std::nullopt;
  }
}

}  // namespace dma
