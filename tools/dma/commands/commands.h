// The commands of `dma`, each in its own file. A command does its work in its callback and throws Error for wrong
// input.
#pragma once

#include <string>

#include "tools/dma/help/program.h"

namespace dma {

// All of them.
Program dma_program();

// `command_line` is what the user typed, to be offered again: on pages, and when a fit was interrupted.
void add_fit_command(Command app, const std::string& command_line);
void add_predict_command(Command app);
void add_infer_command(Command app, const std::string& command_line);
void add_smooth_command(Command app, const std::string& command_line);
void add_rate_command(Command app);
void add_inspect_command(Command app);
void add_generate_command(Command app);
void add_factors_command(Command app);
void add_certify_command(Command app);
void add_completion_command(Command app);

}  // namespace dma
