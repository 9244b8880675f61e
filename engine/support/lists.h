// Lists of which a graph has millions: ShortList, MostlyEmpty, OnDemand.
//
// ShortList is optimised for one or a few items, which it stores in place: a graph of many scalar nodes is compiled
// without an allocation per node. Its overhead is eight bytes, a third of that of the lists of Boost and the standard
// library: every pass of compile iterates over it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace dma {

template <class T, std::size_t kFew = 1>
class ShortList {
  static_assert(kFew > 0 && std::is_nothrow_move_constructible_v<T>);

 public:
  using value_type = T;

  ShortList() noexcept {}
  ShortList(std::initializer_list<T> items) : ShortList(items.begin(), items.end()) {}
  ShortList(std::size_t count, const T& item) : ShortList() {
    reserve(count);
    while (size_ < count) emplace_back(item);
  }
  template <std::input_iterator Iterator>
    requires std::sized_sentinel_for<Iterator, Iterator>
  ShortList(Iterator first, Iterator last) : ShortList() {
    append(first, last);
  }
  ShortList(const ShortList& other) : ShortList(other.begin(), other.end()) {}
  ShortList(ShortList&& other) noexcept { take(other); }
  ShortList& operator=(const ShortList& other) {
    if (this != &other) *this = ShortList(other);
    return *this;
  }
  ShortList& operator=(ShortList&& other) noexcept {
    if (this == &other) return *this;
    release();
    take(other);
    return *this;
  }
  ~ShortList() { release(); }

  T* data() { return is_short() ? few_ : many_; }
  const T* data() const { return is_short() ? few_ : many_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](std::size_t i) { return data()[i]; }
  const T& operator[](std::size_t i) const { return data()[i]; }
  const T& at(std::size_t i) const {
    if (i >= size_) throw std::out_of_range("ShortList::at");
    return data()[i];
  }
  T& back() { return data()[size_ - 1]; }
  const T& back() const { return data()[size_ - 1]; }

  void reserve(std::size_t count) {
    if (count <= capacity_) return;
    T* const room = std::allocator<T>().allocate(count);
    if (is_short()) {
      move_few(few_, size_, room);
    } else {
      std::uninitialized_move_n(many_, size_, room);
      std::destroy_n(many_, size_);
      free_room();
    }
    many_ = room;
    capacity_ = static_cast<std::uint32_t>(count);
  }
  // The arguments must not refer to an item of this list.
  template <class... Arguments>
  T& emplace_back(Arguments&&... arguments) {
    if (size_ == capacity_) reserve(2 * std::size_t{capacity_});
    T* const item = std::construct_at(data() + size_, std::forward<Arguments>(arguments)...);
    ++size_;
    return *item;
  }
  void clear() {
    std::destroy_n(data(), size_);
    size_ = 0;
  }
  void push_back(T item) { emplace_back(std::move(item)); }
  template <std::input_iterator Iterator>
    requires std::sized_sentinel_for<Iterator, Iterator>
  void append(Iterator first, Iterator last) {
    reserve(size_ + static_cast<std::size_t>(last - first));
    for (; first != last; ++first) emplace_back(*first);
  }

  friend bool operator==(const ShortList& a, const ShortList& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  bool is_short() const { return capacity_ <= kFew; }
  void free_room() {
    if (!is_short()) std::allocator<T>().deallocate(many_, capacity_);
  }
  void release() {
    std::destroy_n(data(), size_);
    free_room();
  }
  // Moves the contents of `other`, which becomes empty; earlier contents are dropped.
  void take(ShortList& other) noexcept {
    size_ = std::exchange(other.size_, 0u);
    capacity_ = std::exchange(other.capacity_, static_cast<std::uint32_t>(kFew));
    if (!is_short()) {
      many_ = other.many_;
      return;
    }
    move_few(other.few_, size_, few_);
  }
  // The second bound is never the smaller one; it shows every compiler that at most few_ items are read.
  static void move_few(T* from, std::size_t count, T* to) noexcept {
    for (std::size_t i = 0; i < count && i < kFew; ++i) {
      std::construct_at(to + i, std::move(from[i]));
      std::destroy_at(from + i);
    }
  }

  std::uint32_t size_ = 0, capacity_ = kFew;
  union {
    T* many_;
    T few_[kFew];
  };
};

// A string or vector that is nearly always empty, and then takes the space of a pointer: there are millions of nodes,
// and few have a name, a method or a table of their own.
template <class Container>
class MostlyEmpty {
 public:
  MostlyEmpty() = default;
  MostlyEmpty(Container content) {  // NOLINT: to be written as the container itself
    if (!content.empty()) content_ = std::make_unique<Container>(std::move(content));
  }
  MostlyEmpty(const MostlyEmpty& other)
      : content_(other.empty() ? nullptr : std::make_unique<Container>(*other.content_)) {}
  MostlyEmpty(MostlyEmpty&&) noexcept = default;
  MostlyEmpty& operator=(MostlyEmpty other) noexcept {
    content_ = std::move(other.content_);
    return *this;
  }

  const Container& get() const {
    static const Container kEmpty;
    return empty() ? kEmpty : *content_;
  }
  operator const Container&() const { return get(); }  // NOLINT: to be read as the container itself

  bool empty() const { return content_ == nullptr; }
  std::size_t size() const { return get().size(); }
  auto begin() const { return get().begin(); }
  auto end() const { return get().end(); }
  const auto& operator[](std::size_t i) const { return get()[i]; }

  template <class Other>
  friend bool operator==(const MostlyEmpty& a, const Other& b) {
    return a.get() == b;
  }

 private:
  std::unique_ptr<Container> content_;
};

// A list whose items are assembled when read: millions of them are stored in few bytes each, and read as if they were
// structs with names.
// The items of `owner`, one per number below `size`: from the owner's operator[], or another member that makes one.
template <class Owner, class Item, Item (Owner::*kMake)(std::size_t) const>
class OnDemand {
 public:
  struct Iterator {
    using value_type = Item;
    using difference_type = std::ptrdiff_t;

    const Owner* owner = nullptr;
    std::size_t at = 0;

    Item operator*() const { return (owner->*kMake)(at); }
    Iterator& operator++() {
      ++at;
      return *this;
    }
    Iterator operator++(int) { return {owner, at++}; }
    friend bool operator==(const Iterator&, const Iterator&) = default;
    friend std::ptrdiff_t operator-(const Iterator& a, const Iterator& b) {
      return static_cast<std::ptrdiff_t>(a.at - b.at);
    }
  };

  OnDemand(const Owner& owner, std::size_t size) : owner_(&owner), size_(size) {}
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  Item operator[](std::size_t i) const { return (owner_->*kMake)(i); }
  Iterator begin() const { return {owner_, 0}; }
  Iterator end() const { return {owner_, size_}; }

 private:
  const Owner* owner_;
  std::size_t size_;
};

}  // namespace dma
