#include "tools/dma/page/html.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "engine/support/json.h"
#include "tests/tools/run_dma.h"
#include "tools/dma/page/chart.h"

using namespace dma::testing;
using dma::page::escaped;
using dma::plot::shortened;

TEST_CASE("page: text of anybody's stays text, in elements and in quoted attributes") {
  CHECK(escaped("<b a=\"1\" c='2'>&</b>") == "&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;&lt;/b&gt;");
  CHECK(dma::page::prose("`a*b` is *no* <i>") == "<code>a*b</code> is <em>no</em> &lt;i&gt;");
}

TEST_CASE("page: nothing in the data ends the element that holds it, and it is read back as it was") {
  const dma::Json json = {{"</script><script>bad()</script>", "<!-- ]]> \" \\ & ü"}};
  const std::string element = dma::page::json_element("data", json);
  CHECK(element.find('<', 1) == element.find("</script>"));
  CHECK(element.find("</script>") == element.rfind("</script>"));
  const auto begin = element.find('>') + 1;
  CHECK(dma::parse_json(element.substr(begin, element.find("</script>") - begin)) == json);
}

TEST_CASE("page: a document names no address and carries its styles") {
  const std::string page = dma::page::document("a < b", "<p>x</p>");
  CHECK(holds(page, "<title>a &lt; b</title>"));
  CHECK(!holds(page, "http:"));
  CHECK(!holds(page, "https:"));
  check_holds(page, {"default-src 'none'", "prefers-color-scheme:dark", "@media print", "width=device-width"});
}

TEST_CASE("page: ticks are round numbers inside the range, whatever it is") {
  CHECK(dma::plot::ticks(0, 100, 5) == std::vector<double>{0, 20, 40, 60, 80, 100});
  CHECK(dma::plot::ticks(-0.31, 0.29, 3) == std::vector<double>{-0.2, 0, 0.2});
  CHECK(dma::plot::ticks(1, 1, 5).empty());
  for (const double size : {1e-300, 1e-9, 1.0, 1e9, 1e300}) {
    const auto all = dma::plot::ticks(-0.7 * size, 1.3 * size, 5);
    CHECK(all.size() >= 3);
    CHECK(all.size() <= 12);
    for (const double tick : all) CHECK((tick >= -0.71 * size && tick <= 1.31 * size));
  }
  CHECK(dma::plot::ticks(1e15, 1e15 + 1, 5).size() <= 12);
}

TEST_CASE("page: names are cut between characters") {
  CHECK(shortened("abc", 3) == "abc");
  CHECK(shortened("abcd", 3) == "ab…");
  CHECK(shortened("äöüß", 3) == "äö…");
  CHECK(shortened("äöü", 3) == "äöü");
  CHECK(shortened("", 3) == "");
}

TEST_CASE("page: a chart shows finite marks, says what they are, and says so where there are none") {
  dma::plot::Panel panel{.title = "<t>", .x = {"<x>"}, .y = {"y"}};
  panel.series = {
      {.style = dma::plot::Style::points, .x = {1, 2, NAN}, .y = {3, HUGE_VAL, 5}, .notes = {"<one>", "two", "three"}}};
  const std::string text = dma::page::figure(panel, "caption");
  CHECK(holds(text, "&lt;one&gt;"));
  CHECK(!holds(text, "two"));
  CHECK(!holds(text, "<x>"));
  CHECK(!holds(text, "nan"));
  panel.series[0].x = {NAN, NAN, NAN};
  CHECK(holds(dma::page::figure(panel, ""), "Nothing here can be drawn"));
  panel.series[0].x = {-1e308, 1e308, 0};
  CHECK(holds(dma::page::figure(panel, ""), "Nothing here can be drawn"));
}
