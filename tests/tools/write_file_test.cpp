#include "tools/dma/write_file.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include "engine/support/error.h"
#include "tests/tools/run_dma.h"

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
