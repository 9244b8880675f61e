// A plan keeps the names of its factors once it is compiled. The groups know where their messages are.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/graph/graph.h"
#include "engine/support/short_list.h"

namespace dma {

class Kind;
struct Resolved;

class FactorTable {
 public:
  struct Factor {
    const Kind* kind = nullptr;
    std::uint32_t number = 0;
    std::string_view given_name;  // empty: the kind and the number
    std::string_view method;
    ShortList<FactorId> origins;  // the factors of the user's graph it stands for

    std::string name() const;
  };

  FactorTable() = default;
  explicit FactorTable(const Resolved& graph);

  std::size_t size() const { return sort_of_.size(); }
  Factor operator[](std::size_t i) const;
  bool are_all_of_graph() const { return numbers_.empty() && fused_ == 0; }  // each is the one at its position
  std::string name(std::size_t i) const { return (*this)[i].name(); }

 private:
  struct Sort {
    const Kind* kind;
    std::string_view method;
    friend bool operator==(const Sort&, const Sort&) = default;
  };
  // For factors that are not simply one of the graph, without a name.
  struct Special {
    std::string given_name;
    ShortList<FactorId> origins;
  };
  std::vector<Sort> sorts_;
  std::vector<std::uint16_t> sort_of_;
  std::size_t fused_ = 0;
  std::vector<std::uint32_t> numbers_;  // empty: each has its position
  std::unordered_map<std::uint32_t, Special> specials_;
};

}  // namespace dma
