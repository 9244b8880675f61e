#include "tests/tools/browser.h"

#include <doctest/doctest.h>

#include <cstdlib>

#include "tests/oracles/files.h"

namespace dma::testing {

namespace {

using oracle::replaced;

constexpr const char* kInspection = R"(
const missing = [...document.images].filter(i => !i.naturalWidth).length +
  [...document.querySelectorAll('svg')].filter(s => !(s.getBoundingClientRect().width > 20 && s.getBoundingClientRect().height > 20)).length +
  [...document.querySelectorAll('use')].filter(u => !document.getElementById((u.getAttribute('href') || u.getAttribute('xlink:href')).slice(1))).length;
document.body.setAttribute('data-missing', missing);)";

// The place in the page where the frame leaves its document, as text.
std::string place_of(std::size_t page) { return "<pre id=\"seen" + std::to_string(page) + "\">"; }

}  // namespace

std::string installed_browser() {
  for (const char* name : {"chromium", "chromium-browser", "google-chrome"})
    if (std::system(("command -v " + std::string(name) + " >/dev/null 2>&1").c_str()) == 0) return name;
  return "";
}

bool Seen::nothing_missing() const { return dom.find("data-missing=\"0\"") != dom.npos; }
bool Seen::complains() const { return log.find("CONSOLE") != log.npos; }

std::vector<Seen> look_at(const TemporaryFolder& folder, const std::string& browser, const std::vector<Page>& pages) {
  std::string all = "<!doctype html><meta charset=\"utf-8\"><body>";
  for (std::size_t i = 0; i < pages.size(); ++i) {
    const std::string place = "parent.document.getElementById('seen" + std::to_string(i) + "')";
    const std::string shown = pages[i].html + "<script>addEventListener('load', () => { try {" + kInspection +
                              pages[i].script + "} finally {" + place +
                              ".textContent = document.documentElement.outerHTML; } });</script>";
    all += place_of(i) + "</pre><iframe style=\"width: 800px; height: 600px; border: 0\" srcdoc=\"" +
           replaced(replaced(shown, "&", "&amp;"), "\"", "&quot;") + "\"></iframe>";
  }
  folder.write("page.html", all);
  const std::string command =
      "cd '" + folder.path().string() + "' && timeout 120 " + browser +
      " --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --enable-logging=stderr --v=0 "
      "--user-data-dir=profile --dump-dom \"file://$PWD/page.html\" >dom.html 2>log.txt";
  REQUIRE(std::system(command.c_str()) == 0);
  const std::string dom = folder.read("dom.html"), log = folder.read("log.txt");
  std::vector<Seen> seen;
  for (std::size_t i = 0; i < pages.size(); ++i) {
    const std::size_t at = dom.find(place_of(i)), begin = at + place_of(i).size();
    REQUIRE(at != dom.npos);
    const std::string text = dom.substr(begin, dom.find("</pre>", begin) - begin);
    seen.push_back({replaced(replaced(replaced(text, "&lt;", "<"), "&gt;", ">"), "&amp;", "&"), log});
  }
  return seen;
}

void check_in_browser(const std::vector<Expected>& pages) {
  const std::string browser = installed_browser();
  if (browser.empty()) {
    MESSAGE("no browser is installed; the pages are not opened");
    return;
  }
  std::vector<Page> all;
  for (const Expected& one : pages) all.push_back(one.page);
  const std::vector<Seen> seen = look_at(TemporaryFolder(), browser, all);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    CAPTURE(i);
    CHECK_MESSAGE(!seen[i].complains(), seen[i].log);
    CHECK(seen[i].nothing_missing());
    const auto at = seen[i].dom.find("data-wrong=");
    for (const std::string& text : pages[i].texts)
      CHECK_MESSAGE(holds(seen[i].dom, text), text, " is not in ",
                    seen[i].dom.substr(at == std::string::npos ? 0 : at, 500));
  }
}

}  // namespace dma::testing
