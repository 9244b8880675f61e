// dma fit --report: the page, its JSON, and what a browser makes of it.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/support/json.h"
#include "tests/oracles/model_files.h"
#include "tests/oracles/random_matrices.h"
#include "tests/oracles/relative.h"
#include "tests/tools/browser.h"
#include "tests/tools/run_dma.h"

namespace {

using dma::Json;
using namespace dma::testing;

const std::string kQuick = " --hidden 3 --members 1 --epochs 12 ";

// y follows the first column, not the second; z both.
std::string numbers_table(int rows, const std::string& header = "first,idle,y,z") {
  const Eigen::MatrixXd x = dma::oracle::random_matrix(rows, 4, 11);
  std::string text = header + "\n";
  for (int n = 0; n < rows; ++n)
    text += fmt::format("{},{},{},{}\n", x(n, 0), 10 * x(n, 1), 50 + 7 * x(n, 0) + 2 * x(n, 2),
                        x(n, 0) - x(n, 1) + x(n, 3));
  return text;
}

std::string classes_table(int rows, const std::string& header = "first,idle,kind",
                          const std::vector<std::string>& names = {"a", "b", "c"}) {
  const Eigen::MatrixXd x = dma::oracle::random_matrix(rows, 2, 12);
  std::string text = header + "\n";
  for (int n = 0; n < rows; ++n)
    text += fmt::format("{},{},\"{}\"\n", x(n, 0) + 3 * (n % 3), x(n, 1), names[static_cast<std::size_t>(n % 3)]);
  return text;
}

Json embedded(const std::string& page) {
  const std::string opening = "<script type=\"application/json\" id=\"report\">";
  const auto begin = page.find(opening) + opening.size();
  return dma::parse_json(page.substr(begin, page.find("</script>", begin) - begin));
}

// The JSON that --json printed, without the seconds of each stage, which the page has not.
Json printed(const std::string& output) {
  Json json = dma::parse_json(output);
  CHECK(json["seconds"].size() >= 4);
  for (const Json& stage : json["seconds"]) CHECK(stage.get<double>() >= 0);
  json.erase("seconds");
  return json;
}

// Runs the fit, checks that page and --json hold the same, and returns the latter.
Json fit_with_report(const TemporaryFolder& folder, const std::string& arguments) {
  const auto outcome = require_dma(folder, "fit " + arguments + kQuick + "--json --report report.html");
  const Json json = printed(outcome.output);
  CHECK(embedded(folder.read("report.html")) == json);
  return json;
}

// Every number on the page against the place in the JSON that it names, to the digits shown; and a note under the
// pointer.
constexpr const char* kCheckNumbers = R"(
const json = JSON.parse(document.getElementById('report').textContent);
const wrong = [];
const shown = [...document.querySelectorAll('[data-at]')];
for (const element of shown) {
  const value = element.dataset.at.split('/').slice(1).reduce((part, key) => part[key], json);
  const text = element.textContent.replace(' %', '');
  if (typeof value === 'string' ? value === text : (() => {
    const [digits, power] = text.split('e');
    const last = 10 ** (Number(power || 0) - (digits.split('.')[1] || '').length);
    return Math.abs(Number(text) - value * Number(element.dataset.times || 1)) <= 0.500001 * last;
  })()) continue;
  wrong.push(element.dataset.at + ' ' + text + ' ' + value);
}
const mark = document.querySelector('[data-note]');
mark.dispatchEvent(new PointerEvent('pointermove', { bubbles: true, clientX: 50, clientY: 50 }));
const note = document.getElementById('note');
document.body.setAttribute('data-any-shown', shown.length > 0);
document.body.setAttribute('data-wrong', wrong.join('; ') || 'none');
document.body.setAttribute('data-note-seen', note.style.display === 'block' && note.textContent === mark.dataset.note);
document.body.setAttribute('data-dots', document.querySelectorAll('circle.dot').length);
const too_wide = [document.documentElement.scrollWidth > innerWidth];
note.style.display = 'none';
document.body.style.margin = '0';
document.body.style.width = '390px';
for (const part of document.querySelectorAll('body > *, figure, figure h4, .key span')) {
  const box = part.closest('.full') || part;
  too_wide.push(box.getBoundingClientRect().right > 391);
}
document.body.setAttribute('data-too-wide', too_wide.includes(true));
)";

// The last case of this file opens these pages in a browser, all at once; each must show its text.
std::vector<Expected> pages_to_open;

void open_in_browser(const TemporaryFolder& folder, const std::string& expected = "<svg") {
  pages_to_open.push_back({{folder.read("report.html"), kCheckNumbers},
                           {expected, "data-wrong=\"none\"", "data-any-shown=\"true\"", "data-note-seen=\"true\"",
                            "data-too-wide=\"false\""}});
}

}  // namespace

TEST_CASE(
    "report: the page of a regression holds what --json prints, is judged by left-out rows, and knows the column that "
    "matters") {
  const TemporaryFolder folder;
  folder.write("data.csv", numbers_table(80));
  const Json json = fit_with_report(folder, "data.csv --target y --features first,idle");
  const Json& report = json["report"];
  CHECK(report["judged_by"] == "left_out");
  const Json& target = report["targets"][0];
  CHECK(target["scores"]["left_out"]["rmse"] == json["left_out"]["y"]["rmse"]);
  CHECK(target["coverage"][18]["found"].get<double>() ==
        dma::oracle::relative(json["left_out"]["y"]["coverage_95"].get<double>(), 1e-5));
  CHECK(target["points"]["observed"].size() == 80);
  CHECK(target["importance"]["inputs"][0]["name"] == "first");
  CHECK(target["importance"]["inputs"][0]["rise"] > 3.0);
  CHECK(target["importance"]["inputs"][1]["rise"].get<double>() < 0.5);
  const Json& curve = target["dependence"][0];
  CHECK(curve["mean"].back().get<double>() - curve["mean"][0].get<double>() > 10);
  for (std::size_t i = 0; i < curve["x"].size(); ++i)
    CHECK((curve["low"][i] < curve["mean"][i] && curve["mean"][i] < curve["high"][i]));
  CHECK(json["files"] == Json::array({"report.html"}));
  const std::string page = folder.read("report.html");
  check_holds(page, {"as if it had been left out", "These are rows that were learned", "--report report.html",
                     "digraph", " epochs, stopped "});
  CHECK(!holds(page, "http:"));
  CHECK(!holds(page, "https:"));
  // Every row in two pictures, 20 intervals, 19 quantiles, and the epochs.
  const std::size_t epochs = report["training"][0]["epoch"].size();
  open_in_browser(folder, fmt::format("data-dots=\"{}\"", 2 * 80 + 20 + 19 + epochs));
}

TEST_CASE("report: one seed gives one page, and the model is the same with and without it") {
  const TemporaryFolder folder;
  folder.write("data.csv", numbers_table(50));
  const std::string fit = "fit data.csv --target y --quiet" + kQuick;
  require_dma(folder, fit + "--report r.html --model m.json");
  const std::string page = folder.read("r.html"), model = folder.read("m.json");
  require_dma(folder, fit + "--report r.html --model m.json");
  CHECK(folder.read("r.html") == page);
  require_dma(folder, fit + "--model m.json");
  CHECK(folder.read("m.json") == model);
  const auto said = run_dma(folder, "fit data.csv --target y" + kQuick + "--report r.html --verbose");
  CHECK(holds(said.output, "wrote     r.html"));
  check_holds(said.output, {" reading\n", " preparing\n", " writing\n"});
  CHECK(!embedded(folder.read("r.html")).contains("seconds"));
}

TEST_CASE("report: several targets have a section each; rows kept aside come first") {
  const TemporaryFolder folder;
  folder.write("data.csv", numbers_table(120));
  const Json json = fit_with_report(folder, "data.csv --target y --target z --holdout 0.3");
  CHECK(json["report"]["judged_by"] == "held_out");
  REQUIRE(json["report"]["targets"].size() == 2);
  for (const Json& target : json["report"]["targets"]) {
    CHECK(target["scores"]["held_out"]["rmse"] == json["held_out"][target["name"].get<std::string>()]["rmse"]);
    CHECK(target["scores"].contains("left_out"));
    CHECK(target["points"]["rows"] == 36);
  }
  const std::string page = folder.read("report.html");
  check_holds(page, {"y: how good it is", "z: how good it is", "the 36 rows kept aside the RMSE is",
                     "z: which inputs matter", "nothing was learned from them"});
  open_in_browser(folder);
}

TEST_CASE(
    "report: a method without left-out rows says that its scores are of learned rows, unless some are kept aside") {
  const TemporaryFolder folder;
  folder.write("data.csv", numbers_table(30));
  const Json json = fit_with_report(folder, "data.csv --target y --method dma");
  CHECK(json["report"]["judged_by"] == "learned");
  CHECK(holds(folder.read("report.html"), "scores are of the rows that were learned"));
  CHECK(fit_with_report(folder, "data.csv --target y --method dma --holdout 0.2")["report"]["judged_by"] == "held_out");
}

TEST_CASE("report: the page of a classifier has accuracy, log-loss, calibration, confusion and importance") {
  const TemporaryFolder folder;
  folder.write("data.csv", classes_table(90));
  const auto outcome =
      require_dma(folder, "fit data.csv --target kind --hidden 3 --members 1 --json --report report.html");
  const Json json = printed(outcome.output), &target = json["report"]["targets"][0];
  CHECK(embedded(folder.read("report.html")) == json);
  CHECK(target["scores"]["left_out"]["log_loss"] == json["left_out"]["kind"]["log_loss"]);
  int all = 0, right = 0;
  for (std::size_t k = 0; k < 3; ++k)
    for (std::size_t l = 0; l < 3; ++l)
      all += target["confusion"][k][l].get<int>(), right += k == l ? target["confusion"][k][l].get<int>() : 0;
  CHECK(all == 90);
  CHECK(right / 90.0 == doctest::Approx(json["left_out"]["kind"]["accuracy"].get<double>()));
  CHECK(target["importance"]["inputs"][0]["name"] == "first");
  CHECK(target["dependence"].size() == 3);
  CHECK(json["report"]["training"][0]["value"].size() == json["training"]["epochs"][0]);
  open_in_browser(folder);
}

// y = offset of its group + w first, and a count with the same logarithm; thirty groups, so that a curve along them
// passes between elements.
TEST_CASE("report: the page of a graph of one's own has its scalars, its likelihoods and what is computed") {
  const TemporaryFolder folder;
  folder.write("graph.json", R"({"variables": {"offset": {"shared": true, "size": 30}, "w": {"shared": true},
    "first": {"observed": null}, "y": {"observed": null}, "n": {"observed": null}, "slope": {}, "f": {}}, "factors": [
    {"kind": "gaussian_prior", "connects": ["offset"], "parameters": {"mean": 0, "variance": 1}},
    {"kind": "gaussian_prior", "connects": ["w"], "parameters": {"mean": 0, "variance": 4}},
    {"kind": "product", "connects": ["w", "first", "slope"]},
    {"kind": "add", "name": "group", "connects": ["slope", {"variable": "offset", "reach": "given"}, "f"]},
    {"kind": "gaussian_noise", "connects": ["f", "y"], "parameters": {"variance": 0.1}},
    {"kind": "poisson", "connects": ["f", "n"]}]})");
  const Eigen::MatrixXd x = dma::oracle::random_matrix(90, 2, 13);
  std::string table = "group,first,y,n,idle\n";
  for (int n = 0; n < 90; ++n) {
    const double f = 0.03 * (n % 30) + 0.8 * x(n, 0);
    table += fmt::format("{},{},{},{},1\n", n % 30, x(n, 0), f + 0.2 * x(n, 1), std::round(std::exp(f)));
  }
  folder.write("data.csv", table);
  const auto outcome = require_dma(folder,
                                   "fit data.csv --graph graph.json --target y --target n --json --report report.html "
                                   "--plot fit.svg --plot-training training.svg --model model.json");
  const Json json = printed(outcome.output), &report = json["report"];
  CHECK(embedded(folder.read("report.html")) == json);
  CHECK(json["files"].size() == 4);
  CHECK(report["judged_by"] == "left_out");
  CHECK(report["targets"][0]["scores"]["left_out"]["rmse"] == json["left_out"]["y"]["rmse"]);
  CHECK(report["targets"][0]["importance"]["inputs"][0]["name"] == "first");
  CHECK(report["targets"][1]["noise"].is_null());
  CHECK(report["training"].size() == 1);
  // The median of counts is in the middle, too: half of the rows at it count as below.
  CHECK(report["targets"][1]["calibration"][9]["found"].get<double>() == dma::oracle::relative(0.5, 0.4));
  const std::string page = folder.read("report.html");
  check_holds(page, {"<h1>y, n from data.csv</h1>", "row program: inputs 2", "poisson", "offset[29]", "digraph",
                     "no variable of the name &#39;idle&#39;: ignored"});
  open_in_browser(folder);
}

TEST_CASE("report: names that look like code stay names") {
  const TemporaryFolder folder;
  const std::string bad = "</script><script>bad()</script>", image = "<img src=x onerror=bad()>";
  folder.write("<i>'&.csv", numbers_table(40, bad + ",it's & \u00fc," + image + ",z"));
  const auto outcome =
      run_dma(folder, "fit \"<i>'&.csv\" --target '" + image + "'" + kQuick + "--quiet --report report.html");
  REQUIRE_MESSAGE(outcome.exit_code == 0, outcome.errors);
  const auto check_page = [&] {
    const std::string page = folder.read("report.html");
    CHECK(!holds(page, "<script>bad"));
    CHECK(!holds(page, "<img"));
    CHECK(!holds(page, "<i>'"));
    open_in_browser(folder);
  };
  check_page();
  const std::string endless(300, 'W');
  folder.write("data.csv", classes_table(60, bad + "," + endless + ",kind", {bad + image, endless, "a & b"}));
  require_dma(folder, "fit data.csv --target kind --hidden 2 --members 1 --quiet --report report.html");
  check_page();
}

TEST_CASE("report: texts of a graph, of cells and of a checkpoint stay texts") {
  const TemporaryFolder folder;
  const std::string bad = "</script><script>bad()</script>", image = "<img src=x onerror=bad()>";
  const auto check_page = [&](const std::string& command) {
    require_dma(folder, command + " --report report.html");
    const std::string page = folder.read("report.html");
    CHECK(holds(page, "bad()"));
    CHECK(!holds(page, "<script>bad"));
    CHECK(!holds(page, "<img"));
  };
  folder.write("graph.json", fmt::format(R"({{"description": "{1}", "variables": {{"{0}": {{"shared": true}},
    "first": {{"observed": null}}, "{1}": {{"observed": null}}, "f": {{}}}}, "factors": [
    {{"kind": "gaussian_prior", "connects": ["{0}"], "parameters": {{"mean": 0, "variance": 4}}}},
    {{"kind": "product", "connects": ["{0}", "first", "f"]}},
    {{"kind": "gaussian_noise", "connects": ["f", "{1}"], "parameters": {{"variance": 0.1}}}}]}})",
                                         bad, image));
  folder.write("data.csv", numbers_table(20, "first,idle," + image + "," + bad));
  check_page("fit data.csv --graph graph.json --target '" + image + "'");
  check_page("smooth data.csv --column '" + image + "'");
  std::string cells = "kind,y\n";
  for (int n = 0; n < 24; ++n) cells += fmt::format("{},{}\n", n % 2 == 0 ? bad : image, n % 7 + n % 2);
  folder.write("cells.csv", cells);
  const std::string fit = "fit cells.csv --target y" + kQuick;
  check_page(fit + "--checkpoint fit.checkpoint");
  const std::string file =
      dma::oracle::changed_model(folder.read("fit.checkpoint"), "/training/report/form", image + bad);
  folder.write("fit.checkpoint", dma::oracle::changed_model(file, "/learned/sizes", image + bad));
  check_page(fit + "--resume fit.checkpoint");
}

TEST_CASE("report: of many rows the pictures show some, say so, and the page stays small") {
  const TemporaryFolder folder;
  folder.write("data.csv", numbers_table(2000));
  const Json json = fit_with_report(folder, "data.csv --target y --target z --no-neighbours");
  CHECK(json["report"]["targets"][0]["points"]["shown"] == 600);
  CHECK(json["report"]["targets"][0]["points"]["rows"] == 2000);
  const std::string page = folder.read("report.html");
  CHECK(holds(page, "drawn by the seed"));
  CHECK(page.size() < 1'000'000);
}

TEST_CASE("report: a browser shows every page of the cases above, whole, and with the numbers of its JSON") {
  CHECK_MESSAGE(pages_to_open.size() == 6, "the other cases of this file have to run before this one");
  check_in_browser(pages_to_open);
}
