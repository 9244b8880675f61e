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
  // Adds `count` arrays of every process, those of the first process first, each of `size` numbers.
  virtual void sum(const double* parts, std::size_t count, double* total, std::size_t size) = 0;
  virtual void largest(double* values, std::size_t size) = 0;
  // Sizes of all processes, and then their numbers one after the other, in the first process; `all` may be null in
  // others.
  virtual void gather_sizes(std::size_t own, std::size_t* sizes) = 0;
  virtual void gather(const double* own, std::size_t size, double* all, const std::size_t* sizes) = 0;
  // Sends numbers to every process, one block after the other; receives the blocks for this process, that of the first
  // process first. `heard` has room for `heard_sizes`, see exchange_sizes().
  virtual void exchange_sizes(const std::size_t* sizes, std::size_t* heard_sizes) = 0;
  virtual void exchange(const double* own, const std::size_t* sizes, double* heard, const std::size_t* heard_sizes) = 0;
  virtual void finish() = 0;  // all processes call it
  virtual void end_all(int code) = 0;  // stops the others at once
};

// The one function of the module.
using Start = Processes* (*)();
inline constexpr const char* kStart = "dma_start_mpi";

}  // namespace dma::mpi
