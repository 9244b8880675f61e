#include "tools/dma/io/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "engine/support/text.h"

namespace dma {

namespace {

std::string& program_name() {
  static std::string name = "dma";
  return name;
}

}  // namespace

void say_as(std::string_view program) { program_name() = program; }

void open_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) != -1) continue;
    // Output must fail, not vanish: it gets a descriptor that cannot be written.
    const int opened = ::open("/dev/null", stream == STDERR_FILENO ? O_WRONLY : O_RDONLY);
    if (opened >= 0 && opened != stream) {  // the lower numbers are all taken
      ::dup2(opened, stream);
      ::close(opened);
    }
  }
}

void say(std::string_view text) {
  const std::string line = program_name() + ": " + printable(text) + "\n";
  static_cast<void>(std::fwrite(line.data(), 1, line.size(), stderr));
}

void show(std::string_view text) {
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
  std::fflush(stderr);
}

void flush_output() {
  errno = 0;
  const bool failed_before = std::ferror(stdout) != 0;
  if (std::fflush(stdout) == 0 && !failed_before) return;
  const std::string reason = errno != 0 ? std::string(": ") + std::strerror(errno) : "";
  std::clearerr(stdout);
  fail("cannot write to standard output{}; what was printed is not complete", reason);
}

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
