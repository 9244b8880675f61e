// The only text form of a message.
#pragma once

#include <string>

#include "engine/messages/family.h"
#include "engine/messages/gaussian.h"

namespace dma {

// "uniform", "= 2", "N(0.318, 0.775^2)" with mean and standard deviation, or as its family writes it.
std::string message_text(const Natural& message, const Family& family = {});

}  // namespace dma
