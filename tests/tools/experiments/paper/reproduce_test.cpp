// `dma-lab reproduce` as a whole, small: bytes, resuming, the report, wrong names.
#include <doctest/doctest.h>

#include <filesystem>

#include "tests/tools/run_dma.h"

namespace {

using namespace dma::testing;

const std::string kSmall = "reproduce laplace --quick --seeds 2 ";

// Everything before the lines that depend on the hour and the machine.
std::string decided(const std::string& results) { return results.substr(0, results.rfind("`dma-lab reproduce")); }

// A folder r with all that one job made of it, once for all cases; and what it printed.
struct Reproduced {
  TemporaryFolder folder;
  Outcome outcome = run_lab(folder, kSmall + "--jobs 1 --out r");
};
const Reproduced& reproduced() {
  static const Reproduced once;
  REQUIRE_MESSAGE(once.outcome.exit_code == 0, once.outcome.errors);
  return once;
}

}  // namespace

TEST_CASE("reproduce: one seed gives the same bytes for any number of jobs") {
  const TemporaryFolder folder;
  std::filesystem::copy(reproduced().folder.path() / "r", folder.path() / "a",
                        std::filesystem::copy_options::recursive);
  REQUIRE(run_lab(folder, kSmall + "--jobs 3 --out b").exit_code == 0);
  std::size_t compared = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path() / "a")) {
    if (!entry.is_regular_file()) continue;
    const std::string name = std::filesystem::relative(entry.path(), folder.path() / "a").string();
    if (name == "report.html") continue;
    const std::string a = folder.read("a/" + name), b = folder.read("b/" + name);
    CHECK_MESSAGE((name == "RESULTS.md" ? decided(a) == decided(b) : a == b), name);
    ++compared;
  }
  CHECK(compared == 8);  // six units, a picture, the results
}

TEST_CASE("reproduce: the report has claims, pictures and the run; the page needs nothing else") {
  const TemporaryFolder& folder = reproduced().folder;
  const auto& outcome = reproduced().outcome;
  CHECK(holds(outcome.output, "claims of the paper hold; written: r/report.html"));
  const std::string text = folder.read("r/RESULTS.md"), page = folder.read("r/report.html");
  check_holds(text, {"| where | claim | paper | ours | holds |", "diagonal Laplace: median extrapolation NLL",
                     "`dma-lab reproduce laplace --seeds 2 --seed 1 --quick`"});
  CHECK(count_of("<table", page) == count_of("</table>", page));
  CHECK(count_of("<figure ", page) == count_of("</figure>", page));
  CHECK(holds(page, folder.read("r/laplace.svg")));
  // The only addresses are the names of XML's own vocabularies.
  CHECK(count_of("http:", page) + count_of("https:", page) == count_of("http://www.w3.org/", page));
}

TEST_CASE("reproduce: a wrong name is answered with the nearest") {
  const TemporaryFolder folder;
  const auto outcome = run_lab(folder, "reproduce laplase");
  CHECK(outcome.exit_code == 2);
  CHECK(holds(outcome.errors, "there is no command 'laplase'; did you mean 'laplace'?"));
  CHECK(run_lab(folder, "reproduce laplace --seeds 0").exit_code == 2);
  CHECK(folder.files().empty());
}
