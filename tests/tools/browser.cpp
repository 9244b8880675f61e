#include "tests/tools/browser.h"

#include <doctest/doctest.h>

#include <cstdlib>

namespace dma::testing {

namespace {

constexpr const char* kInspection = R"(
const missing = [...document.images].filter(i => !i.naturalWidth).length +
  [...document.querySelectorAll('svg')].filter(s => !(s.getBoundingClientRect().width > 20 && s.getBoundingClientRect().height > 20)).length +
  [...document.querySelectorAll('use')].filter(u => !document.getElementById((u.getAttribute('href') || u.getAttribute('xlink:href')).slice(1))).length;
document.body.setAttribute('data-missing', missing);)";

}  // namespace

std::string installed_browser() {
  for (const char* name : {"chromium", "chromium-browser", "google-chrome"})
    if (std::system(("command -v " + std::string(name) + " >/dev/null 2>&1").c_str()) == 0) return name;
  return "";
}

bool Seen::nothing_missing() const { return dom.find("data-missing=\"0\"") != dom.npos; }
bool Seen::complains() const { return log.find("CONSOLE") != log.npos; }

Seen look_at(const TemporaryFolder& folder, const std::string& browser, const std::string& page,
             const std::string& script) {
  folder.write("page.html", page + "<script>addEventListener('load', () => {" + kInspection + script + "});</script>");
  const std::string command =
      "cd '" + folder.path().string() + "' && timeout 120 " + browser +
      " --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --enable-logging=stderr --v=0 "
      "--user-data-dir=profile --dump-dom \"file://$PWD/page.html\" >dom.html 2>log.txt";
  REQUIRE(std::system(command.c_str()) == 0);
  return {folder.read("dom.html"), folder.read("log.txt")};
}

}  // namespace dma::testing
