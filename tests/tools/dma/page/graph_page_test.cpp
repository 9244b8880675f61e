// dma infer --report and dma smooth --report: the pages, and what a browser makes of them.
#include <doctest/doctest.h>

#include <cstdlib>

#include "tests/oracles/files.h"
#include "tests/tools/browser.h"
#include "tests/tools/run_dma.h"

namespace {

using namespace dma::testing;

std::string page_by(const TemporaryFolder& folder, const std::string& command) {
  const auto outcome = require_dma(folder, command + " --report page.html");
  CHECK(holds(outcome.output, "report   page.html"));
  return folder.read("page.html");
}

// The last case of this file opens these pages in a browser, all at once.
std::vector<Expected> graph_pages_to_open;

// The pointer on an edge of the graph has to show `note`.
void open_graph(const std::string& page, const std::string& note) {
  const std::string script = R"(
const mark = [...document.querySelectorAll('[data-note]')].find(m => m.dataset.note.includes('NOTE'));
mark.dispatchEvent(new PointerEvent('pointermove', { bubbles: true, clientX: 50, clientY: 50 }));
const shown = document.getElementById('note');
document.body.setAttribute('data-seen', shown.style.display === 'block' && shown.textContent.includes('NOTE'));)";
  graph_pages_to_open.push_back({{page, dma::oracle::replaced(script, "NOTE", note)}, {"data-seen=\"true\""}});
}

bool has_graphviz() { return std::system("command -v dot >/dev/null 2>&1") == 0; }

}  // namespace

TEST_CASE("graph page: beliefs, messages under the pointer, and the report in words") {
  const TemporaryFolder folder;
  const std::string graph = DMA_SOURCE_DIR "/tools/examples/graphs/sprinkler.json";
  const std::string page = page_by(folder, "infer '" + graph + "' --schedule flooding");
  check_holds(page,
              {"<h1>sprinkler.json</h1>", "approximate: the graph has loops", "<td>rain</td>", "--schedule flooding"});
  if (!has_graphviz()) return;
  CHECK(holds(page, "table says to rain:\n"));
  open_graph(page, "table says to rain");
  CHECK(holds(page_by(folder, "infer '" + graph + "'"), "no messages: everything was solved at once"));
}

TEST_CASE("graph page: names of a file are text, wherever they stand") {
  const TemporaryFolder folder;
  folder.write("g.json", R"({"description": "<i>d</i>", "variables": {"<b>x</b> & \"y\"": {"size": 12}}, "factors": [
    {"kind": "gaussian_prior", "connects": ["<b>x</b> & \"y\""], "parameters": {"mean": 0, "variance": 4}}]})");
  const std::string page = page_by(folder, "infer g.json");
  CHECK(!holds(page, "<b>x"));
  CHECK(!holds(page, "<i>d"));
  CHECK(holds(page, "&lt;b&gt;x&lt;/b&gt; &amp; &quot;y&quot;[11]"));
  if (has_graphviz()) open_graph(page, "<b>x</b> & \"y\"");
}

TEST_CASE("series page: the picture, the models and the forecast") {
  const TemporaryFolder folder;
  const std::string page =
      page_by(folder, "smooth '" DMA_SOURCE_DIR "/tools/examples/data/nile.csv' --time year --model walk --forecast 2");
  check_holds(page, {"<svg", "Models that were tried", "walk", "Unusual steps", "<td>1972</td>", "--forecast 2"});
  graph_pages_to_open.push_back({{page}});
}

TEST_CASE("graph page: a browser shows every page of the cases above, and the note under the pointer") {
  CHECK_MESSAGE(graph_pages_to_open.size() == (has_graphviz() ? 3 : 1), "the other cases have to run before this one");
  check_in_browser(graph_pages_to_open);
}
