// The content of a model file, and files with another content, with a checksum that is right again.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "engine/support/model_file.h"

namespace dma::oracle {

inline Json json_in_model(std::string_view bytes) {
  Json found;
  read_model(bytes, "model", {model_kind(bytes)}, [&](const Json& json) { found = json; });
  return found;
}

inline std::string changed_model(std::string_view bytes, const std::string& pointer, Json value) {
  Json json = json_in_model(bytes);
  json.at(Json::json_pointer(pointer)) = std::move(value);
  return model_file(model_kind(bytes), json);
}

}  // namespace dma::oracle
