// A list whose items are assembled when read: millions of them are stored in few bytes each, and read as if they were
// structs with names.
#pragma once

#include <compare>
#include <cstddef>
#include <iterator>

namespace dma {

// The items of `owner`, one per number below `size`: from the owner's operator[], or another member that makes one.
template <class Owner, class Item, Item (Owner::*kMake)(std::size_t) const>
class OnDemand {
 public:
  using value_type = Item;

  class Iterator {
   public:
    using value_type = Item;
    using reference = Item;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::input_iterator_tag;  // C++17's category, which would require a reference
    using iterator_concept = std::random_access_iterator_tag;
    struct Pointer {
      Item item;
      const Item* operator->() const { return &item; }
    };
    using pointer = Pointer;

    Iterator() = default;
    Iterator(const Owner* owner, std::ptrdiff_t at) : owner_(owner), at_(at) {}
    Item operator*() const { return (owner_->*kMake)(static_cast<std::size_t>(at_)); }
    Pointer operator->() const { return {**this}; }
    Item operator[](std::ptrdiff_t n) const { return *(*this + n); }
    Iterator& operator+=(std::ptrdiff_t n) {
      at_ += n;
      return *this;
    }
    Iterator& operator-=(std::ptrdiff_t n) { return *this += -n; }
    Iterator& operator++() { return *this += 1; }
    Iterator& operator--() { return *this += -1; }
    Iterator operator++(int) {
      const Iterator before = *this;
      ++*this;
      return before;
    }
    Iterator operator--(int) {
      const Iterator before = *this;
      --*this;
      return before;
    }
    friend Iterator operator+(Iterator i, std::ptrdiff_t n) { return i += n; }
    friend Iterator operator+(std::ptrdiff_t n, Iterator i) { return i += n; }
    friend Iterator operator-(Iterator i, std::ptrdiff_t n) { return i -= n; }
    friend std::ptrdiff_t operator-(const Iterator& a, const Iterator& b) { return a.at_ - b.at_; }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.at_ == b.at_; }
    friend auto operator<=>(const Iterator& a, const Iterator& b) { return a.at_ <=> b.at_; }

   private:
    const Owner* owner_ = nullptr;
    std::ptrdiff_t at_ = 0;
  };

  OnDemand(const Owner& owner, std::size_t size) : owner_(&owner), size_(size) {}
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  Item operator[](std::size_t i) const { return (owner_->*kMake)(i); }
  Iterator begin() const { return {owner_, 0}; }
  Iterator end() const { return {owner_, static_cast<std::ptrdiff_t>(size_)}; }

 private:
  const Owner* owner_;
  std::size_t size_;
};

}  // namespace dma
