// The real program where its outputs fail, signals arrive or numbers are too large.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "tests/tools/run_dma.h"

namespace {

using namespace dma::testing;

constexpr const char* kGood = "x,z,y\n1,5,2\n2,3,4\n3,4,5\n4,9,9\n5,2,11\n";
const std::string kFit = "fit data.csv --target y --hidden 2 --epochs 2 ";
// As wide as that, it has few epochs to write down when it is stopped.
const std::string kEndless =
    "fit data.csv --target y --hidden 100 --epochs 100000000 --tolerance 0 --patience 0 --least-gain 0 ";

// `dma` with its streams as the words say.
std::string with(const std::string& redirections) { return "sh -c '\"$0\" \"$@\" " + redirections + "'"; }

void check_one_line(const Outcome& outcome, int code, const std::string& expected) {
  CHECK(outcome.exit_code == code);
  CHECK_MESSAGE(holds(outcome.errors, expected), outcome.errors);
  CHECK(outcome.errors.starts_with("dma: "));
  CHECK(std::ranges::count(outcome.errors, '\n') == 1);
}

}  // namespace

TEST_CASE("outputs: what standard output loses is an error, however little it is") {
  const TemporaryFolder folder;
  folder.write("data.csv", kGood);
  require_dma(folder, kFit + "--quiet --model model.json");
  for (const char* command :
       {"predict model.json data.csv", "inspect model.json --json", "generate regression", "--help", "--version"})
    for (const char* streams : {">&-", ">/dev/full"}) {
      INFO(command, " ", streams);
      check_one_line(run_dma(folder, command, with(streams)), 2, "cannot write to standard output");
    }
  for (const char* streams : {">&- 2>&-", ">/dev/full 2>/dev/full", "<&- >&- 2>&-"})
    CHECK(run_dma(folder, "predict model.json data.csv", with(streams)).exit_code == 2);
  require_dma(folder, "predict model.json data.csv --out p.csv", with("<&- >&- 2>&-"));
  CHECK(folder.read("p.csv").starts_with("y_mean,"));
}

TEST_CASE("outputs: no command runs from a column, a target or the name of a picture") {
  const TemporaryFolder folder;
  folder.write("data.csv", "\"x`touch PWN`\",\"y';system('touch PWN');'\"\n1,2\n2,3\n3,5\n4,4\n");
  const std::string fit = "fit data.csv --target \"y';system('touch PWN');'\" --hidden 2 --epochs 2 --quiet --plot ";
  require_dma(folder, fit + "\"p'.system('touch PWN').'.svg\"");
  require_dma(folder, fit + "'|touch PWN;.svg'");
  const auto files = folder.files();
  CHECK(std::ranges::find(files, "PWN") == files.end());
  folder.write("data.csv", "\"x\nsystem('touch PWN')\n\",y\n1,2\n2,3\n3,5\n");
  check_one_line(run_dma(folder, "fit data.csv --target y --plot p.svg"), 2, "is never closed");
}

TEST_CASE("outputs: onto an input is refused, a device stays a device, a pipe is written into") {
  const TemporaryFolder folder;
  folder.write("data.csv", kGood);
  require_dma(folder, kFit + "--quiet --model model.json --checkpoint c --checkpoint-every 1");
  for (const std::string& arguments :
       {kFit + "--model data.csv", kFit + "--checkpoint ./data.csv", kFit + "--resume c --model c",
        std::string("predict model.json data.csv --out data.csv"),
        std::string("predict model.json data.csv --out model.json"), kFit + "--model a --checkpoint a",
        std::string("generate regression --out a --grid a"), kFit + "--report data.csv", kFit + "--model m --report m",
        kFit + "--plot p.svg --report p.svg"}) {
    INFO(arguments);
    check_one_line(run_dma(folder, arguments), 2, "name another file");
  }
  CHECK(folder.read("data.csv") == kGood);
  check_one_line(run_dma(folder, "predict model.json data.csv --out /dev/full"), 2, "No space left");
  CHECK(std::filesystem::is_character_file("/dev/full"));
  CHECK(run_dma(folder, "predict model.json data.csv --out /dev/stdout").output ==
        run_dma(folder, "predict model.json data.csv").output);
}

TEST_CASE("outputs: the name of a file is written out where it would command the terminal") {
  const TemporaryFolder folder;
  folder.write("data.csv", kGood);
  for (const char* name : {"m\x1b[2J", "m\nwrote     n", "m\xc2\x9b", "m\u202e"})
    for (const char* json : {"", " --json"}) {
      const auto outcome = require_dma(folder, kFit + "--model '" + name + "'" + json);
      for (const std::string& printed : {outcome.output, outcome.errors}) CHECK(!holds(printed, name));
      CHECK(holds(outcome.output, json[0] == '\0' ? "wrote     m\\x" : "\"files\""));
    }
  check_one_line(run_dma(folder, kFit + "--model missing/m.json"), 2,
                 "--model 'missing/m.json': there is no folder 'missing'; make it");
  check_one_line(run_dma(folder, "fit 'a\x1b[2J' --target y"), 2, "\\x1b");
}

TEST_CASE("outputs: a checkpoint that cannot be written is a warning, and the fit goes on") {
  const TemporaryFolder folder;
  folder.write("data.csv", kGood);
  const auto outcome =
      run_dma(folder, kFit + "--tolerance 0 --quiet --model model.json --checkpoint /dev/full --checkpoint-every 2");
  check_one_line(outcome, 0, "no checkpoint is written: cannot write '/dev/full'");
  CHECK(folder.read("model.json") != "");
}

TEST_CASE("outputs: a signal ends with its number, and the command to go on can be pasted") {
  const TemporaryFolder folder;
  folder.write("data.csv", kGood);
  for (const auto& [name, code] : {std::pair{"TERM", 143}, std::pair{"INT", 130}}) {
    const auto outcome = run_dma(folder, kEndless + "--quiet --model \"my 'model'.json\"",
                                 fmt::format("timeout --preserve-status -s {} 0.5", name));
    CHECK(outcome.exit_code == code);
    CHECK_MESSAGE(
        outcome.errors.ends_with("--model 'my '\\''model'\\''.json' --resume 'my '\\''model'\\''.json.checkpoint'\n"),
        outcome.errors);
  }
}

TEST_CASE("outputs: one SIGTERM ends every command, with its number and nothing left behind") {
  const TemporaryFolder folder, temporary;
  folder.write("data.csv", kGood);
  require_dma(folder, kFit + "--quiet --model model.json");
  REQUIRE(mkfifo((folder.path() / "never").c_str(), 0600) == 0);  // a file that nobody writes
  const auto before = folder.files();
  REQUIRE(setenv("TMPDIR", temporary.path().c_str(), 1) == 0);
  for (const std::string command :
       {"fit never --target y", "fit never --update model.json", "predict model.json never", "predict never data.csv",
        "infer never", "smooth never", "rate never", "inspect never", "generate regression --out never",
        "certify all --quick", "certify product --out certificates",
        "fit data.csv --target y --hidden 2 --epochs 100000000 --tolerance 0 --patience 0 --least-gain 0",
        "lab classify never", "lab honesty", "lab compare", "lab reproduce regression --out paper"}) {
    INFO(command);
    std::vector<std::string> arguments;
    std::istringstream words(command);
    for (std::string word; words >> word;) arguments.push_back(word);
    const bool in_lab = arguments[0] == "lab";
    if (in_lab) arguments.erase(arguments.begin());
    const pid_t process = in_lab ? start_lab(folder, arguments) : start_dma(folder, arguments);
    usleep(100'000);
    kill(process, SIGTERM);
    CHECK(finish(process) == 143);
    for (const char* made : {"certificates", "paper"}) std::filesystem::remove_all(folder.path() / made);
    CHECK(folder.files() == before);
    CHECK(temporary.files().empty());
  }
  unsetenv("TMPDIR");
}

TEST_CASE("outputs: a signal while a picture is drawn ends the drawing too and leaves no folder of temporary files") {
  const TemporaryFolder folder, temporary, programs;
  folder.write(
      "g.json",
      R"({"variables": {"x": {"observed": 1}, "y": {}}, "factors": [{"kind": "copy", "connects": ["x", "y"]}]})");
  programs.write("dot", "#!/bin/sh\ntouch \"${0%/*}/drawing\"\nexec sleep 1000\n");
  std::filesystem::permissions(programs.path() / "dot", std::filesystem::perms::owner_all);
  const std::string path = std::getenv("PATH");
  setenv("PATH", (programs.path().string() + ":" + path).c_str(), 1);
  setenv("TMPDIR", temporary.path().c_str(), 1);
  const pid_t process = start_dma(folder, {"infer", "g.json", "--plot", "p.svg"});
  while (!std::filesystem::exists(programs.path() / "drawing")) usleep(1000);
  CHECK(!temporary.files().empty());
  kill(process, SIGTERM);
  CHECK(finish(process) == 143);
  CHECK(temporary.files().empty());
  CHECK(folder.files() == std::vector<std::string>{"g.json"});
  setenv("PATH", path.c_str(), 1);
  unsetenv("TMPDIR");
}

TEST_CASE("outputs: numbers beyond what the priors can reach are a warning") {
  const TemporaryFolder folder;
  folder.write("data.csv", "x,y\n1,100000\n2,100001\n3,100002\n4,100003\n");
  const std::string fit = kFit + "--no-standardise --noise 1 --quiet --model model.json";
  check_one_line(run_dma(folder, fit + " --method dma"), 0, "beyond what the priors can reach");
  // Joint learning widens its priors and reaches them.
  CHECK(run_dma(folder, fit).errors == "");
  CHECK(holds(run_dma(folder, "predict model.json data.csv --json").output, "100000.99"));
}

TEST_CASE("outputs: a table of a hundred thousand columns is fitted and predicted") {  // comparing all pairs took 11 s
  std::string csv = "y";
  for (int j = 0; j < 100'000; ++j) csv += fmt::format(",c{}", j);
  for (int i = 0; i < 3; ++i) {
    csv += fmt::format("\n{}", i * i);
    for (int j = 0; j < 100'000; ++j) csv += (i + j) % 3 == 0 ? ",1" : ",2";
  }
  const TemporaryFolder folder;
  folder.write("data.csv", csv + "\n");
  require_dma(folder, "fit data.csv --target y --hidden 1 --epochs 1 --quiet --model model.json");
  require_dma(folder, "predict model.json data.csv");
}
