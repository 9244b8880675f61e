// Standard output and standard error, which may be closed, full or somebody's terminal.
#pragma once

#include <string>
#include <string_view>

namespace dma {

// Opens closed standard streams on /dev/null: otherwise the next file would get their number, and output would land in
// it. Call before any file is opened.
void open_standard_streams();

// Sets the program's name in front of every line of say(); the default is dma.
void say_as(std::string_view program);

// Prints one line on standard error: "dma: " and the printable text. Failures are ignored.
void say(std::string_view text);

// Sends text with control characters to the terminal at once.
void show(std::string_view text);

// An Error if something printed on standard output could not be written.
void flush_output();

// An argument as a shell would have to read it, on one line that a terminal can show.
std::string shell_quoted(std::string_view argument);

}  // namespace dma
