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

  // Every process adds its own slice of all arrays, in order, and then all processes receive all slices: two messages
  // of one array per process for any number of arrays, and identical bits in every process.
  void sum(const double* parts, std::size_t count, double* total, std::size_t size) override {
    const std::size_t piece =
        std::max<std::size_t>(1, kMostAtOnce / count);  // MPI counts the numbers of all parts in ints
    for (std::size_t begin = 0; begin < size; begin += piece)
      sum_piece(parts + begin, size, count, total + begin, std::min(piece, size - begin));
  }

  void largest(double* values, std::size_t size) override {
    MPI_Allreduce(MPI_IN_PLACE, values, static_cast<int>(size), MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  }

  void gather_sizes(std::size_t own, std::size_t* sizes) override {
    MPI_Allgather(&own, sizeof own, MPI_BYTE, sizes, sizeof own, MPI_BYTE, MPI_COMM_WORLD);
  }

  // In pieces, since MPI counts in ints.
  void gather(const double* own, std::size_t size, double* all, const std::size_t* sizes) override {
    constexpr int kTag = 1;
    const auto pieces = [](std::size_t numbers, const auto& use) {
      for (std::size_t begin = 0; begin < numbers; begin += kMostAtOnce)
        use(begin, static_cast<int>(std::min(kMostAtOnce, numbers - begin)));
    };
    if (rank_ > 0)
      return pieces(size,
                    [&](std::size_t begin, int n) { MPI_Send(own + begin, n, MPI_DOUBLE, 0, kTag, MPI_COMM_WORLD); });
    std::copy_n(own, size, all);
    all += size;
    for (std::size_t from = 1; from < size_; ++from) {
      pieces(sizes[from], [&](std::size_t begin, int n) {
        MPI_Recv(all + begin, n, MPI_DOUBLE, static_cast<int>(from), kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      });
      all += sizes[from];
    }
  }

  void exchange_sizes(const std::size_t* sizes, std::size_t* heard_sizes) override {
    MPI_Alltoall(sizes, sizeof *sizes, MPI_BYTE, heard_sizes, sizeof *heard_sizes, MPI_BYTE, MPI_COMM_WORLD);
  }

  void exchange(const double* own, const std::size_t* sizes, double* heard, const std::size_t* heard_sizes) override {
    constexpr int kTag = 2;
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
  static constexpr std::size_t kMostAtOnce = std::size_t{1} << 22;

  void sum_piece(const double* parts, std::size_t stride, std::size_t count, double* total, std::size_t size) {
    std::vector<int> slices(size_), firsts(size_), sent(size_), sent_at(size_), heard(size_), heard_at(size_);
    for (std::size_t p = 0; p < size_; ++p) {
      firsts[p] = static_cast<int>(p * size / size_);
      slices[p] = static_cast<int>((p + 1) * size / size_) - firsts[p];
      sent[p] = slices[p] * static_cast<int>(count);
      sent_at[p] = firsts[p] * static_cast<int>(count);
    }
    const auto own = static_cast<std::size_t>(slices[rank_]);
    for (std::size_t p = 0; p < size_; ++p) {
      heard[p] = static_cast<int>(own * count);
      heard_at[p] = static_cast<int>(p * own * count);
    }
    to_send_.resize(size * count);
    to_hear_.resize(size_ * own * count);
    auto at = to_send_.begin();
    for (std::size_t p = 0; p < size_; ++p)
      for (std::size_t k = 0; k < count; ++k) at = std::copy_n(parts + k * stride + firsts[p], slices[p], at);
    MPI_Alltoallv(to_send_.data(), sent.data(), sent_at.data(), MPI_DOUBLE, to_hear_.data(), heard.data(),
                  heard_at.data(), MPI_DOUBLE, MPI_COMM_WORLD);
    std::vector<double> slice(to_hear_.begin(), to_hear_.begin() + static_cast<std::ptrdiff_t>(own));
    for (std::size_t k = 1; k < size_ * count; ++k)
      for (std::size_t i = 0; i < own; ++i) slice[i] += to_hear_[k * own + i];
    MPI_Allgatherv(slice.data(), slices[rank_], MPI_DOUBLE, total, slices.data(), firsts.data(), MPI_DOUBLE,
                   MPI_COMM_WORLD);
  }

  std::size_t rank_ = 0, size_ = 1;
  std::vector<double> to_send_, to_hear_;
};

}  // namespace

}  // namespace dma::mpi

extern "C" dma::mpi::Processes* dma_start_mpi();
extern "C" dma::mpi::Processes* dma_start_mpi() {
  static dma::mpi::MpiProcesses processes;
  return &processes;
}
