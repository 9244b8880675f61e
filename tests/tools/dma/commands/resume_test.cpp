// A fit that is interrupted or killed, and resumed, ends with the same bytes as one left alone.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>

#include "tests/tools/run_dma.h"

namespace {

using namespace dma::testing;

// Long enough to be hit in the middle, twice over: two members of many short epochs.
const std::vector<std::string> kResumedFit = {
    "fit",      "data.csv",   "--target",     "y", "--hidden",           "6,5", "--members", "2",
    "--epochs", "60",         "--tolerance",  "0", "--patience",         "0",   "--holdout", "0.1",
    "--model",  "model.json", "--checkpoint", "c", "--checkpoint-every", "1",   "--method",  "hybrid"};

std::vector<std::string> resumed() {
  auto arguments = kResumedFit;
  arguments.insert(arguments.end(), {"--resume", "c"});
  return arguments;
}

struct TableFolder : TemporaryFolder {
  TableFolder() { require_dma(*this, "generate regression --out data.csv"); }
};

// The bytes of the model of a fit that ran to its end, fitted once.
const std::string& undisturbed_model() {
  static const std::string model = [] {
    const TableFolder folder;
    REQUIRE(finish(start_dma(folder, kResumedFit)) == 0);
    return folder.read("model.json");
  }();
  return model;
}

void wait_for_checkpoint(const TemporaryFolder& folder) {
  while (!std::filesystem::exists(folder.path() / "c")) usleep(1000);
}

}  // namespace

TEST_CASE("resume: killed with kill -9 again and again, the model is the same bytes in the end") {
  const std::string& expected = undisturbed_model();
  const TableFolder folder;
  int kills = 0;
  unsigned milliseconds = 20;
  for (;;) {
    const pid_t process = start_dma(folder, std::filesystem::exists(folder.path() / "c") ? resumed() : kResumedFit);
    usleep(1000 * milliseconds);
    kill(process, SIGKILL);
    if (finish(process) == 0) break;
    ++kills;
    // Not there yet; or, if the blow fell after the last word was written, whole.
    const std::string model = folder.read("model.json");
    CHECK((model.empty() || model == expected));
    milliseconds += 5 + milliseconds / 20;  // in the end, long enough to get through on the slowest machine
    REQUIRE(kills < 500);
  }
  MESSAGE("killed ", kills, " times");
  CHECK(kills > 0);
  CHECK(folder.read("model.json") == expected);
}

TEST_CASE("resume: Ctrl-C finishes the epoch, saves, says how to go on, and going on gives the same bytes") {
  const std::string& expected = undisturbed_model();
  const TableFolder folder;
  const pid_t process = start_dma(folder, kResumedFit);
  wait_for_checkpoint(folder);
  kill(process, SIGINT);
  REQUIRE(finish(process) == 130);
  CHECK(folder.read("model.json") != "");  // usable as it is
  CHECK(folder.read("model.json") != expected);
  require_dma(folder, "predict model.json data.csv --out p.csv");
  REQUIRE(finish(start_dma(folder, resumed())) == 0);
  CHECK(folder.read("model.json") == expected);
}

TEST_CASE("resume: a second Ctrl-C ends the fit at once and loses nothing that a checkpoint had") {
  const std::string& expected = undisturbed_model();
  const TableFolder folder;
  for (unsigned milliseconds = 0; milliseconds < 16; milliseconds += 3) {  // while it learns, writes, or is gone
    std::filesystem::remove(folder.path() / "c");
    const pid_t process = start_dma(folder, kResumedFit);
    wait_for_checkpoint(folder);
    kill(process, SIGINT);
    usleep(1000 * milliseconds);
    kill(process, SIGINT);
    CHECK(finish(process) == 130);
    CHECK(folder.read("c") != "");
    for (const std::string& file : folder.files()) CHECK(!holds(file, ".part"));
  }
  REQUIRE(finish(start_dma(folder, resumed())) == 0);
  CHECK(folder.read("model.json") == expected);
}

TEST_CASE("resume: stopped while rows held out choose the width, or later, a fit ends with the same bytes") {
  const std::vector<std::string> fit = {
      "fit",    "data.csv", "--target",           "y", "--model", "model.json", "--quiet", "--checkpoint", "c",
      "--jobs", "1",        "--checkpoint-every", "1"};
  const TemporaryFolder folder;
  folder.write("data.csv", run_dma(folder, "generate regression --out all.csv && head -n 61 all.csv").output);
  REQUIRE(finish(start_dma(folder, fit)) == 0);
  const std::string expected = folder.read("model.json");
  CHECK(holds(expected, "choose_width"));
  for (const bool chosen : {false, true}) {
    std::filesystem::remove(folder.path() / "c");
    const pid_t process = start_dma(folder, fit);
    if (chosen)
      wait_for_checkpoint(folder);
    else
      usleep(50'000);
    kill(process, SIGINT);
    if (finish(process) == 0) continue;  // it was too quick
    auto again = fit;
    if (std::filesystem::exists(folder.path() / "c")) again.insert(again.end(), {"--resume", "c"});
    REQUIRE(finish(start_dma(folder, again)) == 0);
    CHECK(folder.read("model.json") == expected);
  }
}
