// A set of ports of a kind, in two bytes.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace dma {

inline constexpr std::size_t kMaxPorts = 16;

class PortSet {
 public:
  constexpr PortSet() = default;
  constexpr PortSet(std::initializer_list<std::size_t> ports) {
    for (const std::size_t port : ports) add(port);
  }

  constexpr bool has(std::size_t port) const { return (bits_ >> port & 1) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr std::size_t size() const { return static_cast<std::size_t>(std::popcount(bits_)); }
  // The set must not be empty.
  constexpr std::uint32_t first() const { return static_cast<std::uint32_t>(std::countr_zero(bits_)); }
  constexpr void add(std::size_t port) { bits_ = static_cast<std::uint16_t>(bits_ | 1u << port); }

  constexpr PortSet& operator|=(PortSet other) { return *this = *this | other; }
  friend constexpr PortSet operator|(PortSet a, PortSet b) { return PortSet(a.bits_ | b.bits_); }
  friend constexpr PortSet operator&(PortSet a, PortSet b) { return PortSet(a.bits_ & b.bits_); }
  friend constexpr PortSet operator-(PortSet a, PortSet b) { return PortSet(a.bits_ & ~b.bits_); }  // set difference
  friend constexpr bool operator==(PortSet, PortSet) = default;

  // Iterates over the ports in ascending order: for (const std::uint32_t port : set).
  class Iterator {
   public:
    constexpr explicit Iterator(std::uint16_t bits) : left_(bits) {}
    constexpr std::uint32_t operator*() const { return static_cast<std::uint32_t>(std::countr_zero(left_)); }
    constexpr Iterator& operator++() { return left_ = static_cast<std::uint16_t>(left_ & (left_ - 1)), *this; }
    friend constexpr bool operator==(Iterator, Iterator) = default;

   private:
    std::uint16_t left_;
  };
  constexpr Iterator begin() const { return Iterator(bits_); }
  constexpr Iterator end() const { return Iterator(0); }

 private:
  constexpr explicit PortSet(unsigned bits) : bits_(static_cast<std::uint16_t>(bits)) {}
  static_assert(kMaxPorts <= 16);
  std::uint16_t bits_ = 0;
};

}  // namespace dma
