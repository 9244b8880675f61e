#include "engine/graph/graph.h"

#include <fmt/format.h>

#include "engine/support/sizes.h"
#include "engine/support/text.h"

namespace dma {

namespace {

// A stem that ends in a digit gets a separator: number 2 of "log1" is not number 12 of "log".
std::string numbered(std::string_view stem, std::uint64_t number) {
  const fmt::format_int digits(number);
  const bool apart = !stem.empty() && ((stem.back() >= '0' && stem.back() <= '9') || stem.back() == '_');
  std::string name;
  name.reserve(stem.size() + 1 + digits.size());
  return name.append(stem).append(apart ? "_" : "").append(digits.data(), digits.size());
}

}  // namespace

std::string name_or_number(std::string_view given, std::string_view stem, std::uint32_t number) {
  return given.empty() ? numbered(stem, number) : std::string(given);
}

const std::string* NameTable::own(std::uint32_t node) const {
  const auto found = names_.find(node);
  return found == names_.end() ? nullptr : &found->second;
}

// Numbered names end in the node's number ("v17", "product3") and need no entry.
std::optional<std::uint32_t> NameTable::find(const std::string& name, const StemOf& stem_of) const {
  if (const auto found = nodes_.find(name); found != nodes_.end()) return found->second.node;
  std::uint64_t number = 0, power = 1;
  for (std::size_t i = name.size(); i-- > 0 && name[i] >= '0' && name[i] <= '9' && power <= kNowhere; power *= 10) {
    number += power * static_cast<std::uint64_t>(name[i] - '0');
    const auto node = static_cast<std::uint32_t>(number);
    const auto stem = number == node ? stem_of(node) : std::nullopt;
    if (stem && own(node) == nullptr && numbered(*stem, number) == name) return node;
  }
  return {};
}

std::optional<std::uint32_t> NameTable::take(std::uint32_t node, const std::string& name, const StemOf& stem_of) {
  if (!is_plain_text(name)) fail("the name of a {}, '{}', holds control characters; rename it", noun_, printable(name));
  if (const auto entry = nodes_.find(name); entry != nodes_.end() && entry->second.is_of_user)
    fail("two {}s are named '{}'; give each its own name, or an empty one to have it numbered", noun_, name);
  const auto holder = find(name, stem_of);
  set(node, name, true);
  // Start beyond all nodes, whose names would collide in turn.
  if (holder) renumber(*holder, *stem_of(*holder), std::uint64_t{node} + 1);
  return holder;
}

bool NameTable::number(std::uint32_t node, std::string_view stem) {
  if (nodes_.empty() || !nodes_.contains(numbered(stem, node))) return false;
  renumber(node, stem, std::uint64_t{node} + 1);
  return true;
}

void NameTable::forget(std::uint32_t node) {
  const auto name = names_.find(node);
  if (name == names_.end()) return;
  nodes_.erase(name->second);
  names_.erase(name);
}

void NameTable::set(std::uint32_t node, std::string name, bool is_of_user) {
  nodes_.insert_or_assign(name, Entry{node, is_of_user});
  names_.insert_or_assign(node, std::move(name));
}

void NameTable::renumber(std::uint32_t node, std::string_view stem, std::uint64_t from) {
  std::string name = numbered(stem, from);
  while (nodes_.contains(name)) name = numbered(stem, ++from);
  set(node, std::move(name), false);
}

}  // namespace dma
