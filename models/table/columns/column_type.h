// One type of column: how its cells are recognised, what numbers they become, and how it stands in a file.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/table/columns/cells.h"

namespace dma {

class Fields;
class ColumnType;

// Guess at the type of a column from all its cells; neither a type nor a reason: the cells are of another type.
struct ColumnGuess {
  std::shared_ptr<const ColumnType> type = {};
  std::string why_left_out = {};
  std::size_t missing = 0, strays = 0;  // strays are cells of another type, taken as missing
};

struct ColumnKind {
  std::string_view name;         // in files
  std::string_view cell, cells;  // for people: "date", "dates"
  std::string_view unit = {};    // unit of numbers that say the same; none: its cells are no quantity
  // A file whose cells are separated by semicolons is one in which commas may be decimal commas and days come first.
  ColumnGuess (*guess)(std::span<const std::string> cells, bool has_semicolons);
  std::shared_ptr<ColumnType> (*blank)();  // to be read from a file
};

enum class CellFound : std::uint8_t { value, missing, unseen, stray };

// Learned type of one column.
class ColumnType {
 public:
  using Found = CellFound;

  virtual ~ColumnType() = default;
  virtual const ColumnKind& kind() const = 0;
  virtual bool is_missing(std::string_view cell) const { return stands_for_nothing(cell); }
  // Writes the numbers of a cell that is not missing, unless it is a stray, or has a value that the fit did not have;
  // then those of the rest, if there is one.
  virtual Found read(std::string_view cell, double* made) const = 0;
  virtual std::vector<std::string> columns(const std::string& name) const { return {name}; }
  virtual std::string text() const { return std::string(kind().cells); }  // description in a few words
  virtual bool has_rest() const { return false; }  // values that the fit had rarely, or not at all, share a column
  virtual char decimal_mark() const { return '.'; }
  // Values that are numbered, the most frequent being 0; this number stands for all others. 0: it makes quantities.
  virtual std::size_t levels() const { return 0; }
  // Members in a file, and an Error for those that cannot have been learned.
  virtual void list(Fields& /*fields*/) {}
  virtual void check() const {}
};

inline constexpr std::size_t kFewestMarked = 5;  // missing cells from which a column marks them

// Numbers of cells of the type, of missing ones, and of strays, which are neither; is_most() if strays are few enough
// to be slips.
struct CellCounts {
  std::size_t found = 0, missing = 0, strays = 0;

  CellCounts(std::span<const std::string> cells, const std::function<bool(const std::string& cell)>& reads) {
    for (const std::string& cell : cells) ++(stands_for_nothing(cell) ? missing : reads(cell) ? found : strays);
  }
  bool is_most() const {
    constexpr std::size_t kFoundPerStray = 10;
    return found > 0 && strays * kFoundPerStray <= found;
  }
  ColumnGuess guess(std::shared_ptr<const ColumnType> type) const {
    return {std::move(type), {}, missing + strays, strays};
  }
};

}  // namespace dma
