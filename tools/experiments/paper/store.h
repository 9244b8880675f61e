// Results of finished units, kept as small files so that a killed run goes on where it was.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/support/json.h"

namespace dma::reproduce {

// One piece of work whose result depends on nothing but its name and settings.
struct Unit {
  std::string name;      // of its file: small.dma.3
  std::string settings;  // all that decides the result; a kept result of other settings is not used
  std::function<Json()> work;
};

// By the unit's name.
using Results = std::map<std::string, Json>;

class Store {
 public:
  explicit Store(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // The kept result of this unit; null if there is none, or one of other settings.
  Json find(const Unit& unit) const;
  void keep(const Unit& unit, const Json& result) const;

 private:
  std::filesystem::path file(const Unit& unit) const { return folder_ / (unit.name + ".json"); }
  std::filesystem::path folder_;
};

}  // namespace dma::reproduce
