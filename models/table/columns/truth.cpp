// Yes and no.
#include <algorithm>
#include <array>

#include "models/table/columns/column_types.h"

namespace dma {

namespace {

// yes, no; true, false; on, off; y, n; t, f, in any case; 1 and 0.
std::optional<bool> truth_in(std::string_view cell) {
  constexpr std::array<std::string_view, 6> kYes = {"true", "yes", "on", "y", "t", "1"};
  constexpr std::array<std::string_view, 6> kNo = {"false", "no", "off", "n", "f", "0"};
  const std::string lower = in_lower_case(cell);
  if (std::ranges::find(kYes, lower) != kYes.end()) return true;
  if (std::ranges::find(kNo, lower) != kNo.end()) return false;
  return {};
}

class TruthColumn final : public ColumnType {
 public:
  const ColumnKind& kind() const override { return truth_column; }
  Found read(std::string_view cell, double* made) const override {
    const auto truth = truth_in(cell);
    if (truth) *made = *truth ? 1 : 0;
    return truth ? Found::value : Found::unseen;
  }
  std::string text() const override { return "yes and no as 1 and 0"; }
};

ColumnGuess guess_truths(std::span<const std::string> cells, bool /*has_semicolons*/) {
  const CellCounts counts(cells, [](const std::string& cell) { return truth_in(cell).has_value(); });
  if (counts.found == 0 || counts.strays > 0) return {};
  return counts.guess(std::make_shared<TruthColumn>());
}

}  // namespace

const ColumnKind truth_column = {
    .name = "truth",
    .cell = "yes or no",
    .cells = "yes or no",
    .guess = guess_truths,
    .blank = []() -> std::shared_ptr<ColumnType> { return std::make_shared<TruthColumn>(); }};

}  // namespace dma
