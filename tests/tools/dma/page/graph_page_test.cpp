// dma infer --report and dma smooth --report: the pages, and what a browser makes of them.
#include <doctest/doctest.h>

#include <cstdlib>

#include "tests/tools/browser.h"
#include "tests/tools/run_dma.h"

namespace {

using namespace dma::testing;

std::string page_by(const TemporaryFolder& folder, const std::string& command) {
  const auto outcome = require_dma(folder, command + " --report page.html");
  CHECK(holds(outcome.output, "report   page.html"));
  return folder.read("page.html");
}

// What the last case of this file opens in a browser, all at once.
std::vector<Page> graphs_to_open, series_to_open;

// The pointer on an edge of the graph has to show `note`.
void open_graph(const std::string& page, const std::string& note) {
  graphs_to_open.push_back({page, R"(
const mark = [...document.querySelectorAll('[data-note]')].find(m => m.dataset.note.includes(')" +
                                      note + R"('));
mark.dispatchEvent(new PointerEvent('pointermove', { bubbles: true, clientX: 50, clientY: 50 }));
const shown = document.getElementById('note');
document.body.setAttribute('data-seen', shown.style.display === 'block' && shown.textContent.includes(')" +
                                      note + R"('));)"});
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
  series_to_open.push_back({page});
}

TEST_CASE("graph page: a browser shows every page of the cases above, and the note under the pointer") {
  const std::string browser = installed_browser();
  if (browser.empty()) {
    MESSAGE("no browser is installed; the pages are not opened");
    return;
  }
  CHECK_MESSAGE(series_to_open.size() == 1, "the other cases of this file have to run before this one");
  CHECK(graphs_to_open.size() == (has_graphviz() ? 2 : 0));
  std::vector<Page> pages = graphs_to_open;
  pages.insert(pages.end(), series_to_open.begin(), series_to_open.end());
  const std::vector<Seen> all_seen = look_at(TemporaryFolder(), browser, pages);
  for (std::size_t i = 0; i < all_seen.size(); ++i) {
    CAPTURE(i);
    CHECK(all_seen[i].nothing_missing());
    CHECK_MESSAGE(!all_seen[i].complains(), all_seen[i].log);
    if (i < graphs_to_open.size()) CHECK(holds(all_seen[i].dom, "data-seen=\"true\""));
  }
}
