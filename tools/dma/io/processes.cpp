#include "tools/dma/io/processes.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <utility>

#include "engine/support/error.h"
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

class ProcessTeam final : public WorkerTeam {
 public:
  ProcessTeam(mpi::Processes& processes, std::size_t each) : processes_(processes), each_(each) {}
  std::size_t size() const override { return processes_.size() * each_; }
  std::size_t first() const override { return processes_.rank() * each_; }
  std::size_t local() const override { return each_; }
  void sum(std::span<const double> parts, std::span<double> total) override {
    processes_.sum(parts.data(), each_, total.data(), total.size());
  }
  void largest(std::span<double> values) override { processes_.largest(values.data(), values.size()); }
  std::vector<double> gather(std::span<const double> own) override {
    std::vector<std::size_t> sizes(processes_.size());
    processes_.gather_sizes(own.size(), sizes.data());
    std::vector<double> all(processes_.rank() == 0 ? std::accumulate(sizes.begin(), sizes.end(), std::size_t{0}) : 0);
    processes_.gather(own.data(), own.size(), all.data(), sizes.data());
    return all;
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
  std::vector<std::size_t> sizes, heard_sizes(size());
  std::vector<double> own;
  for (const std::vector<double>& numbers : for_each) {
    sizes.push_back(numbers.size());
    own.insert(own.end(), numbers.begin(), numbers.end());
  }
  if (!loaded_) return own;
  loaded_->processes.exchange_sizes(sizes.data(), heard_sizes.data());
  std::vector<double> heard(std::accumulate(heard_sizes.begin(), heard_sizes.end(), std::size_t{0}));
  loaded_->processes.exchange(own.data(), sizes.data(), heard.data(), heard_sizes.data());
  return heard;
}

int ProcessGroup::largest(int value) const {
  if (!loaded_) return value;
  double found = value;
  loaded_->processes.largest(&found, 1);
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
