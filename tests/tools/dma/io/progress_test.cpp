// The progress that `dma fit` shows on a terminal.
#include "tools/dma/io/progress.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/tools/run_dma.h"

namespace {

using namespace dma;
using namespace dma::testing;

BnnEpoch epoch_of(std::size_t member, int epoch, double log_likelihood) {
  return {member, {.epoch = epoch, .log_likelihood = log_likelihood}, {}};
}

// The text that the program writes to a terminal that is its error stream.
std::string on_terminal(const TemporaryFolder& folder, const std::string& arguments) {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal < 0 || ::grantpt(terminal) != 0 || ::unlockpt(terminal) != 0) return "none";
  const std::string name = ::ptsname(terminal);
  const pid_t reader = ::fork();
  if (reader == 0) {  // until the last writer is gone
    std::string text(1 << 16, ' ');
    const int file = ::open((folder.path() / "shown").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    for (ssize_t got; (got = ::read(terminal, text.data(), text.size())) > 0;)
      if (::write(file, text.data(), static_cast<std::size_t>(got)) < 0) break;
    ::_exit(0);
  }
  const int held = ::open(name.c_str(), O_RDWR | O_NOCTTY);
  const int status =
      std::system(fmt::format("cd '{}' && " DMA_EMULATOR " '" DMA_BINARY_DIR "/dma' {} 2>{} >/dev/null </dev/null",
                              folder.path().string(), arguments, name)
                      .c_str());
  ::close(held);
  ::close(terminal);
  ::waitpid(reader, nullptr, 0);
  CHECK(status == 0);
  return folder.read("shown");
}

}  // namespace

TEST_CASE("progress: the end that is told is the limit, at the pace of the epochs so far") {
  FitProgress progress(1, 200, 0, true);
  CHECK(progress.line(2.5) == "[....................] first epoch  0:03 so far");
  for (int e = 1; e <= 50; ++e) progress.add(epoch_of(0, e, e), 2 * e);
  CHECK(progress.line(100) ==
        "[#####...............] epoch 50  log-likelihood 50.0000  faults 0  1:40 so far, at most 5:00 left");
  CHECK(holds(progress.line(110), ", at most 4:50 left"));
}

TEST_CASE("progress: members at the same time, members to come and a resumed fit are counted") {
  FitProgress two(2, 10, 0, true);
  for (int e = 1; e <= 10; ++e) two.add(epoch_of(0, e, e), e);
  CHECK(holds(two.line(10), "network 1/2, epoch 10"));
  CHECK(holds(two.line(10), "at most 0:10 left"));
  FitProgress both(2, 10, 0, true);
  for (int e = 1; e <= 5; ++e)
    for (const std::size_t member : {0u, 1u}) both.add(epoch_of(member, e, e), 2 * e);
  CHECK(holds(both.line(10), "at most 0:10 left"));
  FitProgress resumed(1, 10, 0, true);
  for (int e = 6; e <= 9; ++e) resumed.add(epoch_of(0, e, e), e - 5);
  CHECK(holds(resumed.line(4), "at most 0:01 left"));
  FitProgress joint(1, 10, 0, false);
  for (int e = 1; e <= 12; ++e) joint.add(epoch_of(0, e, e), e);  // stages of growing subsets may go beyond the limit
  CHECK(joint.line(12) == "[####################] epoch 12  log-likelihood 12.0000  faults 0  0:12 so far");
}

TEST_CASE("progress: what runs inside an epoch is shown until the epoch has ended") {
  FitProgress progress(1, 10, 0, false);
  progress.set({"linear model", 0.25}, 1);
  CHECK(progress.line(1) == "[....................] first epoch: linear model 25 %  0:01 so far");
  progress.add(epoch_of(0, 1, 1), 1);
  CHECK(holds(progress.line(1), "epoch 1  log-likelihood"));
  progress.set({"", 0.5}, 2);
  CHECK(holds(progress.line(2), "epoch 1, next: 50 %  log-likelihood"));
  CHECK(!holds(progress.line(2), "left"));
  progress.set({"", 0.6, 10}, 3);  // it says itself how long it will take
  progress.set({"", 0.7}, 4);
  CHECK(holds(progress.line(5), ", about 0:08 left"));
  CHECK(holds(progress.line(20), ", about 0:00 left"));
}

TEST_CASE(
    "progress: a terminal shows reading and epochs from the start and is clean in the end; a file shows nothing") {
  const TemporaryFolder folder;
  require_dma(folder, "generate regression --out data.csv");
  for (const char* const method : {"--method hybrid --epochs 3", "--epochs 3"}) {
    const std::string fit = std::string("fit data.csv --target y --hidden 5 ") + method;
    const std::string shown = on_terminal(folder, fit);
    check_holds(shown, {"reading data.csv: ", "\r\033[K["});
    CHECK(shown.substr(shown.rfind("\r\033[K") + 4).find('[') == std::string::npos);
    CHECK(on_terminal(folder, fit + " --quiet").empty());
    CHECK(run_dma(folder, fit).errors.find('\r') == std::string::npos);
  }
}
