// dma-lab classify: folds, scores, and what it refuses.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

#include "tests/oracles/random_matrices.h"
#include "tests/tools/run_dma.h"
#include "tools/experiments/commands/classes.h"

namespace {

using namespace dma::testing;

// Sixty rows of three classes that two of the columns tell apart.
std::string flowers() {
  const Eigen::MatrixXd x = dma::oracle::random_matrix(60, 3, 1);
  std::string text = "length,width,idle,kind\n";
  const char* names[] = {"lily", "ox eye", "rose"};
  for (int n = 0; n < 60; ++n)
    text += fmt::format("{},{},{},{}\n", (n % 3 == 0 ? 3 : 7) + 0.7 * x(n, 0), (n % 3 == 1 ? 5 : 2) + 0.7 * x(n, 1),
                        x(n, 2), names[n % 3]);
  return text;
}

// The sixth cell of the only row of a report.
double accuracy_in(const std::string& report) {
  std::size_t at = report.rfind("\n| ");
  for (int cell = 0; cell < 6; ++cell) at = report.find('|', at + 1);
  return std::stod(report.substr(at + 1));
}

}  // namespace

TEST_CASE("classify command: folds are by number within the class, and every row is predicted once") {
  const dma::ClassLabels labels = dma::ClassLabels::of({"a", "b", "a", "a", "b", "b"});
  CHECK(dma::classify::stratified_folds(labels, 2) == std::vector<std::size_t>{0, 0, 1, 0, 1, 0});
  const TemporaryFolder folder;
  folder.write("flowers.csv", flowers());
  const auto outcome = run_lab(folder, "classify . --folds 3 --hidden 3 --members 1 --out scores.md");
  CHECK_MESSAGE(outcome.exit_code == 0, outcome.errors);
  CHECK(holds(outcome.output, "| flowers | 60 | 3 | 3 | 3 |"));
  CHECK(holds(folder.read("scores.md"), "| flowers |"));
  CHECK(accuracy_in(run_lab(folder, "classify flowers.csv --folds 3 --hidden none").output) > 0.9);
  check_lab_refused(folder, "classify flowers.csv --filters 2", "--filters: 3 columns are no square picture");
  check_lab_refused(folder, "classify flowers.csv --folds 1", "--folds: 1 is given");
  check_lab_refused(folder, "classify flowers.csv --folds 21", "has 20 rows");
  check_lab_refused(folder, "classify nowhere", "nowhere");
  // A bar that stands or lies anywhere in a picture of 6 x 6: two filters know it wherever it is.
  const Eigen::MatrixXd noise = dma::oracle::random_matrix(120, 36, 2);
  std::string pictures;
  for (int i = 0; i < 36; ++i) pictures += fmt::format("p{},", i);
  pictures += "kind\n";
  for (int n = 0; n < 120; ++n) {
    const int at = n / 2 % 4 * 6 + n / 8 % 4, step = n % 2 == 0 ? 1 : 6;
    for (int i = 0; i < 36; ++i)
      pictures += fmt::format("{},", 0.2 * noise(n, i) + (i == at || i == at + step || i == at + 2 * step ? 1 : 0));
    pictures += n % 2 == 0 ? "lies\n" : "stands\n";
  }
  folder.write("pictures.csv", pictures);
  CHECK(accuracy_in(run_lab(folder, "classify pictures.csv --folds 3 --filters 2").output) > 0.85);
  const TemporaryFolder empty;
  check_lab_refused(empty, "classify .", "holds no .csv file");
}
