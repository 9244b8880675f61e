// Parts of the page of a fit that depend on what was learned. All return HTML.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <string>
#include <vector>

#include "tools/dma/page/html.h"
#include "tools/dma/page/shown.h"
#include "tools/dma/pictures/figure.h"

namespace dma::report {

struct ScoreColumn {
  std::string key, heading;  // in the JSON, on the page
  int decimals = -1;         // of a percentage; below 0: it is a number
};
struct PageParts {
  std::vector<ScoreColumn> scores;
  std::vector<std::string> cards;  // keys of scores that stand at the top
  // Further cards of a target, its pictures, and how what is predicted depends on the inputs.
  std::function<std::string(const Shown&, const std::string&target)> more_cards, quality, dependence;
  page::Table learned = {};                          // what the model is
  std::vector<std::string> settings = {"/options"};  // pointers to them
  std::string quantity = "log evidence per row";     // of the training record
  std::function<std::string(std::size_t)> name_of_curve = [](std::size_t k) {
    return fmt::format("network {}", k + 1);
  };
  std::string graph = {};
};
PageParts parts_of_numbers();
PageParts parts_of_classes();
PageParts parts_of(const Shown& shown);  // the model, and its targets

std::string charts(const std::vector<std::string>& figures);
std::string large_charts(const std::vector<std::string>& figures);
std::string averaged_sentence(const Shown& shown);
std::string name_at(const Shown& shown, const std::string& pointer);  // a text, escaped
// Behind the noise of the target at this pointer: " of the logarithm", if that is what was learned.
std::string noise_of_what(const Shown& shown, const std::string& target);

}  // namespace dma::report
