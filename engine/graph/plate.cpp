#include "engine/graph/plate.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/support/sizes.h"

namespace dma {

std::string where(const Graph::Factor& factor) { return fmt::format("factor '{}' ({})", factor.name(), factor.kind); }

Lags::Lags(const Graph::Factor& factor) {
  for (const Connection& end : factor.connections) {
    const std::int64_t lag = end.lag();
    before = std::max(before, static_cast<std::uint32_t>(std::max<std::int64_t>(lag, 0)));
    after = std::max(after, static_cast<std::uint32_t>(std::max<std::int64_t>(-lag, 0)));
  }
}

// Number of slots of a plate along a chain of `size` elements.
std::uint32_t PlateShape::slots_of_chain(const NodeName& name, std::uint32_t size) const {
  if (std::uint64_t{lags_.before} + lags_.after < size) return size - lags_.in_all();
  fail("{}: '{}' has {} elements, too few for a shift over {}; give it at least {}", where(factor_), name, size,
       std::uint64_t{lags_.before} + lags_.after, std::uint64_t{lags_.before} + lags_.after + 1);
}

void PlateShape::agree(Side& side, const NodeName& name, std::uint32_t size) {
  if (side.size == 0) side = {size, name};
  if (size == side.size) return;
  if (&side == &whole_)
    fail("{}: plate sizes do not fit: '{}' has {} elements but '{}' has {}; wrap one in row(), column(), all_to_one() "
         "or gather(), or give both the same size",
         where(factor_), side.name, side.size, name, size);
  const std::string_view way = &side == &rows_ ? "row" : "column";
  fail("{}: {}({}) has {} elements but {}({}) has {}; a plate has one number of {}s, use gather() for another shape",
       where(factor_), way, side.name, side.size, way, name, size, way);
}

void PlateShape::add(const Connection& end, const NodeName& name, std::uint32_t size) {
  largest_ = std::max(largest_, size);
  switch (end.reach) {
    case Reach::shift: return agree(whole_, name, slots_of_chain(name, size));
    case Reach::identical:
      // The variable spans the chain, or has one element per slot.
      if (lags_.any() && whole_.size > 0 && size == std::uint64_t{whole_.size} + lags_.in_all()) return;
      if (lags_.any() && whole_.size > 0 && size != whole_.size)
        fail(
            "{}: '{}' has {} elements; along a chain of {} it takes {}, one for each element, or {}, one for each step",
            where(factor_), name, size, std::uint64_t{whole_.size} + lags_.in_all(),
            std::uint64_t{whole_.size} + lags_.in_all(), whole_.size);
      return agree(whole_, name, size);
    case Reach::row: return agree(rows_, name, size);
    case Reach::column: return agree(columns_, name, size);
    case Reach::all_to_one: return;
    case Reach::gather:
    case Reach::given:
      return agree(whole_, name, checked_size(end.entries(), [&] {
        return fmt::format("{}: the entries of gather({})", where(factor_), name);
      }));
  }
}

std::uint32_t PlateShape::slots() const {
  if (rows_.size == 0 || columns_.size == 0) return whole_.size > 0 ? whole_.size : largest_;
  const std::uint32_t area = multiply_sizes(rows_.size, columns_.size, [&] {
    return fmt::format("{}: the slots of row({}) x column({})", where(factor_), rows_.name, columns_.name);
  });
  if (whole_.size > 0 && whole_.size != area)
    fail(
        "{}: row({}) x column({}) is a plate of {} x {} slots, "
        "but '{}' has {} elements; use gather() for another shape",
        where(factor_), rows_.name, columns_.name, rows_.size, columns_.size, whole_.name, whole_.size);
  return area;
}

}  // namespace dma
