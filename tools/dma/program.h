// The whole program, for main() and for those who attack it in their own process.
#pragma once

#include "tools/dma/help/command_help.h"

namespace dma {

inline constexpr int kExitWrongInput = 2;   // one line on standard error says what is wrong
inline constexpr int kExitUnforeseen = 1;   // so does one here: an error of ours

// The exit code of `dma <arguments>`. Throws nothing.
int run_program(int count, char** arguments);

// All commands and options, as --help has them.
CommandHelp program_help();

}  // namespace dma
