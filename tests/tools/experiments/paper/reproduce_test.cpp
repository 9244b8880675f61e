// `dma-lab reproduce` as a whole, small: bytes, resuming, the report, wrong names.
#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "tests/tools/browser.h"
#include "tests/tools/run_dma.h"

namespace {

using namespace dma::testing;

const std::string kSmall = "reproduce laplace --quick --seeds 2 ";

// Everything before the part that depends on the hour and the machine.
std::string decided(const std::string& report) { return report.substr(0, report.find("## This run")); }

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != text.npos; at += part.size()) ++found;
  return found;
}

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
    if (name == "report.html" || name == "RESULTS.md") continue;
    const std::string a = folder.read("a/" + name), b = folder.read("b/" + name);
    CHECK_MESSAGE((name == "report.md" ? decided(a) == decided(b) : a == b), name);
    ++compared;
  }
  CHECK(compared >= 8);  // six units, two tables, the report
}

TEST_CASE("reproduce: killed in the middle it goes on with what was finished, to the same bytes") {
  const TemporaryFolder folder;
  const TemporaryFolder& whole = reproduced().folder;
  const std::vector<std::string> arguments = {"reproduce", "laplace", "--quick", "--seeds", "2",
                                              "--jobs",    "1",       "--out",   "killed"};
  const auto finished = [&] {
    const auto units = folder.path() / "killed" / "units";
    if (!std::filesystem::exists(units)) return std::ptrdiff_t{0};
    return std::ranges::count_if(std::filesystem::directory_iterator(units),
                                 [](const auto& e) { return e.path().extension() == ".json"; });
  };
  const pid_t process = start_lab(folder, arguments);
  while (finished() < 2) usleep(500);
  kill(process, SIGKILL);
  finish(process);
  REQUIRE(finished() >= 2);
  // The oldest finished unit is not computed again: a mark left in it survives.
  const auto kept = *std::filesystem::directory_iterator(folder.path() / "killed" / "units");
  const auto written = std::filesystem::last_write_time(kept.path());
  REQUIRE(finish(start_lab(folder, arguments)) == 0);
  if (kept.path().extension() == ".json") CHECK(std::filesystem::last_write_time(kept.path()) == written);
  CHECK(decided(folder.read("killed/report.md")) == decided(whole.read("r/report.md")));
  CHECK(folder.read("killed/laplace.csv") == whole.read("r/laplace.csv"));
}

TEST_CASE("reproduce: the report has claims, tables, pictures and the run; the page needs nothing else") {
  const TemporaryFolder& folder = reproduced().folder;
  const auto& outcome = reproduced().outcome;
  CHECK(holds(outcome.output, "claims of the paper hold; written: r/report.md"));
  const std::string text = folder.read("r/report.md"), page = folder.read("r/report.html");
  check_holds(text, {"| where | claim | paper | ours | holds |", "(laplace.csv)", "diagonal Laplace", "## This run",
                     "--seeds 2 --seed 1 --quick"});
  CHECK(holds(folder.read("r/laplace.csv"), "method,epochs"));
  CHECK(count(page, "<table") == count(page, "</table>"));
  CHECK(count(page, "<figure ") == count(page, "</figure>"));
  CHECK(holds(page, folder.read("r/laplace.svg")));
  // The only addresses are the names of XML's own vocabularies.
  CHECK(count(page, "http:") + count(page, "https:") == count(page, "http://www.w3.org/"));
  CHECK(!holds(page, "<script"));
}

TEST_CASE("reproduce: files hold claims and tables") {
  const TemporaryFolder folder;
  REQUIRE(run_lab(folder, "reproduce coverage --quick --out r").exit_code == 0);
  CHECK(holds(folder.read("r/table2.csv"), "leaky ReLU"));
  CHECK(holds(folder.read("r/claims.csv"), "\"8 rows\",\"8 rows\",yes,"));
}

TEST_CASE("reproduce: a wrong name is answered with the nearest") {
  const TemporaryFolder folder;
  const auto outcome = run_lab(folder, "reproduce laplase");
  CHECK(outcome.exit_code == 2);
  CHECK(holds(outcome.errors, "there is no command 'laplase'; did you mean 'laplace'?"));
  CHECK(run_lab(folder, "reproduce laplace --seeds 0").exit_code == 2);
  CHECK(folder.files().empty());
}

TEST_CASE("reproduce: a headless browser shows every picture and has no complaint") {
  const std::string browser = installed_browser();
  if (browser.empty()) {
    MESSAGE("no chromium is installed: skipped");
    return;
  }
  const std::string page = reproduced().folder.read("r/report.html");
  const auto seen = look_at(TemporaryFolder(), browser,
                            {{page},
                             {page + "<img src=\"data:image/png,none\">"},
                             {page + "<svg width=\"200\" height=\"200\"><use href=\"#nothing\"/></svg>"}});
  const Seen& report = seen[0];
  CHECK(holds(report.dom, "diagonal Laplace"));
  CHECK(count(report.dom, "<svg") == count(page, "<svg"));
  CHECK(report.nothing_missing());
  CHECK_MESSAGE(!report.complains(), report.log);
  // The look itself sees what it is for.
  CHECK(!seen[1].nothing_missing());
  CHECK(!seen[2].nothing_missing());
  CHECK(look_at(TemporaryFolder(), browser, {{page + "<script>no_such_function()</script>"}})[0].complains());
}
