// MPI functions for `dma fit`, in a separate module that is loaded only by processes started by mpirun: plain dma needs
// no MPI.
#pragma once

#include <cstddef>

namespace dma::mpi {

class Processes {
 public:
  virtual ~Processes() = default;
  virtual std::size_t rank() const = 0;
  virtual std::size_t size() const = 0;
  // Sends numbers to every process, one block of so many numbers after the other; receives the blocks for this process,
  // that of the first process first.
  virtual void exchange(const double* own, const std::size_t* sizes, double* heard, const std::size_t* heard_sizes) = 0;
  virtual void finish() = 0;           // all processes call it
  virtual void end_all(int code) = 0;  // stops the others at once
};

// The one function of the module.
using Start = Processes* (*)();
inline constexpr const char* kStart = "dma_start_mpi";

}  // namespace dma::mpi
