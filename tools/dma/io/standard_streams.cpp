#include "tools/dma/io/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "engine/support/error.h"
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

}  // namespace dma
