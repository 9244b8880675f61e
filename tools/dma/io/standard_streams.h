// Standard output and standard error, which may be closed, full or somebody's terminal.
#pragma once

#include <string_view>

namespace dma {

// Streams that the caller has closed are opened on nothing: otherwise the next file would get their number, and what is
// printed would land in it. Before any file is opened.
void open_standard_streams();

// The program whose name stands before every line that is said: dma, unless this is called.
void say_as(std::string_view program);

// One line on standard error, "dma: " and what a terminal can show of the text. What cannot be said is not said.
void say(std::string_view text);

// Text for a terminal that is watched: sent at once, control characters and all.
void show(std::string_view text);

// An Error if something that was printed on standard output did not get through.
void flush_output();

}  // namespace dma
