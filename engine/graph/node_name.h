// The name of a node: the user's, or a stem and a number ("v3", "product3", "log2_3"). Numbered names are formatted
// when read, not while a model of a million nodes is built.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "engine/support/text.h"

namespace dma {

std::string name_or_number(std::string_view given, std::string_view stem, std::uint32_t number);  // "v3" without a name

// Name of a variable; points to the user's name if there is one.
class NodeName {
 public:
  NodeName() = default;
  NodeName(const std::string* given, std::uint32_t number) : given_(given), number_(number) {}

  bool is_given() const { return given_ != nullptr; }  // false: it is a number
  std::uint32_t number() const { return number_; }     // place in the graph
  std::string text() const { return name_or_number(given_ == nullptr ? std::string_view() : *given_, "v", number_); }
  operator std::string() const { return text(); }  // NOLINT: to be read as the name itself
  friend bool operator==(const NodeName& a, std::string_view b) { return a.text() == b; }

 private:
  const std::string* given_ = nullptr;
  std::uint32_t number_ = 0;
};

// The names of the variables of a graph, or of its factors, as far as they are more than a stem and the node's number.
class NameTable {
 public:
  // The stem of the node with that number; nothing if there is no such node.
  using StemOf = std::function<std::optional<std::string_view>(std::uint32_t)>;

  explicit NameTable(std::string_view noun) : noun_(noun) {}
  // Null if the node's name is its stem and its number. The pointer stays valid until the node is renamed or forgotten.
  const std::string* own(std::uint32_t node) const;
  // The node with that name, own or numbered.
  std::optional<std::uint32_t> find(const std::string& name, const StemOf& stem_of) const;
  // Gives the next node the user's name for it; an Error if the user gave it before. Returns the node that had it as
  // its numbered name, if any, and now has a name of its own.
  std::optional<std::uint32_t> take(std::uint32_t node, const std::string& name, const StemOf& stem_of);
  // The next node has no name from the user: gives it one of its own if the user has taken its numbered one. Returns
  // true if so.
  bool number(std::uint32_t node, std::string_view stem);
  void forget(std::uint32_t node);

 private:
  struct Entry {
    std::uint32_t node;
    bool is_of_user;
  };
  void set(std::uint32_t node, std::string name, bool is_of_user);
  void renumber(std::uint32_t node, std::string_view stem, std::uint64_t from);

  std::string_view noun_;
  std::unordered_map<std::string, Entry> nodes_;          // by name
  std::unordered_map<std::uint32_t, std::string> names_;  // by node
};

}  // namespace dma

template <>
struct fmt::formatter<dma::NodeName> : dma::TextFormatter {
  auto format(const dma::NodeName& name, format_context& context) const { return write(name.text(), context); }
};
