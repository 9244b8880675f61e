#include "tools/dma/io/write_file.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <memory>

#include "engine/support/text.h"
#include "tests/tools/run_dma.h"
#include "tools/dma/io/interrupt.h"

using dma::testing::TemporaryFolder;

TEST_CASE("write_file: a file is replaced whole, missing folders are made, nothing else is left") {
  const TemporaryFolder folder;
  dma::write_file(folder.path() / "a", "first, and longer");
  dma::write_file(folder.path() / "a", "second");
  CHECK(folder.read("a") == "second");
  CHECK(folder.files() == std::vector<std::string>{"a"});
  dma::write_file(folder.path() / "new/deep/a", "third");
  CHECK(folder.read("new/deep/a") == "third");
}

TEST_CASE("write_file: what cannot be written is one line, known beforehand, and leaves nothing") {
  const TemporaryFolder folder;
  folder.write("file", "old");
  for (const char* name : {"", "file/inside"}) {
    const auto path = folder.path() / name;
    CHECK_THROWS_WITH_AS(dma::write_file(path, "text"), doctest::Contains("cannot write '"), dma::Error);
    CHECK_THROWS_WITH_AS(dma::check_writable(path), doctest::Contains("cannot write '"), dma::Error);
  }
  CHECK(folder.files() == std::vector<std::string>{"file"});
  CHECK(folder.read("file") == "old");
  dma::check_writable(folder.path() / "file");
  dma::check_writable(folder.path() / "other");
  CHECK(folder.files() == std::vector<std::string>{"file"});
  CHECK(folder.read("file") == "old");
}

TEST_CASE("write_file: a link stays a link and what it leads to is written, also where that is not there yet") {
  const TemporaryFolder folder;
  folder.write("target", "old");
  std::filesystem::create_symlink("target", folder.path() / "link");
  std::filesystem::create_symlink("link", folder.path() / "second");
  std::filesystem::create_symlink("new", folder.path() / "dangling");
  dma::write_file(folder.path() / "second", "text");
  dma::write_file(folder.path() / "dangling", "more");
  CHECK(std::filesystem::is_symlink(folder.path() / "link"));
  CHECK(std::filesystem::is_symlink(folder.path() / "dangling"));
  CHECK(folder.read("target") == "text");
  CHECK(folder.read("new") == "more");
  std::filesystem::create_symlink("round", folder.path() / "round");
  CHECK_THROWS_AS(dma::write_file(folder.path() / "round", "text"), dma::Error);
  CHECK(folder.files() == std::vector<std::string>{"dangling", "link", "new", "round", "second", "target"});
}

TEST_CASE("write_file: pipes and devices are written into, not replaced") {
  const TemporaryFolder folder;
  const std::string pipe = (folder.path() / "pipe").string();
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  dma::check_writable(pipe);
  dma::write_file(pipe, "through");
  char got[16] = {};
  CHECK(read(reader, got, sizeof got) == 7);
  CHECK(std::string(got) == "through");
  close(reader);
  CHECK(std::filesystem::is_fifo(pipe));
  dma::write_file("/dev/null", "away");
  CHECK(std::filesystem::is_character_file("/dev/null"));
  std::filesystem::create_symlink("/dev/full", folder.path() / "full");
  CHECK_THROWS_WITH_AS(dma::write_file(folder.path() / "full", "text"), doctest::Contains("No space left"), dma::Error);
}

TEST_CASE("write_file: the mode of an existing file is kept, a new one follows the umask") {
  const TemporaryFolder folder;
  folder.write("private", "old");
  const auto mode = [&](const char* file) { return std::filesystem::status(folder.path() / file).permissions(); };
  std::filesystem::permissions(folder.path() / "private", std::filesystem::perms(0640));
  dma::write_file(folder.path() / "private", "new");
  CHECK(mode("private") == std::filesystem::perms(0640));
  const mode_t mask = umask(027);
  dma::write_file(folder.path() / "fresh", "new");
  umask(mask);
  CHECK(mode("fresh") == std::filesystem::perms(0640));
}

TEST_CASE("write_file: files and links of the names that a temporary could have are left alone") {
  const TemporaryFolder folder;
  folder.write("a.part", "mine");
  folder.write("precious", "data");
  std::filesystem::create_symlink("precious", folder.path() / "b.part");
  dma::write_file(folder.path() / "a", "text");
  dma::write_file(folder.path() / "b", "text");
  CHECK(folder.read("a.part") == "mine");
  CHECK(folder.read("precious") == "data");
}

TEST_CASE("write_file: many writers of one file leave one of their texts, whole, and nothing else") {
  const TemporaryFolder folder;
  std::vector<pid_t> writers;
  for (int i = 0; i < 8; ++i) {
    writers.push_back(fork());
    if (writers.back() != 0) continue;
    for (int round = 0; round < 20; ++round)
      dma::write_file(folder.path() / "a", std::string(100'000, static_cast<char>('a' + i)));
    _exit(0);
  }
  for (const pid_t writer : writers) CHECK(dma::testing::finish(writer) == 0);
  const std::string text = folder.read("a");
  CHECK(text == std::string(100'000, text[0]));
  CHECK(folder.files() == std::vector<std::string>{"a"});
}

TEST_CASE("write_file: signals wait until the last of several writers has ended, and are then what they were") {
  static volatile std::sig_atomic_t heard = 0;
  struct sigaction count = {}, before = {}, after = {};
  count.sa_handler = [](int) { heard = heard + 1; };
  sigaction(SIGTERM, &count, &before);
  auto first = std::make_unique<dma::SignalsHeld>(), second = std::make_unique<dma::SignalsHeld>();
  raise(SIGTERM);
  first.reset();
  CHECK(heard == 0);
  CHECK(dma::SignalsHeld::is_waiting());
  second.reset();
  CHECK(heard == 1);
  sigaction(SIGTERM, &before, &after);
  CHECK((after.sa_handler == count.sa_handler));
}

TEST_CASE("write_file: a check before the work makes no folders, and a file needs one that is there") {
  const TemporaryFolder folder;
  dma::check_writable(folder.path() / "new/deep/a");
  CHECK_THROWS_WITH_AS(dma::check_outputs({{"--model", folder.path() / "new/m.json"}}, {}),
                       doctest::Contains("there is no folder '"), dma::Error);
  CHECK(folder.files().empty());
}

TEST_CASE("write_file: an output that is an input, by whatever name, or another output, is refused") {
  const TemporaryFolder folder;
  folder.write("data.csv", "x");
  std::filesystem::create_hard_link(folder.path() / "data.csv", folder.path() / "same");
  std::filesystem::create_symlink("data.csv", folder.path() / "link");
  for (const char* name : {"data.csv", "./data.csv", "same", "link"}) {
    INFO(name);
    CHECK_THROWS_WITH_AS(
        dma::check_outputs({{"--model", folder.path() / name}}, {{"data", folder.path() / "data.csv"}}),
        doctest::Contains("is the file that is read as data"), dma::Error);
  }
  CHECK_THROWS_WITH_AS(dma::check_outputs({{"--model", folder.path() / "m"}, {"--out", folder.path() / "./m"}}, {}),
                       doctest::Contains("is also the file for --model"), dma::Error);
  dma::check_outputs({{"--model", folder.path() / "m"}, {"--out", {}}, {"--plot", {}}},
                     {{"data", folder.path() / "data.csv"}});
  dma::check_outputs({{"--model", "/dev/null"}, {"--out", "/dev/null"}}, {});
}
