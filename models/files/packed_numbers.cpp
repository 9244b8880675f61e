#include "models/files/packed_numbers.h"

#include <array>
#include <bit>
#include <cstdint>

#include "engine/support/error.h"

namespace dma {

namespace {

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t kNoDigit = 64;

constexpr std::array<std::uint8_t, 256> values_of_digits() {
  std::array<std::uint8_t, 256> values{};
  values.fill(kNoDigit);
  for (std::size_t i = 0; i < kDigits.size(); ++i)
    values[static_cast<unsigned char>(kDigits[i])] = static_cast<std::uint8_t>(i);
  return values;
}

}  // namespace

// Three bytes are four digits; missing bytes of the last three are zero and their digits '='.
std::string packed(std::span<const double> values) {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(8 * values.size() + 2);
  for (const double value : values) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    for (int shift = 0; shift < 64; shift += 8) bytes.push_back(static_cast<std::uint8_t>(bits >> shift));
  }
  const std::size_t size = bytes.size();
  bytes.resize((size + 2) / 3 * 3, 0);
  std::string text;
  text.reserve(bytes.size() / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::uint32_t three = (std::uint32_t{bytes[i]} << 16) | (std::uint32_t{bytes[i + 1]} << 8) | bytes[i + 2];
    for (int shift = 18; shift >= 0; shift -= 6) text.push_back(kDigits[(three >> shift) & 63]);
  }
  for (std::size_t i = size; i < bytes.size(); ++i) text[text.size() - (bytes.size() - i)] = '=';
  return text;
}

std::vector<double> unpacked(std::string_view text) {
  static constexpr auto kValues = values_of_digits();
  if (text.size() % 4 != 0) fail("packed numbers are cut short");
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  std::vector<std::uint8_t> bytes(text.size() / 4 * 3);
  for (std::size_t i = 0, to = 0; i < text.size(); i += 4, to += 3) {
    std::uint32_t three = 0;
    std::uint8_t any = 0;
    for (std::size_t k = i; k < i + 4; ++k) {
      const std::uint8_t value = k + padding >= text.size() ? 0 : kValues[static_cast<unsigned char>(text[k])];
      any |= value;
      three = (three << 6) | (value & 63);
    }
    if ((any & kNoDigit) != 0) fail("packed numbers hold a character that is no digit of them");
    for (std::size_t k = 0; k < 3; ++k) bytes[to + k] = static_cast<std::uint8_t>(three >> (16 - 8 * k));
  }
  bytes.resize(bytes.size() - padding);
  if (bytes.size() % 8 != 0) fail("packed numbers are cut short");
  std::vector<double> values(bytes.size() / 8);
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint64_t bits = 0;
    for (std::size_t k = 0; k < 8; ++k) bits |= std::uint64_t{bytes[8 * i + k]} << (8 * k);
    values[i] = std::bit_cast<double>(bits);
  }
  return values;
}

}  // namespace dma
