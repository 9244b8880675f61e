#include "engine/support/fields.h"

#include <cmath>
#include <cstring>

namespace dma {

static_assert(std::endian::native == std::endian::little, "the bytes of doubles in files are little-endian");

Json packed(const Eigen::VectorXd& numbers) {
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(numbers.size()) * sizeof(double));
  if (!bytes.empty()) std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return Json::binary(std::move(bytes));
}

Eigen::VectorXd unpacked(const Json& json) {
  const Json::binary_t& bytes = json.get_binary();
  if (bytes.size() % sizeof(double) != 0) fail("a list of numbers is cut short");
  Eigen::VectorXd numbers(static_cast<Eigen::Index>(bytes.size() / sizeof(double)));
  if (!bytes.empty()) std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}

void Fields::packed(const char* name, std::vector<double>& numbers) {
  Eigen::VectorXd vector = Eigen::Map<Eigen::VectorXd>(numbers.data(), static_cast<Eigen::Index>(numbers.size()));
  (*this)(name, vector);
  if (is_reading()) numbers.assign(vector.begin(), vector.end());
}

void Fields::triangle(const char* name, Eigen::MatrixXd& lower) {
  Eigen::VectorXd numbers(lower.rows() * (lower.rows() + 1) / 2);
  const auto each_column = [&](const auto& use) {
    for (Eigen::Index j = 0, at = 0; j < lower.rows(); at += lower.rows() - j, ++j)
      use(lower.col(j).tail(lower.rows() - j), numbers.segment(at, lower.rows() - j));
  };
  if (!is_reading()) each_column([](auto column, auto packed) { packed = column; });
  (*this)(name, numbers);
  if (!is_reading()) return;
  const auto size =
      static_cast<Eigen::Index>(std::llround(std::sqrt(2.0 * static_cast<double>(numbers.size()) + 0.25) - 0.5));
  if (size * (size + 1) / 2 != numbers.size()) fail("a triangle of numbers is cut short");
  lower.setZero(size, size);
  each_column([](auto column, auto packed) { column = packed; });
}

void Fields::text(const char* name, const std::string& said) {
  if (!is_reading()) (*to_)[name] = said;
}

}  // namespace dma
