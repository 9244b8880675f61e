#include "tools/dma/io/processes.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <span>
#include <utility>

#include "engine/support/text.h"
#include "tools/mpi/processes.h"

namespace dma {

namespace {

// Set by Open MPI, and by MPICH and those who follow it.
bool started_by_mpirun() {
  for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
    if (const char* const size = std::getenv(variable); size != nullptr && std::atoi(size) > 1) return true;
  return false;
}

// Beside this program, or where it is installed.
mpi::Processes& load() {
  std::error_code ignored;
  const auto folder = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  // With a relative path the loader would take whatever lies in the current folder.
  if (!folder.is_absolute())
    fail(
        "mpirun started this program, which finds its MPI module by /proc/self/exe; mount /proc, or start it without "
        "mpirun");
  constexpr const char* kModule = "libdma_mpi.so";
  for (const auto& path : {folder / kModule, folder.parent_path() / "lib" / kModule})
    if (void* const module = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL); module != nullptr)
      if (const auto start = reinterpret_cast<mpi::Start>(dlsym(module, mpi::kStart)); start != nullptr)
        return *start();
  fail(
      "mpirun started this program, which was built without MPI; install libopenmpi-dev (tools/build/setup --mpi) and "
      "build it again");
}

mpi::Processes* loaded_processes = nullptr;  // there is one MPI in a process

using Doubles = std::vector<double>;
using Counts = std::vector<std::size_t>;

// Sends a block of `own` to every process; returns the blocks for this one.
Doubles exchange(mpi::Processes& processes, const Doubles& own, const Counts& sizes, const Counts& heard_sizes) {
  Doubles heard(std::accumulate(heard_sizes.begin(), heard_sizes.end(), std::size_t{0}));
  processes.exchange(own.data(), sizes.data(), heard.data(), heard_sizes.data());
  return heard;
}

// The same where only the sender knows the sizes.
Doubles exchange(mpi::Processes& processes, const Doubles& own, const Counts& sizes) {
  const Counts ones(sizes.size(), 1);
  const Doubles heard_sizes = exchange(processes, Doubles(sizes.begin(), sizes.end()), ones, ones);
  return exchange(processes, own, sizes, Counts(heard_sizes.begin(), heard_sizes.end()));
}

// Sends the same numbers to every process.
Doubles tell_all(mpi::Processes& processes, std::span<const double> own, const Counts& heard_sizes) {
  Doubles copies;
  for (std::size_t p = 0; p < processes.size(); ++p) copies.insert(copies.end(), own.begin(), own.end());
  return exchange(processes, copies, Counts(processes.size(), own.size()), heard_sizes);
}

void to_largest(mpi::Processes& processes, std::span<double> values) {
  const Doubles all = tell_all(processes, values, Counts(processes.size(), values.size()));
  for (std::size_t i = 0; i < all.size(); ++i) values[i % values.size()] = std::max(values[i % values.size()], all[i]);
}

class ProcessTeam final : public WorkerTeam {
 public:
  ProcessTeam(mpi::Processes& processes, std::size_t each) : processes_(processes), each_(each) {}
  std::size_t size() const override { return processes_.size() * each_; }
  std::size_t first() const override { return processes_.rank() * each_; }
  std::size_t local() const override { return each_; }

  // Every process adds its own slice of all arrays, in order, and then all processes receive all slices: two messages
  // to every process for any number of arrays, and identical bits in every process.
  void sum(std::span<const double> parts, std::span<double> total) override {
    const std::size_t count = processes_.size(), size = total.size();
    Counts slices(count), sizes(count);
    Doubles own;
    for (std::size_t p = 0; p < count; ++p) {
      const std::size_t first = p * size / count;
      slices[p] = (p + 1) * size / count - first;
      sizes[p] = slices[p] * each_;
      for (std::size_t k = 0; k < each_; ++k) {
        const auto piece = parts.subspan(k * size + first, slices[p]);
        own.insert(own.end(), piece.begin(), piece.end());
      }
    }
    const std::size_t mine = slices[processes_.rank()];
    const Doubles heard = exchange(processes_, own, sizes, Counts(count, mine * each_));
    Doubles slice(heard.begin(), heard.begin() + static_cast<std::ptrdiff_t>(mine));
    for (std::size_t i = mine; i < heard.size(); ++i) slice[i % mine] += heard[i];
    std::ranges::copy(tell_all(processes_, slice, slices), total.begin());
  }
  void largest(std::span<double> values) override { to_largest(processes_, values); }
  std::vector<double> gather(std::span<const double> own) override {
    Counts sizes(processes_.size());
    sizes[0] = own.size();
    return exchange(processes_, Doubles(own.begin(), own.end()), sizes);
  }

 private:
  mpi::Processes& processes_;
  std::size_t each_;
};

}  // namespace

struct ProcessGroup::Loaded {
  mpi::Processes& processes;
};

ProcessGroup ProcessGroup::join() {
  ProcessGroup group;
  if (!started_by_mpirun()) return group;
  if (loaded_processes == nullptr) loaded_processes = &load();
  group.loaded_ = std::make_shared<Loaded>(Loaded{*loaded_processes});
  return group;
}

void ProcessGroup::leave() {
  if (loaded_) std::exchange(loaded_processes, nullptr)->finish();
  loaded_.reset();
}

std::size_t ProcessGroup::size() const { return loaded_ ? loaded_->processes.size() : 1; }
bool ProcessGroup::is_first() const { return !loaded_ || loaded_->processes.rank() == 0; }

std::shared_ptr<WorkerTeam> ProcessGroup::team(std::size_t workers) const {
  if (!loaded_) return local_team(workers);
  if (workers % size() != 0)
    fail("--workers: {} is given for {} processes; as many for each process are expected, {} or {} times as many",
         workers, size(), size(), 2 * size());
  return std::make_shared<ProcessTeam>(loaded_->processes, workers / size());
}

std::size_t ProcessGroup::rank() const { return loaded_ ? loaded_->processes.rank() : 0; }

std::vector<double> ProcessGroup::exchange(const std::vector<std::vector<double>>& for_each) const {
  Counts sizes;
  Doubles own;
  for (const Doubles& numbers : for_each) {
    sizes.push_back(numbers.size());
    own.insert(own.end(), numbers.begin(), numbers.end());
  }
  return loaded_ ? dma::exchange(loaded_->processes, own, sizes) : own;
}

int ProcessGroup::largest(int value) const {
  double found = value;
  if (loaded_) to_largest(loaded_->processes, {&found, 1});
  return static_cast<int>(found);
}

void end_processes(int code) {
  if (loaded_processes != nullptr) loaded_processes->end_all(code);
}

std::string name_of_process() {
  if (loaded_processes == nullptr || loaded_processes->rank() == 0) return {};
  return fmt::format("process {} of {}: ", loaded_processes->rank() + 1, loaded_processes->size());
}

}  // namespace dma
