// Tables that are read in shards, and what is known of all of them together.
#include <doctest/doctest.h>

#include <cmath>
#include <thread>

#include "tests/oracles/meeting_team.h"
#include "tests/tools/run_dma.h"
#include "tools/dma/fit/redundant_columns.h"
#include "tools/dma/fit/training_data.h"
#include "tools/dma/io/csv.h"

namespace {

using namespace dma;
using dma::testing::TemporaryFolder;

const std::vector<std::size_t> kLastAndFirst = {2, 0};

Eigen::MatrixXd of_shards(const std::filesystem::path& path, std::size_t shards) {
  Eigen::MatrixXd all(0, 2);
  for (std::size_t k = 0; k < shards; ++k) {
    const auto part = CsvReader(path).read_shard(kLastAndFirst, k, shards);
    REQUIRE(part);
    Eigen::MatrixXd longer(all.rows() + part->rows(), 2);
    longer << all, *part;
    all = std::move(longer);
  }
  return all;
}

}  // namespace

TEST_CASE("csv shards: together they are all rows in their order, wherever the file is cut") {
  const TemporaryFolder folder;
  std::string text = "a,b,c\n";
  for (int n = 0; n < 12; ++n)
    text += std::to_string(std::sin(n)) + (n % 7 == 0 ? ",text, " : ",,") + std::to_string(n) + "\n";
  for (const std::string& rows : {text, text.substr(0, text.size() - 1), text + "\n\n",
                                  std::string("a,b,c\r\n1,2,3\r\n4,5,6\r\n"), std::string("a,b,c\n1,2,3")}) {
    folder.write("t.csv", rows);
    const Eigen::MatrixXd whole = CsvReader(folder.path() / "t.csv").read(kLastAndFirst);
    for (const std::size_t shards : {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{4}, std::size_t{7},
                                     std::size_t{64}, rows.size() + 1}) {  // the last of one byte, or none
      CAPTURE(shards);
      const Eigen::MatrixXd found = of_shards(folder.path() / "t.csv", shards);
      REQUIRE(found.rows() == whole.rows());
      CHECK(found == whole);
    }
  }
}

TEST_CASE("csv shards: a shard with a line that is not plain is nobody's, the others are read") {
  const TemporaryFolder folder;
  folder.write("t.csv", "a,b,c\n1,2,3\n4,5,6\n1,2,3\n7,8,\"9\"\n");
  CHECK(CsvReader(folder.path() / "t.csv").read_shard(kLastAndFirst, 0, 2).has_value());
  CHECK(!CsvReader(folder.path() / "t.csv").read_shard(kLastAndFirst, 1, 2).has_value());
  CHECK(!CsvReader("text", "a,b,c\n1,2,3\n").read_shard(kLastAndFirst, 0, 1).has_value());
}

TEST_CASE("idle columns: constants and copies are left out, however large the numbers; processes find what one finds") {
  Eigen::MatrixXd x(200, 7);
  for (Eigen::Index n = 0; n < x.rows(); ++n) {
    const auto t = static_cast<double>(n);
    x.row(n) << std::sin(t), 5, 3 - 2e150 * std::sin(t), 1e200 * std::cos(t), std::sin(t) + 1e-6 * std::cos(t),
        std::cos(t) + 1e4, t;
  }
  const std::vector<std::string> names = {"a", "five", "mirror", "large", "near", "shifted", "t"};
  const RedundantColumns alone = redundant_columns(x, names);
  CHECK(alone.kept == std::vector<Eigen::Index>{0, 3, 4, 6});
  CHECK(alone.text ==
        "columns ignored, because they say nothing new: 'five' (constant), 'mirror' (as 'a'), 'shifted' (as 'large')");
  oracle::MeetingTeam::Place place(2);
  std::vector<RedundantColumns> found(2);
  {
    std::vector<std::jthread> threads;
    for (std::size_t rank = 0; rank < 2; ++rank)
      threads.emplace_back([&, rank] {
        const Eigen::MatrixXd own = rank == 0 ? x.topRows(1) : x.bottomRows(199);  // constant by itself
        found[rank] = redundant_columns(own, names, std::make_shared<oracle::MeetingTeam>(place, rank));
      });
  }
  for (const RedundantColumns& own : found) {
    CHECK(own.kept == alone.kept);
    CHECK(own.text == alone.text);
  }
}

TEST_CASE("training data: the fingerprint knows every number, its place, and whether its row is held out") {
  TrainingData data;
  data.features = {"a"}, data.targets = {"y"};
  data.inputs = Eigen::MatrixXd::Random(5, 1), data.outputs = Eigen::MatrixXd::Random(5, 1);
  data.held_out_inputs = Eigen::MatrixXd::Random(1, 1), data.held_out_outputs = Eigen::MatrixXd::Random(1, 1);
  const std::string before = data.fingerprint();
  const auto changed = [&](const auto& change) {
    TrainingData other = data;
    change(other);
    return other.fingerprint() != before;
  };
  CHECK(!changed([](TrainingData&) {}));
  CHECK(changed([](TrainingData& d) { d.inputs(4, 0) += 1e-9; }));
  CHECK(changed([](TrainingData& d) { d.outputs(0, 0) += 1e-9; }));
  CHECK(
      changed([](TrainingData& d) { d.inputs.row(0).swap(d.inputs.row(1)), d.outputs.row(0).swap(d.outputs.row(1)); }));
  CHECK(changed([](TrainingData& d) {
    d.inputs.row(0).swap(d.held_out_inputs.row(0)), d.outputs.row(0).swap(d.held_out_outputs.row(0));
  }));
  CHECK(changed([](TrainingData& d) { d.features[0] = "b"; }));
}
