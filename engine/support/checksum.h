// A checksum that identifies bytes and detects changes.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace dma {

// FNV-1a of 64 bits; it detects every change of a single byte. Bytes may be added in pieces.
class Checksum {
 public:
  void add(std::span<const unsigned char> bytes) {
    for (const unsigned char byte : bytes) value_ = (value_ ^ byte) * 0x100000001b3;
  }
  void add(std::string_view text) { add({reinterpret_cast<const unsigned char*>(text.data()), text.size()}); }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325;
};

}  // namespace dma
