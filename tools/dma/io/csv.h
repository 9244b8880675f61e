// Tables of text: a header with column names, then one row per line. The header tells whether comma, semicolon, tab or
// white space separates cells. Names are UTF-8 without control characters. Rows are read through one buffer of fixed
// size, so memory grows with the numbers kept, not with the text; plain rows (csv_plain.h) on all processors.
#pragma once

#include <Eigen/Dense>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/dma/io/csv_cells.h"
#include "tools/dma/io/csv_plain.h"
#include "tools/dma/io/csv_rows.h"

namespace dma {

class CsvReader {
 public:
  // Opens the file and reads its header. Every Error of this class names the file, the line, the column and the repair.
  explicit CsvReader(std::filesystem::path path);
  // A table in memory; errors call it by this name.
  CsvReader(std::filesystem::path name, std::string text);
  ~CsvReader();

  // Called with the fraction of the bytes read so far, if the file has a size.
  void watch(std::function<void(double)> fraction_read) { watch_ = std::move(fraction_read); }

  const std::filesystem::path& path() const { return path_; }
  const std::vector<std::string>& names() const { return names_; }  // a column may have none

  bool has(std::string_view name) const { return columns_.contains(name); }
  // The position of a column; an Error that offers the nearest name if there is none.
  std::size_t column(std::string_view name) const;

  // All rows of these columns, in this order; the other columns may hold anything. Once per reader. A cell that is no
  // number is an Error or, with `has_text`, NaN; the columns that hold such cells are marked there.
  Eigen::MatrixXd read(std::span<const std::size_t> columns, std::vector<bool>* has_text = nullptr);

  // Instead of read(), for a file whose rows are all plain (csv_plain.h): the rows of one of `shards` shards of about
  // equal size, which together are all rows in their order. The bytes of the others are not read. Nothing if the shard
  // holds a line that is not plain, or if the table is no file.
  std::optional<Eigen::MatrixXd> read_shard(std::span<const std::size_t> columns, std::size_t shard,
                                            std::size_t shards);

  // Cells of these columns without quotes, made printable(), column after column; and the line of every row.
  struct TextColumns {
    std::vector<std::vector<std::string>> cells;
    std::vector<std::size_t> lines = {};
  };
  TextColumns read_cells(std::span<const std::size_t> columns);
  // The separator of cells; ' ' stands for any white space.
  char separator() const { return cells_.separator(); }

 private:
  bool next_line(std::string_view& line);
  void fill();
  std::string_view whole_lines(std::size_t most) const;
  void read_plain_rows(const PlainReader& reader, NumberRows& rows);
  void read_header();
  void refuse_other_formats(std::string_view first_line) const;
  void choose_separator(std::string_view header);
  void read_names();
  bool next_record();
  void check_width() const;
  [[noreturn]] void refuse_quote(std::size_t line, CsvCells::End end) const;
  [[noreturn]] void refuse_cell(std::span<const std::size_t> columns, std::size_t column) const;

  std::filesystem::path path_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;  // range of the buffer that is not yet read
  bool at_end_ = false;
  std::size_t size_ = 0, passed_ = 0;  // bytes of the file, if known, and bytes that have left the buffer
  std::size_t segment_ = 0;            // bytes of plain rows to be tried at once
  std::function<void(double)> watch_;
  std::size_t line_ = 0;  // number of the last line read, from 1
  std::string joined_;    // a record whose quoted cell spans lines
  CsvCells cells_;        // cells of the last record
  std::vector<std::string> names_;
  std::map<std::string, std::size_t, std::less<>> columns_;
};

}  // namespace dma
