#include "tools/dma/io/shell_quoted.h"

#include "engine/support/text.h"

namespace dma {

std::string shell_quoted(std::string_view argument) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,:=+%@";
  if (!argument.empty() && argument.find_first_not_of(kPlain) == argument.npos) return std::string(argument);
  const bool plain = is_plain_text(argument);
  std::string quoted;
  if (plain) {
    for (const char c : argument) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return "'" + quoted + "'";
  }
  for (const char c : argument) quoted += c == '\'' || c == '\\' ? std::string{'\\', c} : std::string(1, c);
  return "$'" + printable(quoted) + "'";  // printable() writes \x1b as these quotes read it
}

}  // namespace dma
