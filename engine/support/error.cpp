#include "engine/support/text.h"

#include <algorithm>
#include <numeric>
#include <vector>


namespace dma {

namespace {

// Insertions, deletions, substitutions and exchanges of neighbours between two words.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    before.swap(last);
    last.swap(row);
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      row[j + 1] = std::min({row[j] + 1, last[j + 1] + 1, last[j] + (a[i] != b[j])});
      if (i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j]) row[j + 1] = std::min(row[j + 1], before[j - 1] + 1);
    }
  }
  return row.back();
}

}  // namespace

Error::Error(std::string_view message) : std::runtime_error(printable(message)) {}

std::string suggestion(std::string_view found, std::span<const std::string> known) {
  std::string text;
  const auto distance = [&](const std::string& name) { return edit_distance(found, name); };
  const auto nearest = std::ranges::min_element(known, {}, distance);
  // With up to a third of the letters wrong a word is a misspelling; with more, or all, it is a different word, which
  // gets no suggestion.
  if (nearest != known.end() && *nearest != found &&
      distance(*nearest) <= std::max<std::size_t>(1, nearest->size() / 3) &&
      distance(*nearest) < std::max(found.size(), nearest->size()))
    text = fmt::format("; did you mean '{}'?", *nearest);
  if (known.empty()) return text + "; none are known";
  constexpr std::size_t kMostShown = 100;  // a line with the names of ten thousand columns is useless
  const std::size_t shown = std::min(known.size(), kMostShown);
  return fmt::format("{}{} known: {}{}", text, text.empty() ? ";" : "", joined(known.first(shown)),
                     shown < known.size() ? fmt::format(" and {} more", known.size() - shown) : "");
}

}  // namespace dma
