#include "tools/experiments/paper/store.h"

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "engine/support/json.h"
#include "tools/dma/io/write_file.h"

namespace dma::reproduce {

Json Store::find(const Unit& unit) const {
  std::ifstream stream(file(unit));
  if (!stream) return nullptr;
  Json kept;
  try {
    kept = parse_json(std::string(std::istreambuf_iterator(stream), {}));
  } catch (const Json::exception&) {  // cut short
    return nullptr;
  }
  if (!kept.is_object() || kept.value("settings", "") != unit.settings || !kept.contains("result")) return nullptr;
  return kept["result"];
}

void Store::keep(const Unit& unit, const Json& result) const {
  write_file(file(unit), readable({{"settings", unit.settings}, {"result", result}}));
}

}  // namespace dma::reproduce
