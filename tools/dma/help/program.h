// A program of commands, from its arguments to its exit code; for main() and for fuzz tests.
#pragma once

#include <string>

#include "tools/dma/help/command_line.h"

namespace dma {

inline constexpr int kExitWrongInput = 2;  // one line on standard error says what is wrong
inline constexpr int kExitUnforeseen = 1;  // so does one here: an error of ours

struct Program {
  std::string name, purpose;
  // `line` is the command line as typed, for pages and for going on after an interruption.
  void (*add_commands)(Command root, const std::string& line);
};

// Call once, at the start of a process.
void prepare_process();

// The exit code of the program with these arguments. Throws nothing.
int run_program(const Program& program, int count, char** arguments);

}  // namespace dma
