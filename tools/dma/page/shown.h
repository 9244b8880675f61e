// Numbers on the page, each with the place in the JSON that it comes from: whoever doubts one can look it up, and so
// does a test.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "engine/support/json.h"

namespace dma::report {

class Shown {
 public:
  explicit Shown(const Json& whole) : whole_(whole) {}

  // HTML of the number at a JSON pointer such as "/report/targets/0/noise".
  std::string number(const std::string& pointer) const;  // four digits
  std::string percent(const std::string& pointer, int decimals = 1) const;
  std::string whole_number(const std::string& pointer) const;
  // The same inside an SVG text.
  std::string number_in_picture(const std::string& pointer) const;

  const Json& at(const std::string& pointer) const { return whole_.at(Json::json_pointer(pointer)); }
  bool has(const std::string& pointer) const { return whole_.contains(Json::json_pointer(pointer)); }

 private:
  std::string element(std::string_view name, const std::string& pointer, double times, const std::string& text) const;
  const Json& whole_;
};

std::string four_digits(double value);  // 0.01235, 12.35, 1235, 1.235e+06
std::string in_pointer(const std::string& key);  // as a part of a JSON pointer
std::vector<double> numbers_of(const Json& array);

}  // namespace dma::report
