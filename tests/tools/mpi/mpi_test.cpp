// Real processes, started by mpirun, where the build found MPI.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>

#include "tests/tools/run_dma.h"

namespace {

using namespace dma::testing;

bool has_mpi() {
  return std::filesystem::exists(DMA_BINARY_DIR "/libdma_mpi.so") && std::system("command -v mpirun >/dev/null") == 0;
}

std::string mpirun(int processes) {
  return "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 "
         "OMPI_MCA_mpi_yield_when_idle=1 mpirun -n " +
         std::to_string(processes);
}

std::string table(int rows) {
  std::string text = "a,b,y\n";
  for (int n = 0; n < rows; ++n) {
    const double a = std::sin(1.3 * n), b = std::cos(0.7 * n * n);
    text += std::to_string(a) + "," + std::to_string(b) + "," +
            std::to_string(a * b + 0.3 * a + 0.05 * std::sin(31.0 * n)) + "\n";
  }
  return text;
}

// With epochs for seconds of two processes, to be hit in the middle of, that cost one process a part of one.
const std::string kLongFit =
    "fit t.csv --target y --method hybrid --hidden 4 --batch-size 20 --least-gain 0 --epochs 3000 --model ";
const std::string kResumed = "part.json --quiet --workers 2 --resume part.json.checkpoint --checkpoint-every 1000";

// Processes fit the model that as many workers of one process do, byte for byte; returns what the one process printed.
std::string check_same_model(const TemporaryFolder& folder, const std::string& fit, int processes) {
  const auto alone = require_dma(folder, fmt::format("{} --workers {} --model alone.json", fit, processes));
  require_dma(folder, fit + " --model together.json", mpirun(processes));
  CHECK(folder.read("together.json") == folder.read("alone.json"));
  CHECK(folder.read("alone.json").size() > 100);
  return alone.output;
}

// Ends the second process as soon as `condition` of the shell holds.
std::string second_dies(const std::string& condition) {
  return "if [ \"$OMPI_COMM_WORLD_RANK\" != 1 ]; then exec \"$@\"; fi\n\"$@\" & until " + condition +
         "; do sleep 0.02; done; kill -9 $!; wait $!\n";
}

}  // namespace

TEST_CASE("mpi: processes fit the model that as many workers of one process do, byte for byte") {
  if (!has_mpi()) return;
  const TemporaryFolder folder;
  folder.write("t.csv", table(203));
  for (const std::string method :
       {"hybrid --hidden 6 --epochs 4 --holdout 0.1", "joint --hidden 6 --epochs 5 --members 2"})
    for (const int processes : {2, 4})
      check_same_model(folder, "fit t.csv --target y --quiet --method " + method, processes);
}

TEST_CASE("mpi: far rows, logarithms and nearest rows are those of one process, byte for byte") {
  if (!has_mpi()) return;
  const TemporaryFolder folder;
  std::string far = "a,y\n", ratios = far;
  for (int n = 0; n < 150; ++n) {
    const double a = std::sin(1.3 * n), noise = std::sin(31.0 * n) + std::cos(17.0 * n * n);
    far += fmt::format("{:.4f},{:.4f}\n", a, n % 50 == 7 ? 500.0 : std::sin(5 * a) + 0.05 * noise);
    ratios += fmt::format("{:.4f},{:.6f}\n", a, std::exp(1.5 * std::sin(2 * a) + 0.4 * noise));
  }
  folder.write("far.csv", far);
  folder.write("ratios.csv", ratios);
  for (const auto& [name, told] : {std::pair("far", "3 more rows"), std::pair("ratios", "log-normal")}) {
    const std::string told_by_one =
        check_same_model(folder, fmt::format("fit {}.csv --target y --hidden 6 --epochs 20 --members 1", name), 2);
    CHECK_MESSAGE(holds(told_by_one, told), told_by_one);
  }
}

TEST_CASE("mpi: rows have weights in joint learning, and nowhere else") {
  if (!has_mpi()) return;
  const TemporaryFolder folder;
  std::string rows = "a,w,y\n";
  for (int n = 0; n < 120; ++n)
    rows += fmt::format("{:.4f},{},{:.4f}\n", std::sin(1.3 * n), n % 3, std::sin(2.6 * n) + 0.05 * std::cos(31.0 * n));
  folder.write("t.csv", rows);
  const std::string fit = "fit t.csv --target y --weights w --quiet --hidden 6 --epochs 5 --members 2";
  check_same_model(folder, fit, 2);
  const auto refused = run_dma(folder, fit + " --model refused.json --method hybrid", mpirun(2));
  CHECK_MESSAGE(holds(refused.errors, "dma: weights of rows are known to joint learning only"), refused.errors);
}

TEST_CASE("mpi: processes learn a graph of one's own as one does, up to rounding") {
  if (!has_mpi()) return;
  const TemporaryFolder folder;
  std::string rows = "t,y\n";
  for (int n = 0; n < 80; ++n) {
    const double t = 0.07 * n;
    rows += fmt::format("{:.3f},{:.6f}\n", t, 2.5 * std::exp(-0.8 * t) + 0.5 + 0.1 * std::sin(31.0 * n));
  }
  folder.write("t.csv", rows);
  const std::string fit = "fit t.csv --quiet --target y --graph " DMA_SOURCE_DIR "/tools/examples/graphs/decay.json";
  require_dma(folder, fit + " --model 1.json");
  require_dma(folder, fit + " --model 2.json", mpirun(2));
  for (const std::string model : {"1", "2"})
    require_dma(folder, "predict " + model + ".json t.csv --out " + model + ".csv");
  CHECK(folder.read("1.csv").size() > 1000);
  CHECK(folder.read("1.csv") == folder.read("2.csv"));
}

TEST_CASE("mpi: a process that is killed before there is a checkpoint ends all, by one line, and no file is left") {
  if (!has_mpi()) return;
  const TemporaryFolder folder;
  folder.write("t.csv", table(100));
  // The second process dies when it has computed for a second, whatever else the machine does; the fit would take
  // hours.
  folder.write("second_dies.sh", second_dies("! kill -0 $! || [ $(cut -d' ' -f14 /proc/$!/stat) -ge 100 ]"));
  std::string fit = kLongFit;
  fit.replace(fit.find("3000"), 4, "100000000");
  const auto stopped =
      run_dma(folder, fit + "part.json --checkpoint-every 100000000", mpirun(2) + " sh second_dies.sh");
  CHECK(stopped.exit_code != 0);
  const auto said = stopped.errors.find("dma: stopped, by a signal or because one of 2 processes died\n");
  CHECK_MESSAGE(said != std::string::npos, stopped.errors);
  CHECK_MESSAGE(stopped.errors.find("dma: ", said + 5) == std::string::npos, stopped.errors);
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    files += holds(entry.path().string(), "part");
  CHECK(files == 0);
}

TEST_CASE("mpi: a fit whose process was killed goes on from its checkpoint to the same bytes") {
  if (!has_mpi()) return;
  const TemporaryFolder folder;
  folder.write("t.csv", table(100));
  // The second process dies when there is something to go on from.
  folder.write("second_dies.sh", second_dies("[ -e part.json.checkpoint ]"));
  const auto whole = require_dma(folder, kLongFit + "whole.json --quiet --workers 2");
  const auto stopped = run_dma(folder, kLongFit + "part.json --checkpoint-every 5", mpirun(2) + " sh second_dies.sh");
  CHECK(stopped.exit_code != 0);
  CHECK_MESSAGE(holds(stopped.errors, "checkpoint: mpirun -n 2"), stopped.errors);
  CHECK(folder.read("part.json").empty());
  require_dma(folder, kLongFit + kResumed);
  CHECK(folder.read("part.json") == folder.read("whole.json"));
}

TEST_CASE("mpi: Ctrl-C to mpirun leaves a checkpoint and one line with the command that goes on, to the same bytes") {
  if (!has_mpi()) return;
  const TemporaryFolder folder;
  folder.write("t.csv", table(100));
  // mpirun takes a second to pass the signal on: there are epochs for several.
  folder.write(
      "interrupted.sh",
      "\"$@\" & while [ ! -e part.json.checkpoint ] && kill -0 $!; do sleep 0.02; done; kill -INT $!; wait $!\n");
  std::string started = mpirun(2);
  started.insert(started.find("mpirun -n"), "sh interrupted.sh ");
  const auto whole = require_dma(folder, kLongFit + "whole.json --quiet --workers 2");
  const auto stopped = run_dma(folder, kLongFit + "part.json --checkpoint-every 5", started);
  CHECK(stopped.exit_code != 0);
  CHECK_MESSAGE(holds(stopped.errors, "checkpoint: mpirun -n 2"), stopped.errors);
  require_dma(folder, kLongFit + kResumed);
  CHECK(folder.read("part.json") == folder.read("whole.json"));
}

TEST_CASE("mpi: what one process must do alone, and wrong input, is refused by one line of dma") {
  if (!has_mpi()) return;
  const TemporaryFolder folder;
  folder.write("t.csv", table(50));
  folder.write("bad.csv", "a,y\n1,2\n3,x4\n5,6\n");
  for (const auto& [arguments, expected] :
       {std::pair{"fit t.csv --update m.json", "the work of one process"},
        std::pair{"fit t.csv --target y --method hybrid --workers 3", "--workers: 3 is given for 2 processes"},
        std::pair{"fit bad.csv --target y", "bad.csv"}}) {
    const auto outcome = run_dma(folder, arguments, mpirun(2));
    CHECK(outcome.exit_code != 0);
    CHECK_MESSAGE(holds(outcome.errors, expected), outcome.errors);
    CHECK_MESSAGE(count_of("dma: ", outcome.errors) == 1, outcome.errors);
  }
}

#ifndef __SANITIZE_ADDRESS__  // AddressSanitizer needs /proc itself
TEST_CASE("mpi: a module in the current folder is never loaded, not even where there is no /proc") {
  const std::string hidden = "unshare -m sh -c 'umount -l /proc && OMPI_COMM_WORLD_SIZE=2 exec \"$0\" \"$@\"'";
  if (std::system("unshare -m umount -l /proc 2>/dev/null") != 0) return;  // only root may
  const TemporaryFolder folder;
  folder.write("t.csv", table(20));
  std::filesystem::create_directory(folder.path() / "lib");
  folder.write("lib/libdma_mpi.so", "no module");
  const auto outcome = run_dma(folder, "fit t.csv --target y", hidden);
  CHECK(outcome.exit_code == 2);
  CHECK_MESSAGE(holds(outcome.errors, "finds its MPI module by /proc/self/exe"), outcome.errors);
}
#endif
