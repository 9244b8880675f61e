// A list whose items are assembled when read: millions of them are stored in few bytes each, and read as if they were
// structs with names.
#pragma once

#include <cstddef>

namespace dma {

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
