// The name of a node: the user's, or a stem and a number ("v3", "product3", "log2_3"). Numbered names are formatted
// when read, not while a model of a million nodes is built.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

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

}  // namespace dma

template <>
struct fmt::formatter<dma::NodeName> : dma::TextFormatter {
  auto format(const dma::NodeName& name, format_context& context) const { return write(name.text(), context); }
};
