// Text: a column for each value, 1 where it is the row's; or, of many values, one column with the number of the value.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "engine/support/fields.h"
#include "engine/support/text.h"
#include "engine/support/usable.h"
#include "models/table/columns/column_types.h"

namespace dma {

namespace {

constexpr std::size_t kMostValues = 30;      // values with columns of their own
constexpr std::size_t kMostLevels = 10'000;  // numbered values

class CategoryColumn final : public ColumnType {
 public:
  CategoryColumn() = default;
  CategoryColumn(std::vector<std::string> values, bool has_rest) : values_(std::move(values)), has_rest_(has_rest) {}

  const ColumnKind& kind() const override { return category_column; }
  bool is_missing(std::string_view cell) const override { return is_missing_cell(cell); }
  Found read(std::string_view cell, double* made) const override {
    const auto at = static_cast<std::size_t>(std::ranges::find(values_, cell) - values_.begin());
    if (at == groups()) return Found::unseen;
    for (std::size_t k = 0; k < count_made(); ++k) made[k] = k == at ? 1 : 0;
    return at == values_.size() ? Found::unseen : Found::value;
  }
  std::vector<std::string> columns(const std::string& name) const override {
    std::vector<std::string> all;
    for (const std::string& value : values_) all.push_back(name + "=" + value);
    if (has_rest_) all.push_back(name + " (other)");
    all.resize(count_made());
    return all;
  }
  std::string text() const override {
    return fmt::format("text with {} values, {}: {}{}", values_.size(),
                       groups() > 2 ? "a column for each" : "1 for the first", joined(values_),
                       has_rest_ ? "; the rarer ones together" : "");
  }
  bool has_rest() const override { return has_rest_; }
  void list(Fields& f) override {
    f("values", values_);
    f("has_rest", has_rest_);
  }
  void check() const override {
    expect(!values_.empty(), "a column of text has no values");
    for (const std::string& value : values_)
      expect(is_plain_text(value), "a value of a column holds control characters");
  }

 private:
  std::size_t groups() const { return values_.size() + (has_rest_ ? 1 : 0); }
  // Two groups need one column: the second is what the first is not.
  std::size_t count_made() const { return groups() <= 2 ? groups() - 1 : groups(); }

  std::vector<std::string> values_;  // the most frequent first
  bool has_rest_ = false;            // the other values, each too rare for a column, share one
};

class LevelColumn final : public ColumnType {
 public:
  LevelColumn() = default;
  explicit LevelColumn(std::vector<std::string> values) : values_(std::move(values)) { number_values(); }

  const ColumnKind& kind() const override { return level_column; }
  bool is_missing(std::string_view cell) const override { return is_missing_cell(cell); }
  Found read(std::string_view cell, double* made) const override {
    const auto found = numbers_.find(cell);
    if (found != numbers_.end()) *made = found->second;
    return found != numbers_.end() ? Found::value : Found::unseen;
  }
  std::string text() const override {
    return fmt::format("text with {} values, each of which may have an effect of its own", values_.size());
  }
  std::size_t levels() const override { return values_.size(); }
  void list(Fields& f) override {
    f("values", values_);
    number_values();
  }
  void check() const override {
    expect(!values_.empty() && numbers_.size() == values_.size(), "a column of text has no values, or one twice");
    for (const std::string& value : values_)
      expect(is_plain_text(value), "a value of a column holds control characters");
  }

 private:
  void number_values() {
    numbers_.clear();
    for (const std::string& value : values_) numbers_.emplace(value, static_cast<double>(numbers_.size()));
  }

  std::vector<std::string> values_;  // the most frequent first
  std::map<std::string, double, std::less<>> numbers_;
};

// Values with enough rows to learn from have a column; more of them are numbered where they come back. A column most of
// whose rows have rarer values tells rows apart rather than saying what they are.
ColumnGuess guess_categories(std::span<const std::string> cells, bool /*has_semicolons*/) {
  std::map<std::string_view, std::size_t> counts;
  std::size_t present = 0;
  for (const std::string& cell : cells) {
    if (is_missing_cell(cell)) continue;
    ++present;
    ++counts[cell];
  }
  std::vector<std::pair<std::string_view, std::size_t>> sorted(counts.begin(), counts.end());
  std::ranges::stable_sort(sorted, std::ranges::greater{}, [](const auto& value) { return value.second; });
  if (sorted.size() > kMostValues && 2 * sorted.size() <= present) {
    std::vector<std::string> all;
    for (const auto& [value, times] : sorted)
      if (all.size() < kMostLevels) all.emplace_back(value);
    return {.type = std::make_shared<LevelColumn>(std::move(all)), .missing = cells.size() - present};
  }
  const std::size_t fewest = std::clamp<std::size_t>(present / 200, 2, 20);
  std::vector<std::string> values;
  std::size_t covered = 0;
  for (const auto& [value, times] : sorted) {
    if (times < fewest || values.size() == kMostValues) break;
    values.emplace_back(value);
    covered += times;
  }
  ColumnGuess guess{.missing = cells.size() - present};
  if (present == 0)
    guess.why_left_out = "no cell has a value";
  else if (2 * covered < present)
    guess.why_left_out = fmt::format("text with {} values in {} rows", sorted.size(), present);
  else if (sorted.size() == 1 && guess.missing < kFewestMarked)
    guess.why_left_out = fmt::format("'{}' in all rows", sorted[0].first);
  else
    guess.type = std::make_shared<CategoryColumn>(std::move(values), covered < present);
  return guess;
}

}  // namespace

const ColumnKind category_column = {
    .name = "category",
    .cell = "text",
    .cells = "text",
    .guess = guess_categories,
    .blank = []() -> std::shared_ptr<ColumnType> { return std::make_shared<CategoryColumn>(); }};

const ColumnKind level_column = {
    .name = "level",
    .cell = "text",
    .cells = "text",
    .guess = [](std::span<const std::string>, bool) { return ColumnGuess{}; },  // category_column's guess makes it
    .blank = []() -> std::shared_ptr<ColumnType> { return std::make_shared<LevelColumn>(); }};

}  // namespace dma
