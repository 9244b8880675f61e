#include "tools/mpi/processes.h"

#include <mpi.h>

#include <algorithm>
#include <vector>

namespace dma::mpi {

namespace {

class MpiProcesses final : public Processes {
 public:
  MpiProcesses() {
    MPI_Init(nullptr, nullptr);
    int rank = 0, size = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    rank_ = static_cast<std::size_t>(rank);
    size_ = static_cast<std::size_t>(size);
  }
  std::size_t rank() const override { return rank_; }
  std::size_t size() const override { return size_; }

  void exchange(const double* own, const std::size_t* sizes, double* heard, const std::size_t* heard_sizes) override {
    constexpr int kTag = 1;
    constexpr std::size_t kMostAtOnce = std::size_t{1} << 22;  // MPI counts in ints
    std::vector<MPI_Request> pending;
    const auto each_piece = [&](const std::size_t* numbers, const auto& use) {
      std::size_t first = 0;
      for (std::size_t p = 0; p < size_; first += numbers[p], ++p)
        for (std::size_t begin = 0; begin < numbers[p]; begin += kMostAtOnce)
          use(first + begin, static_cast<int>(std::min(kMostAtOnce, numbers[p] - begin)), static_cast<int>(p),
              &pending.emplace_back());
    };
    each_piece(heard_sizes, [&](std::size_t at, int count, int from, MPI_Request* request) {
      MPI_Irecv(heard + at, count, MPI_DOUBLE, from, kTag, MPI_COMM_WORLD, request);
    });
    each_piece(sizes, [&](std::size_t at, int count, int to, MPI_Request* request) {
      MPI_Isend(own + at, count, MPI_DOUBLE, to, kTag, MPI_COMM_WORLD, request);
    });
    MPI_Waitall(static_cast<int>(pending.size()), pending.data(), MPI_STATUSES_IGNORE);
  }

  void finish() override { MPI_Finalize(); }
  void end_all(int code) override { MPI_Abort(MPI_COMM_WORLD, code); }

 private:
  std::size_t rank_ = 0, size_ = 1;
};

}  // namespace

}  // namespace dma::mpi

extern "C" dma::mpi::Processes* dma_start_mpi();
extern "C" dma::mpi::Processes* dma_start_mpi() {
  static dma::mpi::MpiProcesses processes;
  return &processes;
}
