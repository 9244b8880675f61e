// The JSON type, and the only place that parses and writes JSON text: the library's parser and writer cost every file
// that calls them seconds of compile time.
#pragma once

#include <bit>
#include <cstdint>
#include <functional>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dma {

// The members of an object, in insertion order. The library's own list is searched linearly; this one finds a name in
// constant time through a hash table for large objects.
template <class Name, class Value, class Less, class Allocator>
class JsonMembers : public nlohmann::ordered_map<Name, Value, Less, Allocator> {
 public:
  using List = nlohmann::ordered_map<Name, Value, Less, Allocator>;
  using iterator = typename List::iterator;
  using const_iterator = typename List::const_iterator;
  using value_type = typename List::value_type;

  JsonMembers() = default;
  template <class Iterator>
  JsonMembers(Iterator first, Iterator last) {
    insert(first, last);
  }

  template <class Key>
  iterator find(const Key& name) {
    return this->begin() + static_cast<std::ptrdiff_t>(place(name));
  }
  template <class Key>
  const_iterator find(const Key& name) const {
    return this->begin() + static_cast<std::ptrdiff_t>(place(name));
  }
  template <class Key>
  std::size_t count(const Key& name) const {
    return place(name) < this->size() ? 1 : 0;
  }
  template <class Key>
  Value& at(const Key& name) {
    return this->data()[present(name)].second;
  }
  template <class Key>
  const Value& at(const Key& name) const {
    return this->data()[present(name)].second;
  }
  template <class Key>
  Value& operator[](Key&& name) {
    return emplace(std::forward<Key>(name), Value{}).first->second;
  }
  template <class Key>
  std::pair<iterator, bool> emplace(Key&& name, Value&& value) {
    const std::size_t found = place(name), before = this->size();
    if (found == before) {
      this->emplace_back(std::forward<Key>(name), std::move(value));
      list_from(before);
    }
    return {this->begin() + static_cast<std::ptrdiff_t>(found), found == before};
  }
  std::pair<iterator, bool> insert(const value_type& member) { return emplace(member.first, Value(member.second)); }
  template <class Iterator>
  void insert(Iterator first, Iterator last) {
    for (; first != last; ++first) insert(*first);
  }
  template <class... Which>
  auto erase(Which&&... which) {
    const auto next = List::erase(std::forward<Which>(which)...);
    slots_.clear();
    list_from(0);
    return next;
  }
  void clear() { List::clear(), slots_.clear(); }

 private:
  static constexpr std::size_t kSearched = 16;  // members: fewer are searched faster without a table

  std::size_t slot(std::string_view name) const { return std::hash<std::string_view>()(name) & (slots_.size() - 1); }
  std::size_t after(std::size_t slot) const { return (slot + 1) & (slots_.size() - 1); }

  // Index of the member; size() if there is none.
  template <class Key>
  std::size_t place(const Key& name) const {
    if (slots_.empty()) {
      std::size_t i = 0;
      while (i < this->size() && !(this->data()[i].first == name)) ++i;
      return i;
    }
    std::size_t at = slot(name);
    while (slots_[at] != 0 && !(this->data()[slots_[at] - 1].first == name)) at = after(at);
    return slots_[at] == 0 ? this->size() : slots_[at] - 1;
  }
  template <class Key>
  std::size_t present(const Key& name) const {
    const std::size_t found = place(name);
    if (found == this->size()) throw std::out_of_range("key not found");
    return found;
  }
  // Adds the members from `first` on to the table, which stays at most half full.
  void list_from(std::size_t first) {
    if (this->size() <= kSearched) return;
    if (2 * this->size() > slots_.size()) {
      slots_.assign(std::bit_ceil(4 * this->size()), 0);
      first = 0;
    }
    for (std::size_t i = first; i < this->size(); ++i) {
      std::size_t at = slot(this->data()[i].first);
      while (slots_[at] != 0) at = after(at);
      slots_[at] = i + 1;
    }
  }

  std::vector<std::size_t> slots_;  // index + 1, by the hash of the name; 0: free; empty: few members
};

using Json = nlohmann::basic_json<JsonMembers>;

enum class JsonEvent { object_start, object_end, array_start, array_end, key, value };

// Throws Json::parse_error for a syntax error, Json::out_of_range for a number beyond the range of a double, an Error
// for a text nested more than 100 deep. `hear` is called for every event of the text in its order, with the name of a
// key; an exception from it ends the parsing.
Json parse_json(std::string_view text, const std::function<void(JsonEvent, const std::string& key)>& hear = {});

// The same as CBOR (RFC 8949): numbers keep all their bits, and lists of bytes (Json::binary) stay bytes.
std::string cbor_of(const Json& json);
Json json_from_cbor(std::string_view bytes);  // throws what parse_json does

// Treatment of bytes that are not UTF-8: json_text throws Json::type_error, or writes U+FFFD; `ascii` also writes
// everything beyond ASCII as \u202e.
enum class JsonBytes { utf8, replaced, ascii };

// On one line, or indented by `indent` blanks per level.
std::string json_text(const Json& json, int indent = -1, JsonBytes bytes = JsonBytes::utf8);

// The shortest digits that give back the same double. JSON has no infinities and no NaN: they become the texts "inf",
// "-inf" and "nan", which json_number reads again.
Json json_number(double value);
double json_number(const Json& json);

// json.at(key) as a whole number up to `most`, without conversion; otherwise an Error.
std::uint64_t whole_up_to(std::uint64_t most, const Json& json, const std::string& key);
std::uint64_t whole_up_to(std::uint64_t most, const Json& json, std::size_t index);

template <class Whole, class Key>
Whole whole(const Json& json, const Key& key) {
  return static_cast<Whole>(whole_up_to(static_cast<std::uint64_t>(std::numeric_limits<Whole>::max()), json, key));
}

// JSON for people: keys in the order they were set, one per line, arrays of numbers on one line.
std::string readable(const Json& json);

}  // namespace dma
