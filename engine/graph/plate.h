// The slots of a factor: one plate of R rows and C columns, deduced from the variables at its ends.
#pragma once

#include <cstdint>

#include "engine/graph/graph.h"

namespace dma {

// Number of steps of a chain without a slot, because a shifted end would reach beyond the first or last element.
struct Lags {
  explicit Lags(const Graph::Factor& factor);
  bool any() const { return before + after > 0; }
  std::uint32_t in_all() const { return before + after; }
  std::uint32_t before = 0, after = 0;
};

class PlateShape {
 public:
  // `factor` names the factor in errors; it must outlive the shape.
  explicit PlateShape(const Graph::Factor& factor) : factor_(factor), lags_(factor) {}
  explicit PlateShape(Graph::Factor&&) = delete;

  // Adds an end at a variable of that name and size. Ends that contradict each other are an Error. Shifted ends, which
  // determine the length of the chain, must be added first.
  void add(const Connection& end, const NodeName& name, std::uint32_t size);
  // The number of slots on which the identical, shifted and gathered ends agree, which must be rows x columns; without
  // such ends, rows x columns, or the size of the largest variable.
  std::uint32_t slots() const;

 private:
  struct Side {
    std::uint32_t size = 0;  // 0: not known yet
    NodeName name;
  };
  void agree(Side& side, const NodeName& name, std::uint32_t size);

  std::uint32_t slots_of_chain(const NodeName& name, std::uint32_t size) const;

  const Graph::Factor& factor_;
  const Lags lags_;
  Side whole_, rows_, columns_;
  std::uint32_t largest_ = 1;
};

// "factor 'product3' (product)"
std::string where(const Graph::Factor& factor);

}  // namespace dma
