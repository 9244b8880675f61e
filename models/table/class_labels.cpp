#include "models/table/column_coding.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "engine/support/text.h"

namespace dma {

namespace {

bool is_number(const std::string& text, double& value) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc{} && end == text.data() + text.size() && std::isfinite(value);
}

}  // namespace

ClassLabels ClassLabels::of(const std::vector<std::string>& labels) {
  ClassLabels found;
  found.names = labels;
  std::ranges::sort(found.names);
  found.names.erase(std::unique(found.names.begin(), found.names.end()), found.names.end());
  found.of_rows.reserve(labels.size());
  const bool numbers = std::ranges::all_of(found.names, [](const std::string& name) {
    double ignored = 0;
    return is_number(name, ignored);
  });
  const auto before = [numbers](const std::string& a, const std::string& b) {
    double x = 0, y = 0;
    return numbers && is_number(a, x) && is_number(b, y) && x != y ? x < y : a < b;
  };
  std::ranges::sort(found.names, before);
  for (const std::string& label : labels)
    found.of_rows.push_back(std::ranges::lower_bound(found.names, label, before) - found.names.begin());
  return found;
}

std::vector<std::size_t> ClassLabels::counts() const {
  std::vector<std::size_t> all(names.size(), 0);
  for (const Eigen::Index row : of_rows) ++all[static_cast<std::size_t>(row)];
  return all;
}

void check_classes(const ClassLabels& labels, std::string_view where) {
  const std::vector<std::size_t> all = labels.counts();
  if (all.size() < 2)
    fail("{}: all rows have the class '{}'; two classes or more are expected", where,
         labels.names.empty() ? "" : printable(labels.names[0]));
  const auto single = std::ranges::find_if(all, [](std::size_t count) { return count < 2; });
  if (single == all.end()) return;
  const auto singles = std::ranges::count_if(all, [](std::size_t count) { return count < 2; });
  fail("{}: the class '{}' has {} to learn from{}; at least two are expected: add rows, or leave the class out", where,
       printable(labels.names[static_cast<std::size_t>(single - all.begin())]), *single == 1 ? "one row" : "no row",
       singles > 1 ? fmt::format(", as {} of the {} classes have", singles, all.size()) : "");
}

}  // namespace dma
