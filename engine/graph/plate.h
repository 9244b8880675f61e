// The slots of a factor, as the variables it is connected to ask for them: one plate of R rows and C columns.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/graph/graph.h"

namespace dma {

class PlateShape {
 public:
  // `factor` names the factor in errors, and must outlive the shape.
  explicit PlateShape(const Graph::Factor& factor) : factor_(factor) {}

  // The end reaches a variable of that name and size. Ends that contradict each other are an Error.
  void add(const Connection& end, std::string_view name, std::uint32_t size);
  // What the identical and gathered ends agree on, which must be rows x columns; without such ends, rows x columns, or
  // the largest variable.
  std::uint32_t slots() const;

 private:
  struct Side {
    std::uint32_t size = 0;  // 0: nobody has asked yet
    std::string_view name;
  };
  void agree(Side& side, std::string_view name, std::uint32_t size);

  const Graph::Factor& factor_;
  Side whole_, rows_, columns_;
  std::uint32_t largest_ = 1;
};

// "factor 'product3' (product)"
std::string where(const Graph::Factor& factor);

}  // namespace dma
