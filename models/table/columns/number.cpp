// Numbers, whatever signs of money, percent and thousands stand around them.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "engine/support/fields.h"
#include "engine/support/usable.h"
#include "models/table/columns/column_types.h"

namespace dma {

namespace {

constexpr std::array<std::string_view, 12> kSignsOfNumbers = {"$",   "€",   "£",   "¥",   "%",   "USD",
                                                              "EUR", "GBP", "CHF", "JPY", "US$", "₹"};
// One unit before or behind the number, at most.
void take_unit(std::string_view& text) {
  skip_spaces(text);
  const bool taken = std::ranges::any_of(kSignsOfNumbers, [&](std::string_view unit) {
    return take_end(text, unit) || (unit != "%" && take_start(text, unit));
  });
  if (taken) skip_spaces(text);
}

// Digits without what stands between groups of three; the rest of the text stays.
bool take_grouped(std::string_view& text, char mark, std::string& digits) {
  const std::string_view other = mark == '.' ? "," : ".";
  const auto count_digits = [&] {
    std::size_t count = 0;
    while (count < text.size() && is_digit(text[count])) ++count;
    return count;
  };
  std::size_t count = count_digits();
  digits.append(text.substr(0, count));
  text.remove_prefix(count);
  for (std::string_view between = {}; count >= 1 && count <= 3;) {
    std::string_view rest = text;
    const auto is_between = [&](std::string_view b) {
      return (between.empty() || between == b) && take_start(rest, b);
    };
    std::string_view found = {};
    for (const std::string_view b : {other, std::string_view(" "), std::string_view("'"), std::string_view("\xc2\xa0"),
                                     std::string_view("\xe2\x80\xaf")})
      if (found.empty() && is_between(b)) found = b;
    if (found.empty()) return true;
    text = rest;
    if (count_digits() != 3) return false;
    between = found;
    digits.append(text.substr(0, 3));
    text.remove_prefix(3);
  }
  return true;
}

class NumberColumn final : public ColumnType {
 public:
  explicit NumberColumn(char mark) : mark_(1, mark) {}

  const ColumnKind& kind() const override { return number_column; }
  Found read(std::string_view cell, double* made) const override {
    auto number = number_in(cell, decimal_mark());
    if (!number) number = number_in(cell, decimal_mark() == '.' ? ',' : '.');
    if (number) *made = *number;
    return number ? Found::value : Found::stray;
  }
  std::string text() const override { return mark_ == "," ? "numbers with a decimal comma" : "numbers"; }
  char decimal_mark() const override { return mark_[0]; }
  void list(Fields& f) override { f("decimal_mark", mark_); }
  void check() const override {
    expect(mark_ == "." || mark_ == ",", "the decimal mark of a column is neither point nor comma");
  }

 private:
  std::string mark_;
};

ColumnGuess guess_numbers(std::span<const std::string> cells, bool has_semicolons) {
  const bool has_comma =
      std::ranges::any_of(cells, [](const std::string& cell) { return cell.find(',') != cell.npos; });
  const char first = has_semicolons && has_comma ? ',' : '.', second = first == '.' ? ',' : '.';
  const auto counts_with = [&](char mark) {
    return CellCounts(cells, [&](const std::string& cell) { return number_in(cell, mark).has_value(); });
  };
  const CellCounts one = counts_with(first), other = counts_with(second);
  const bool is_other = other.found > one.found;
  const CellCounts& counts = is_other ? other : one;
  if (!counts.is_most()) return {};
  return counts.guess(std::make_shared<NumberColumn>(is_other ? second : first));
}

}  // namespace

std::optional<double> number_in(std::string_view text, char mark) {
  skip_spaces(text);
  bool is_negative = text.size() > 2 && text.starts_with('(') && text.ends_with(')');
  if (is_negative) text = text.substr(1, text.size() - 2);
  const auto take_sign = [&] {
    if (take_start(text, "+")) return;
    if (!is_negative && (take_start(text, "-") || take_start(text, "\xe2\x88\x92"))) is_negative = true;
  };
  take_sign();
  const bool was_negative = is_negative;
  take_unit(text);
  if (!was_negative) take_sign();
  std::string plain = is_negative ? "-" : "";
  const std::size_t before = plain.size();
  if (!take_grouped(text, mark, plain)) return {};
  bool has_digits = plain.size() > before;
  if (take_start(text, mark == '.' ? "." : ",")) {
    plain += '.';
    while (!text.empty() && is_digit(text.front())) plain += text.front(), text.remove_prefix(1), has_digits = true;
  }
  if (!has_digits) return {};
  plain += text;  // an exponent, or what makes it no number
  double value = 0;
  const auto [end, code] = std::from_chars(plain.data(), plain.data() + plain.size(), value);
  if (end != plain.data() + plain.size() || code != std::errc{} || !std::isfinite(value)) return {};
  return value;
}

const ColumnKind number_column = {
    .name = "number",
    .cell = "number",
    .cells = "numbers",
    .guess = guess_numbers,
    .blank = []() -> std::shared_ptr<ColumnType> { return std::make_shared<NumberColumn>('.'); }};

}  // namespace dma
