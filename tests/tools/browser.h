// Pages in a browser without a window, where one is installed.
#pragma once

#include <string>
#include <vector>

#include "tests/tools/run_dma.h"

namespace dma::testing {

// The name of its program; empty: none is installed.
std::string installed_browser();

struct Seen {
  std::string dom;  // the page as the browser made it
  std::string log;  // messages of the console, among other things
  // Images that did not load, drawings without a size, marks that refer to nothing: what a reader would miss.
  bool nothing_missing() const;
  bool complains() const;
};

// `script` runs in the page once it is loaded; what it leaves in the document is in `dom`.
struct Page {
  std::string html, script = "";
};

// One start of the browser, which takes more time than many pages do, shows all of them, each in a frame of a page.
// The log of each page has what any of them wrote to the console.
std::vector<Seen> look_at(const TemporaryFolder& folder, const std::string& browser, const std::vector<Page>& pages);

// A page and the texts that its document must hold once it is loaded.
struct Expected {
  Page page;
  std::vector<std::string> texts = {};
};
// Opens all pages at once, where a browser is installed: each is whole, without complaints, and holds its texts.
void check_in_browser(const std::vector<Expected>& pages);

}  // namespace dma::testing
