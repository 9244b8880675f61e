#pragma once

#include <string>
#include <string_view>

namespace dma {

// An argument as a shell would have to read it, on one line that a terminal can show.
std::string shell_quoted(std::string_view argument);

}  // namespace dma
