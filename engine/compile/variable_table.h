// The variables of a plan. Variables of one sort share their data, and variables with the same factors share their
// list: each of a million scalar nodes then takes 16 bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/graph/graph.h"
#include "engine/messages/family.h"
#include "engine/support/lists.h"
#include "engine/support/sizes.h"

namespace dma {

// The names that were given to variables.
struct GivenNames {
  std::vector<std::string> list;
  std::vector<std::uint32_t> of_variable;  // place in the list, from 1; 0: no name; empty: no variable has one
  std::unordered_map<std::uint32_t, std::vector<std::string>> categories = {};  // by variable, if they have names

  NodeName name(std::uint32_t variable) const {
    const std::uint32_t given = of_variable.empty() ? 0 : of_variable[variable];
    return {given == 0 ? nullptr : &list[given - 1], variable};
  }
};

class VariableTable {
 public:
  struct End {
    std::uint32_t group;
    std::uint16_t port;
    bool of_model;   // the factor connects shared variables only, and belongs to no example
    bool in_cavity;  // its messages are part of the cavity
    friend bool operator==(const End&, const End&) = default;
  };
  struct Variable {
    using End = VariableTable::End;
    NodeName name;  // kept by the table
    std::uint32_t first_element = 0, size = 1;  // in components
    Family family = {};
    bool observed = false, shared = false;
    bool cuts = false;                    // observed and never missing
    bool eliminated = false;              // fused away: it has no messages
    std::uint32_t first_slot = kNowhere;  // slot of an observed value, or of a shared variable's cavity
    std::span<const End> ends = {};

    std::uint32_t elements() const { return family.components() == 1 ? size : size / family.components(); }
    std::uint32_t values() const { return elements() * family.values(); }  // numbers of an observation
  };

  Variable operator[](std::size_t i) const;
  std::size_t size() const { return records_.size(); }
  bool empty() const { return records_.empty(); }
  auto begin() const { return items().begin(); }
  auto end() const { return items().end(); }
  // The variable that an element of all of them side by side belongs to.
  Variable at_element(std::uint32_t element) const;
  std::size_t index_at(std::uint32_t element) const;
  // A value of a discrete one there, as people call it: "LOW", or "2".
  std::string value_text(std::uint32_t element, std::uint32_t value) const;

 private:
  friend class VariableTableBuilder;
  OnDemand<VariableTable, Variable, &VariableTable::operator[]> items() const { return {*this, size()}; }

  struct Record {
    std::uint32_t first_element, first_slot, sort, ends;
  };
  struct Sort {
    std::uint32_t size;
    Family family;
    bool observed, shared, cuts;
    friend bool operator==(const Sort&, const Sort&) = default;
  };
  struct List {
    std::uint32_t first, size;  // in ends_
  };
  std::vector<Record> records_;
  std::vector<Sort> sorts_;
  std::vector<List> lists_;
  std::vector<End> ends_;
  std::shared_ptr<const GivenNames> names_;
};

// Makes a table: all variables in order, then the ends, then finish().
class VariableTableBuilder {
 public:
  VariableTableBuilder(VariableTable& table, std::size_t variables, std::shared_ptr<const GivenNames> names);
  void add(const VariableTable::Variable& variable);  // its ends come later
  void add_end(std::uint32_t variable, const VariableTable::End& end);
  void finish();

 private:
  // A list is a shorter list and one more end: lists with the same beginning share it.
  struct Node {
    std::uint32_t before;
    VariableTable::End end;
  };
  // The list `from` with one more end: a cache for the look-up that every end of the graph needs.
  struct Step {
    std::uint32_t from = 0, to = 0;
    VariableTable::End end = {};
  };
  struct Hash {
    std::size_t operator()(const std::pair<std::uint32_t, VariableTable::End>& step) const {
      const auto& [list, end] = step;
      return std::hash<std::uint64_t>()((std::uint64_t{list} << 32 | end.group) * 0x9e3779b97f4a7c15u + end.port);
    }
  };
  std::uint32_t extended(std::uint32_t list, const VariableTable::End& end);

  VariableTable& table_;
  std::vector<Node> nodes_;
  std::vector<Step> recent_;
  std::unordered_map<std::pair<std::uint32_t, VariableTable::End>, std::uint32_t, Hash> extensions_;  // all of them
};

}  // namespace dma
