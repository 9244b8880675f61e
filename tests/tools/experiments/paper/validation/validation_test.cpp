// Appendix C in small: the numbers that do not depend on sampling, and the report.
#include <doctest/doctest.h>

#include <filesystem>

#include "tools/experiments/paper/validation/appendix_c.h"
#include "tools/experiments/paper/validation/relu_setting.h"

namespace dma::validation {

namespace {

std::filesystem::path folder() { return std::filesystem::temp_directory_path() / "dma_validation_test"; }

}  // namespace

TEST_CASE("validation: the master bound holds for every slope, width and ratio of C.1, and grows tight") {
  double largest = 0;
  for (const double slope : {0.1, 0.3, 0.5})
    for (const double width : {0.5, 2.0})
      for (const double r : {0.5, 2.0, 4.0}) {
        const ReluError e = relu_error({.slope = slope, .width = width, .r = r});
        CHECK(e.marginal <= e.bound);
        largest = std::max(largest, e.ratio());
      }
  CHECK(largest > 0.9);
  CHECK(largest < 1);
}

TEST_CASE("validation: the copy factor's coefficient is 3/4") {
  const Findings findings = copy_factor(folder());
  for (const Claim& claim : findings.claims) {
    INFO(claim.claim << ": " << claim.ours);
    CHECK(claim.holds);
  }
  CHECK(std::filesystem::exists(folder() / "copy_factor.csv"));
}

TEST_CASE("validation: the report has a row for each claim and says what does not hold") {
  Findings findings;
  findings.claims = {{"C.1", "a claim", "0.97", "0.95", true}, {"C.2", "another", "2 to 3", "1.4", false}};
  findings.skipped = {"no gnuplot"};
  const std::string text = markdown(findings, "Title");
  CHECK(text.find("| C.1 | a claim | 0.97 | 0.95 | yes |") != std::string::npos);
  CHECK(text.find("| C.2 | another | 2 to 3 | 1.4 | **no** |") != std::string::npos);
  CHECK(text.find("skipped: no gnuplot") != std::string::npos);
}

}  // namespace dma::validation
