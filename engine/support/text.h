// Text that came from somebody's data, before it reaches a terminal, a file or another program.
#pragma once

#include <string>
#include <string_view>

namespace dma {

// Whether all of it is UTF-8 without control characters: neither line ends, nor escape sequences, nor marks that turn the direction
// of what follows.
bool is_plain_text(std::string_view text);

// The same text with everything that is_plain_text refuses written out: "\x1b".
std::string printable(std::string_view text);

}  // namespace dma
