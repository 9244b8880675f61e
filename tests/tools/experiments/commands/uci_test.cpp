#include "tools/experiments/commands/uci.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "engine/support/text.h"
#include "tests/oracles/relative.h"
#include "tests/tools/run_dma.h"

namespace {

using namespace dma;
namespace fs = std::filesystem;

// A small folder of the layout, with a trailing empty line as some of the real ones have.
struct UciFolder {
  fs::path path = fs::temp_directory_path() / "dma_uci_test" / "waves";
  UciFolder() {
    fs::remove_all(path.parent_path());
    fs::create_directories(path);
    std::ofstream data(path / "data.txt");
    for (int i = 0; i < 60; ++i)
      data << std::sin(0.7 * i) << "  " << 0.1 * i << " " << std::sin(0.7 * i) + 0.01 * i << "\n";
    data << "\n";
    write("index_features.txt", "0\n1\n");
    write("index_target.txt", "2\n");
    for (int split = 0; split < 2; ++split) {
      std::string train, test;
      for (int i = 0; i < 60; ++i) (i % 10 == split ? test : train) += std::to_string(i) + "\n";
      write("index_train_" + std::to_string(split) + ".txt", train);
      write("index_test_" + std::to_string(split) + ".txt", test);
    }
  }
  ~UciFolder() { fs::remove_all(path.parent_path()); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(path / name) << text; }
};

}  // namespace

TEST_CASE("uci: a folder is read as its layout says") {
  const UciFolder folder;
  const uci::DataFolder data = uci::read_data_folder(folder.path, 20);
  CHECK(data.name == "waves");
  CHECK(data.inputs.rows() == 60);
  CHECK(data.inputs.cols() == 2);
  CHECK(data.targets(3, 0) == oracle::relative(std::sin(2.1) + 0.03, 1e-4));
  CHECK(data.train.size() == 2);
  CHECK(data.test[1].size() == 6);
}

TEST_CASE("uci: a row per folder, whose scores do not depend on the number of jobs; the fit is better than the mean") {
  const UciFolder folder;
  const uci::DataFolder data = uci::read_data_folder(folder.path, 2);
  const auto run = [&](std::size_t jobs) {
    return run_splits("waves", 2, jobs, [&](std::size_t split) { return uci::run_split(data, split, 1, {}); });
  };
  const auto one = run(1), two = run(2);
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t column = 0; column < 5; ++column) CHECK(one[i][column] == two[i][column]);  // all but the seconds
    CHECK(one[i][0] < 0.4);  // RMSE; the target's own deviation is 0.7
  }
}

TEST_CASE("score table: means, standard errors and the least of some splits") {
  using Shows = ScoreColumn::Shows;
  const testing::TemporaryFolder folder;
  ScoreTable table("Made up.", {"set"},
                   {{"a", 1, Shows::mean_and_error}, {"b"}, {"c", 0, Shows::least}, {"d", 1, Shows::median_and_range}},
                   {"note"});
  table.add({"first"}, {{1, 2, 3, 9}, {2, 3, -1, 1}, {3, 7, 5, 2}}, {"x | y"});
  table.write(folder.path() / "t.md");
  CHECK(folder.read("t.md") == R"(Made up.

| set | a | b | c | d | note |
|---|---|---|---|---|---|
| first | 2.0 ± 0.6 | 4.00 | -1 | 2.0 (4.0) | x \| y |
)");
}

TEST_CASE("uci: rows held out are training rows") {
  uci::DataFolder data{"made", {}, {}, {{}}, {{100, 101}}};
  for (Eigen::Index n = 0; n < 40; ++n) data.train[0].push_back(n);
  uci::hold_back(data);
  CHECK(data.test[0] == std::vector<Eigen::Index>{0, 10, 20, 30});
  CHECK(data.train[0].size() == 36);
  CHECK(std::ranges::find(data.train[0], 100) == data.train[0].end());
}

TEST_CASE("uci: what is wrong with a folder is said with its file") {
  const UciFolder folder;
  const auto message = [&] {
    try {
      (void)uci::read_data_folder(folder.path, 1);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  folder.write("index_train_0.txt", "0\n60\n");
  CHECK(message().find("index_train_0.txt: index 60 is not a whole number from 0 to 59") != std::string::npos);
  folder.write("data.txt", "1 2 3\n4 five 6\n");
  CHECK(message().find("data.txt, line 2: 'five 6' is not a number") != std::string::npos);
  folder.write("data.txt", "1 2 3\n4 5\n");
  CHECK(message().find("row 1 has 2 numbers but the first has 3") != std::string::npos);
}
