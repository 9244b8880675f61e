#include "tools/dma/io/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "engine/support/model_file.h"
#include "engine/support/text.h"
#include "tools/dma/io/csv_text.h"

namespace dma {

namespace {

constexpr std::size_t kBufferSize = 1 << 22;
// Bytes that are tried at once after a line that was not plain: work of other processors behind such a line is lost.
constexpr std::size_t kFirstSegment = 1 << 16;
constexpr std::size_t kLongestLine = 1 << 30;  // a file without line ends, like /dev/zero, must not fill the memory

}  // namespace

CsvReader::CsvReader(std::filesystem::path path) : path_(std::move(path)), file_(nullptr, &std::fclose) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path_, ignored)) fail("'{}' is a folder; a CSV file is expected", path_.string());
  file_.reset(std::fopen(path_.c_str(), "rb"));
  if (!file_) fail("cannot read '{}': {}", path_.string(), std::strerror(errno));
  if (const auto size = std::filesystem::file_size(path_, ignored); !ignored) size_ = size;
  read_header();
}

CsvReader::CsvReader(std::filesystem::path name, std::string text)
    : path_(std::move(name)),
      file_(nullptr, &std::fclose),
      buffer_(text.begin(), text.end()),
      end_(buffer_.size()),
      at_end_(true) {
  read_header();
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
    if (searched > kLongestLine)
      fail("'{}', line {}: it goes on for more than {} bytes; a table of text is expected", path_.string(), line_ + 1,
           kLongestLine);
    fill();
  }
}

// More of the file behind what is in the buffer and not yet read.
void CsvReader::fill() {
  const std::size_t kept = end_ - begin_;
  if (kept > 0 && begin_ > 0) std::memmove(buffer_.data(), buffer_.data() + begin_, kept);
  passed_ += begin_;
  begin_ = 0;
  end_ = kept;
  if (buffer_.empty() && size_ > 0)
    buffer_.resize(std::min(kBufferSize, size_ + 1));  // a small file needs no more than its size
  if (end_ == buffer_.size()) buffer_.resize(std::max(kBufferSize, 2 * buffer_.size()));
  const std::size_t got = std::fread(buffer_.data() + end_, 1, buffer_.size() - end_, file_.get());
  if (got == 0 && std::ferror(file_.get())) fail("cannot read '{}': {}", path_.string(), std::strerror(errno));
  at_end_ = got == 0;
  end_ += got;
  if (watch_ && size_ > 0) watch_(std::min(1.0, static_cast<double>(passed_) / static_cast<double>(size_)));
}

// Whole lines in the buffer, of together no more bytes than these, or the first.
std::string_view CsvReader::whole_lines(std::size_t most) const {
  const std::string_view all(buffer_.data() + begin_, end_ - begin_);
  auto last = all.substr(0, most).rfind('\n');
  if (last == all.npos) last = all.find('\n');
  return last == all.npos ? std::string_view() : all.substr(0, last + 1);
}

// Files that are no tables of text are refused by name.
void CsvReader::refuse_other_formats(std::string_view first_line) const {
  using namespace std::string_view_literals;
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kFormats = {
      {{"PAR1", "a Parquet file"},
       {"PK\x03\x04", "a zip archive, such as a workbook of Excel"},
       {"\x1f\x8b", "compressed by gzip"},
       {"\x89HDF", "an HDF5 file"},
       {"ARROW1", "an Arrow file"}}};
  for (const auto& [magic, what] : kFormats)
    if (first_line.starts_with(magic)) fail("'{}' is {}; save the table as CSV", path_.string(), what);
  if (first_line.starts_with(kModelFileStart))
    fail("'{}' is a model of dma, and no table; give a CSV file in its place", path_.string());
  const std::string_view rest = trimmed(first_line.substr(first_line.starts_with('{') ? 1 : 0));
  if (first_line.starts_with('{') && (rest.empty() || rest.starts_with('"')))
    fail("'{}' is JSON, as graphs are, and no table; give a CSV file in its place", path_.string());
}

// Column names stand on one line, so the first line with anything on it is the header.
void CsvReader::read_header() {
  std::string_view header;
  do {
    if (!next_line(header))
      fail("'{}' is empty; a line of column names and rows of numbers are expected", path_.string());
    if (line_ == 1 && header.starts_with("\xef\xbb\xbf")) header.remove_prefix(3);  // byte order mark
    if (line_ == 1 && (header.starts_with("\xff\xfe") || header.starts_with("\xfe\xff")))
      fail("'{}' is UTF-16 text; save it as UTF-8", path_.string());
    if (line_ == 1) refuse_other_formats(header);
    if (header.find('\0') != header.npos)
      fail("'{}', line {}: a byte of value 0, which no text holds; save the table as UTF-8 text", path_.string(),
           line_);
  } while (trimmed(header).empty());
  choose_separator(header);
  if (const auto end = cells_.split(header); end != CsvCells::End::whole) refuse_quote(line_, end);
  read_names();
}

// The separator that makes most cells; white space only where nothing else does.
void CsvReader::choose_separator(std::string_view header) {
  char best = ' ';
  std::size_t most = 1;
  for (const char candidate : {',', ';', '\t'}) {
    cells_ = CsvCells(candidate);
    const bool whole = cells_.split(header) == CsvCells::End::whole;
    const std::size_t count = cells_.size() + (whole ? 0 : 1);
    if (count > most) most = count, best = candidate;
  }
  cells_ = CsvCells(best);
}

// A line, or several where a quoted cell goes on; false after the last. Its cells are then in cells_.
bool CsvReader::next_record() {
  std::string_view line;
  do {
    if (!next_line(line)) return false;
  } while (trimmed(line).empty());
  const std::size_t first = line_;
  auto end = cells_.split(line);
  if (end == CsvCells::End::open) joined_ = line;
  while (end == CsvCells::End::open) {
    if (!next_line(line)) refuse_quote(first, end);
    (joined_ += '\n') += line;
    end = cells_.go_on(joined_);
  }
  if (end != CsvCells::End::whole) refuse_quote(first, end);
  return true;
}

void CsvReader::refuse_quote(std::size_t line, CsvCells::End end) const {
  fail("'{}', line {}: the quote that opens cell {} {}; close it, or write \"\" for a quote inside quotes",
       path_.string(), line, cells_.size() + 1,
       end == CsvCells::End::open ? "is never closed" : "is closed before the end of the cell");
}

void CsvReader::read_names() {
  double number = 0;
  bool all_numbers = true;
  for (std::size_t i = 0; i < cells_.size(); ++i)
    all_numbers = all_numbers && !is_quoted(cells_[i]) && parse_number(cells_[i], number);
  if (all_numbers)
    fail("'{}', line {}: numbers ('{}'...) where column names are expected; put a line of names first", path_.string(),
         line_, shown(cells_[0]));
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    names_.push_back(unquoted(cells_[i]));
    if (!is_plain_text(names_[i]))
      fail(
          "'{}', line {}: the name of column {}, '{}', holds control characters or is not UTF-8; rename it, or save "
          "the table as UTF-8",
          path_.string(), line_, i + 1, shown(cells_[i]));
    if (names_[i].empty()) continue;
    if (const auto [other, is_new] = columns_.emplace(names_[i], i); !is_new)
      fail("'{}', line {}: columns {} and {} are both named '{}'; rename one of them", path_.string(), line_,
           other->second + 1, i + 1, names_[i]);
  }
}

std::size_t CsvReader::column(std::string_view name) const {
  const auto found = columns_.find(name);
  if (found == columns_.end()) fail("'{}' has no column '{}'{}", path_.string(), name, suggestion(name, names_));
  return found->second;
}

Eigen::MatrixXd CsvReader::read(std::span<const std::size_t> columns, std::vector<bool>* has_text) {
  if (has_text != nullptr) has_text->assign(columns.size(), false);
  bool all_numbers = true;  // rows with text are never plain: trying them would cost more than it gains
  NumberRows rows(columns.size());
  const PlainReader plain(cells_.separator(), names_.size(), columns);
  segment_ = kFirstSegment;
  while (next_record()) {
    check_width();
    std::vector<double>& values = rows.add_row();
    for (std::size_t i = 0; i < columns.size(); ++i) {
      double& value = values.emplace_back();
      if (parse_number(cells_[columns[i]], value)) continue;
      if (has_text == nullptr) refuse_cell(columns, columns[i]);
      value = std::numeric_limits<double>::quiet_NaN();
      all_numbers = all_numbers && is_missing(cells_[columns[i]]);
      (*has_text)[i] = true;
    }
    if (all_numbers) read_plain_rows(plain, rows);
  }
  if (rows.empty()) fail("'{}' has column names but no rows; at least one row of numbers is expected", path_.string());
  return rows.take();
}

std::optional<Eigen::MatrixXd> CsvReader::read_shard(std::span<const std::size_t> columns, std::size_t shard,
                                                     std::size_t shards) {
  const std::size_t body = passed_ + begin_;  // behind the header
  if (!file_ || size_ < body) return {};
  const auto cut = [&](std::size_t k) {
    return body + (size_ - body) / shards * k + (size_ - body) % shards * k / shards;
  };
  const std::size_t first = cut(shard), last = cut(shard + 1);  // lines that begin in [first, last) are of this shard
  size_ = last;                                                 // watch() is told a fraction of it
  if (first > body) {
    if (std::fseek(file_.get(), static_cast<long>(first - 1), SEEK_SET) != 0) return {};
    passed_ = first - 1;
    begin_ = end_ = 0;
    at_end_ = false;
    std::string_view skipped;  // the line that another shard has
    next_line(skipped);
  }
  const PlainReader plain(cells_.separator(), names_.size(), columns);
  NumberRows rows(columns.size());
  while (passed_ + begin_ < last) {
    std::string_view lines = whole_lines(last - passed_ - begin_);
    std::string end;  // last line of a file without a line end
    if (lines.empty() && !at_end_) {
      fill();
      continue;
    }
    if (lines.empty()) lines = end = std::string(buffer_.data() + begin_, end_ - begin_) + "\n";
    std::size_t bytes = 0;
    for (PlainRows& piece : plain.read_in_pieces(lines)) {
      bytes += piece.bytes;
      rows.add_rows(std::move(piece.values));
    }
    if (bytes < lines.size()) return {};
    if (!end.empty()) break;
    begin_ += bytes;
  }
  return rows.take();
}

CsvReader::TextColumns CsvReader::read_cells(std::span<const std::size_t> columns) {
  TextColumns text{std::vector<std::vector<std::string>>(columns.size())};
  while (next_record()) {
    check_width();
    text.lines.push_back(line_);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      std::string cell = unquoted(cells_[columns[i]]);
      text.cells[i].push_back(is_plain_text(cell) ? std::move(cell) : printable(cell));
    }
  }
  if (text.lines.empty()) fail("'{}' has column names but no rows; at least one row is expected", path_.string());
  return text;
}

// Rows up to the next that is not plain, or to the end of all whole lines. The buffer is cut between lines, so that
// what is read does not depend on how many processors there are.
void CsvReader::read_plain_rows(const PlainReader& reader, NumberRows& rows) {
  for (;;) {
    if (!at_end_ && end_ - begin_ < segment_) fill();
    const std::string_view lines = whole_lines(segment_);
    if (lines.empty()) return;
    const std::size_t whole = begin_ + lines.size();
    for (PlainRows& piece : reader.read_in_pieces(lines)) {
      begin_ += piece.bytes;
      line_ += piece.lines;
      rows.add_rows(std::move(piece.values));
    }
    if (begin_ < whole) {
      segment_ = kFirstSegment;
      return;
    }
    segment_ = std::min(2 * segment_, kBufferSize);
  }
}

void CsvReader::check_width() const {
  if (cells_.size() != names_.size())
    fail("'{}', line {}: {} cells, but the header names {} columns; every row needs one cell per column",
         path_.string(), line_, cells_.size(), names_.size());
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
  if (*end == ',' && cells_.separator() != ',')
    fail("{}: '{}' has a decimal comma; write a decimal point", where, text);
  std::vector<std::string> others;
  double number = 0;
  for (const std::size_t other : columns)
    if (other != column && !is_missing(cells_[other]) && !parse_number(cells_[other], number))
      others.push_back("'" + names_[other] + "'");
  fail("{}: text ('{}') where a number is expected{}; leave such columns out, or code them as numbers", where, text,
       others.empty() ? "" : fmt::format(", and also in {}", joined(others)));
}

}  // namespace dma
