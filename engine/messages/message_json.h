// A message for files: its family and all its numbers, to the last digit.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/messages/family.h"

namespace dma {

// {"family":"categorical(2)","tau":[0,-1.5],"rho":[0,0]}; an infinite number is written "inf".
std::string message_json(const Family& family, Components message);
// The family as a registry knows it, and the components. Text that is not such a message is an Error.
std::pair<std::string, std::vector<Natural>> read_message_json(std::string_view text);

}  // namespace dma
