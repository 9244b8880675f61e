// The progress that `dma fit` shows on a terminal.
#include "tools/dma/io/progress.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>

#include "tests/oracles/relative.h"
#include "tests/tools/run_dma.h"

namespace {

using namespace dma;
using namespace dma::testing;

BnnEpoch epoch_of(std::size_t member, int epoch, double log_likelihood) {
  return {member, {.epoch = epoch, .log_likelihood = log_likelihood}, {}};
}

// A log-likelihood that rises to 0 from -1 and is short of it by factor^epoch.
std::vector<EpochRecord> rising(int epochs, double factor) {
  std::vector<EpochRecord> records;
  for (int e = 1; e <= epochs; ++e) records.push_back({.epoch = e, .log_likelihood = -std::pow(factor, e)});
  return records;
}

int real_end(const LearnOptions& options, double factor) {
  int epochs = 1;
  while (!stop_reason(options, rising(epochs, factor))) ++epochs;
  return epochs;
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

TEST_CASE("progress: where no rule will ever fire the limit is the end that is expected, however far away") {
  const LearnOptions options{.epochs = 2'000'000'000, .tolerance = 0};
  CHECK(expected_end(options, rising(20, 0.9)) == 2'000'000'000);
  CHECK(expected_end(options, rising(20, 1.0)) == 2'000'000'000);
}

TEST_CASE("progress: the end that is told is the expected one, not the limit") {
  const LearnOptions options{.epochs = 200, .tolerance = 0, .least_gain = 0.001};
  FitProgress progress(1, options, 0, true);
  CHECK(progress.line(2.5) == "[....................] first epoch  0:03 so far");
  // A second an epoch; the rule fires after some forty of 200.
  const int end = real_end(options, 0.8);
  REQUIRE(end < 60);
  for (int e = 1; e < end; ++e) {
    progress.add(epoch_of(0, e, -std::pow(0.8, e)), e);
    if (e < 5) continue;
    CHECK(std::abs(progress.seconds_left(e).value() - (end - e)) <= 1 + 0.3 * (end - e));
  }
  const double then = progress.seconds_left(end - 1).value();
  CHECK(progress.seconds_left(end - 0.5).value() == doctest::Approx(std::max(0.0, then - 0.5)));
  CHECK(!holds(progress.line(end - 1), "at most"));
  CHECK(holds(progress.line(end - 1), ", about 0:0"));
}

TEST_CASE("progress: members at the same time, members to come and a resumed fit are counted") {
  const LearnOptions options{.epochs = 10, .tolerance = 0};
  FitProgress two(2, options, 0, true);
  for (int e = 1; e <= 10; ++e) two.add(epoch_of(0, e, e), e);
  CHECK(two.seconds_left(10).value() == oracle::relative(10, 0.05));
  FitProgress both(2, options, 0, true);
  for (int e = 1; e <= 5; ++e)
    for (const std::size_t member : {0u, 1u}) both.add(epoch_of(member, e, e), 2 * e);
  CHECK(both.seconds_left(10).value() == oracle::relative(10, 0.3));
  FitProgress resumed(1, options, 0, true);
  for (int e = 6; e <= 8; ++e) resumed.add(epoch_of(0, e, e), e - 5);
  CHECK(!resumed.seconds_left(3));  // the first share it could tell is now
  resumed.add(epoch_of(0, 9, 9), 4);
  CHECK(resumed.seconds_left(4).value() == doctest::Approx(1));
  FitProgress joint(1, options, 0, false);
  for (int e = 1; e <= 12; ++e) joint.add(epoch_of(0, e, e), e);  // stages of growing subsets may go beyond the limit
  CHECK(joint.line(12) == "[####################] epoch 12  log-likelihood 12.0000  faults 0  0:12 so far");
}

TEST_CASE("progress: what runs inside an epoch is shown until the epoch has ended") {
  FitProgress progress(1, {.epochs = 10, .tolerance = 0}, 0, false);
  progress.set({"linear model", 0.25}, 1);
  CHECK(progress.line(1) == "[....................] first epoch: linear model 25 %  0:01 so far");
  progress.add(epoch_of(0, 1, 1), 1);
  CHECK(holds(progress.line(1), "epoch 1  log-likelihood"));
  progress.set({"", 0.5}, 2);
  CHECK(holds(progress.line(2), "epoch 1, next: 50 %  log-likelihood"));
  CHECK(!progress.seconds_left(2));
  progress.set({"", 0.6, 10}, 3);  // it says itself how long it will take
  progress.set({"", 0.7}, 4);
  CHECK(progress.seconds_left(5) == 8);
  CHECK(progress.seconds_left(20) == 0);
}

TEST_CASE("progress: gains that shrink by a constant factor are followed to the epoch at which the rule fires") {
  for (const double factor : {0.5, 0.8, 0.9, 0.95}) {
    const LearnOptions by_gain{.epochs = 500, .tolerance = 0, .least_gain = 0.001};
    const LearnOptions by_tolerance{.epochs = 500, .tolerance = 1e-3, .floor = 1};
    for (const LearnOptions& options : {by_gain, by_tolerance}) {
      const int end = real_end(options, factor);
      REQUIRE(end < 500);
      for (int known = 3; known < end; ++known)
        CHECK(std::abs(expected_end(options, rising(known, factor)).value() - end) <= 1);
    }
  }
  const LearnOptions options{.epochs = 50, .tolerance = 0, .least_gain = 1e-9};
  CHECK(!expected_end(options, rising(2, 0.9)));
  CHECK(expected_end(options, rising(10, 0.99)) == 50);
  CHECK(expected_end(options, rising(50, 0.99)) == 50);
  std::vector<EpochRecord> flat(5);
  CHECK(expected_end(options, flat).value() == 11);  // ten epochs without gain
  flat[4].log_likelihood = std::nan("");
  CHECK(expected_end(options, flat).value() <= 50);
}

TEST_CASE(
    "progress: a terminal shows reading and epochs from the start and is clean in the end; a file shows nothing") {
  const TemporaryFolder folder;
  require_dma(folder, "generate regression --out data.csv");
  for (const char* const method : {"--method hybrid --epochs 3", "--epochs 3"}) {
    const std::string fit = std::string("fit data.csv --target y --hidden 5 ") + method;
    const std::string shown = on_terminal(folder, fit);
    check_holds(shown, {"reading data.csv: ", "\r\033[K["});
    CHECK(!holds(shown, "at most"));
    CHECK(shown.substr(shown.rfind("\r\033[K") + 4).find('[') == std::string::npos);
    CHECK(on_terminal(folder, fit + " --quiet").empty());
    CHECK(run_dma(folder, fit).errors.find('\r') == std::string::npos);
  }
}
