#include "engine/messages/message_json.h"

#include <nlohmann/json.hpp>

#include "engine/support/error.h"

namespace dma {

namespace {

using MessageJson = nlohmann::ordered_json;

MessageJson number_json(double x) { return std::isfinite(x) ? MessageJson(x) : MessageJson(x > 0 ? "inf" : "-inf"); }

double number_from(const MessageJson& json) {
  if (json == "inf") return kInfinity;
  if (json == "-inf") return -kInfinity;
  return json.get<double>();
}

}  // namespace

std::string message_json(const Family& family, Components message) {
  MessageJson json = {{"family", family.text()}, {"tau", MessageJson::array()}, {"rho", MessageJson::array()}};
  for (const Natural& component : message) {
    json["tau"].push_back(number_json(component.tau));
    json["rho"].push_back(number_json(component.rho));
  }
  return json.dump();
}

std::pair<std::string, std::vector<Natural>> read_message_json(std::string_view text) {
  try {
    const MessageJson json = MessageJson::parse(text);
    const MessageJson &tau = json.at("tau"), &rho = json.at("rho");
    if (tau.size() != rho.size()) fail("a message has {} numbers of tau but {} of rho", tau.size(), rho.size());
    std::pair<std::string, std::vector<Natural>> read{json.at("family").get<std::string>(), {}};
    for (std::size_t k = 0; k < tau.size(); ++k) read.second.push_back({number_from(tau[k]), number_from(rho[k])});
    return read;
  } catch (const MessageJson::exception& error) {
    fail("this is not a message: {}; {{\"family\":\"gaussian\",\"tau\":[1],\"rho\":[2]}} is one", error.what());
  }
}

}  // namespace dma
