#include "tools/dma/csv.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <map>

#include "engine/support/error.h"

namespace dma {

namespace {

constexpr std::size_t kBufferSize = 1 << 20;

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// The text of a cell without its quotes; a doubled quote inside stands for one.
std::string unquoted(std::string_view cell) {
  if (cell.size() < 2 || cell.front() != '"' || cell.back() != '"') return std::string(cell);
  std::string text;
  for (std::size_t i = 1; i + 1 < cell.size(); ++i) {
    text += cell[i];
    if (cell[i] == '"' && i + 2 < cell.size() && cell[i + 1] == '"') ++i;
  }
  return std::string(trimmed(text));
}

bool is_quoted(std::string_view cell) { return cell.size() >= 2 && cell.front() == '"' && cell.back() == '"'; }

bool parse_number(std::string_view cell, double& value) {
  if (is_quoted(cell)) cell = trimmed(cell.substr(1, cell.size() - 2));
  if (cell.starts_with('+')) cell.remove_prefix(1);
  const auto [end, code] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  return end == cell.data() + cell.size() && code == std::errc{} && std::isfinite(value);
}

bool is_missing(std::string_view cell) {
  constexpr std::array<std::string_view, 9> kMissing = {"", "NA", "N/A", "NaN", "nan", "NAN", "null", "NULL", "?"};
  return std::ranges::find(kMissing, unquoted(cell)) != kMissing.end();
}

// As much of a cell as fits in an error of one line.
std::string shown(std::string_view cell) {
  std::string text = unquoted(cell.substr(0, 40));
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  return cell.size() > 40 ? text + "..." : text;
}

std::size_t count_outside_quotes(std::string_view text, char wanted) {
  bool inside = false;
  std::size_t count = 0;
  for (const char c : text) {
    if (c == '"') inside = !inside;
    if (c == wanted && !inside) ++count;
  }
  return count;
}

}  // namespace

CsvReader::CsvReader(std::filesystem::path path)
    : path_(std::move(path)), file_(nullptr, &std::fclose), buffer_(kBufferSize) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path_, ignored)) fail("'{}' is a folder; a CSV file is expected", path_.string());
  file_.reset(std::fopen(path_.c_str(), "rb"));
  if (!file_) fail("cannot read '{}': {}", path_.string(), std::strerror(errno));
  std::string_view header;
  do {
    if (!next_record(header))
      fail("'{}' is empty; a line of column names and rows of numbers are expected", path_.string());
    if (line_ == 1 && header.starts_with("\xef\xbb\xbf")) header.remove_prefix(3);  // byte order mark
  } while (trimmed(header).empty());
  detect_separator(header);
  read_names(header);
}

CsvReader::~CsvReader() = default;

// The next line without its end; false after the last. A line longer than the buffer makes the buffer grow.
bool CsvReader::next_line(std::string_view& line) {
  std::size_t searched = 0;
  for (;;) {
    char* const start = buffer_.data() + begin_;
    const void* newline =
        end_ > begin_ + searched ? std::memchr(start + searched, '\n', end_ - begin_ - searched) : nullptr;
    if (newline || (at_end_ && begin_ < end_)) {
      const std::size_t length =
          newline ? static_cast<std::size_t>(static_cast<const char*>(newline) - start) : end_ - begin_;
      line = {start, length};
      begin_ = std::min(end_, begin_ + length + 1);
      if (line.ends_with('\r')) line.remove_suffix(1);
      ++line_;
      return true;
    }
    if (at_end_) return false;
    searched = end_ - begin_;
    std::memmove(buffer_.data(), start, searched);
    begin_ = 0;
    end_ = searched;
    if (end_ == buffer_.size()) buffer_.resize(2 * buffer_.size());
    const std::size_t got = std::fread(buffer_.data() + end_, 1, buffer_.size() - end_, file_.get());
    if (got == 0 && std::ferror(file_.get())) fail("cannot read '{}': {}", path_.string(), std::strerror(errno));
    at_end_ = got == 0;
    end_ += got;
  }
}

// A line, or several where a quoted cell goes on.
bool CsvReader::next_record(std::string_view& record) {
  if (!next_line(record)) return false;
  if (!std::memchr(record.data(), '"', record.size()) || std::ranges::count(record, '"') % 2 == 0) return true;
  const std::size_t first = line_;
  joined_ = record;
  while (std::ranges::count(joined_, '"') % 2 != 0) {
    if (!next_line(record)) fail("'{}', line {}: a quote is opened and never closed", path_.string(), first);
    (joined_ += '\n') += record;
  }
  record = joined_;
  return true;
}

void CsvReader::detect_separator(std::string_view header) {
  separator_ = ' ';
  std::size_t most = 0;
  for (const char candidate : {',', ';', '\t'})
    if (const std::size_t count = count_outside_quotes(header, candidate); count > most) {
      most = count;
      separator_ = candidate;
    }
}

// Cells as views into the record, trimmed, quotes kept.
void CsvReader::split(std::string_view record) {
  cells_.clear();
  const bool white = separator_ == ' ';
  const auto is_end = [&](char c) { return white ? c == ' ' || c == '\t' : c == separator_; };
  std::size_t at = 0;
  if (white) record = trimmed(record);
  for (;;) {
    const std::size_t start = at;
    bool inside = false;
    while (at < record.size() && (inside || !is_end(record[at]))) inside ^= record[at++] == '"';
    const std::string_view cell = record.substr(start, at - start);
    cells_.push_back(white ? cell : trimmed(cell));
    if (at >= record.size()) return;
    ++at;
    if (white) at = std::min(record.size(), record.find_first_not_of(" \t", at));
  }
}

void CsvReader::read_names(std::string_view header) {
  split(header);
  double number = 0;
  if (std::ranges::all_of(cells_,
                          [&](std::string_view cell) { return !is_quoted(cell) && parse_number(cell, number); }))
    fail("'{}', line {}: numbers ('{}'...) where column names are expected; put a line of names first", path_.string(),
         line_, shown(cells_[0]));
  std::map<std::string, std::size_t> seen;
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    names_.push_back(unquoted(cells_[i]));
    if (names_[i].empty()) continue;
    if (const auto [other, is_new] = seen.emplace(names_[i], i); !is_new)
      fail("'{}', line {}: columns {} and {} are both named '{}'; rename one of them", path_.string(), line_,
           other->second + 1, i + 1, names_[i]);
  }
}

std::size_t CsvReader::column(std::string_view name) const {
  const auto found = std::ranges::find(names_, name);
  if (found == names_.end() || name.empty())
    fail("'{}' has no column '{}'{}", path_.string(), name, suggestion(name, names_));
  return static_cast<std::size_t>(found - names_.begin());
}

Eigen::MatrixXd CsvReader::read(std::span<const std::size_t> columns) {
  std::vector<double> values;
  std::string_view record;
  while (next_record(record))
    if (!trimmed(record).empty()) read_row(record, columns, values);
  if (cells_.size() == 0 || values.empty())
    fail("'{}' has column names but no rows; at least one row of numbers is expected", path_.string());
  const auto width = static_cast<Eigen::Index>(columns.size()), rows = static_cast<Eigen::Index>(values.size()) / width;
  return Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(values.data(), rows,
                                                                                                  width);
}

void CsvReader::read_row(std::string_view record, std::span<const std::size_t> columns, std::vector<double>& values) {
  split(record);
  if (cells_.size() != names_.size())
    fail("'{}', line {}: {} cells, but the header names {} columns; every row needs one cell per column",
         path_.string(), line_, cells_.size(), names_.size());
  for (const std::size_t column : columns) {
    double value = 0;
    if (!parse_number(cells_[column], value)) refuse_cell(columns, column);
    values.push_back(value);
  }
}

void CsvReader::refuse_cell(std::span<const std::size_t> columns, std::size_t column) const {
  const std::string_view cell = cells_[column];
  const std::string where = fmt::format("'{}', line {}, column '{}'", path_.string(), line_, names_[column]);
  if (is_missing(cell))
    fail("{}: {} where a number is expected; fill in the cell, or delete the row or the column", where,
         cell.empty() ? "an empty cell" : fmt::format("a missing value ('{}')", shown(cell)));
  const std::string text = shown(cell);
  char* end = nullptr;
  std::strtod(text.c_str(), &end);
  if (*end == '\0') fail("{}: '{}' is not a number that a double can hold", where, text);
  if (*end == ',' && separator_ != ',') fail("{}: '{}' has a decimal comma; write a decimal point", where, text);
  std::vector<std::string> others;
  double number = 0;
  for (const std::size_t other : columns)
    if (other != column && !is_missing(cells_[other]) && !parse_number(cells_[other], number))
      others.push_back("'" + names_[other] + "'");
  fail("{}: text ('{}') where a number is expected{}; leave such columns out, or code them as numbers", where, text,
       others.empty() ? "" : fmt::format(", and also in {}", fmt::join(others, ", ")));
}

std::string csv_cell(std::string_view text) {
  if (text.find_first_of(",;\"\n\t ") == text.npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

}  // namespace dma
