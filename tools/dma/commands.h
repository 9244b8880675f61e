// The commands of `dma`, each in its own file. A command does its work in its callback and throws Error for wrong
// input.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace dma {

// `command_line` is what the user typed, to be offered again when a fit was interrupted.
void add_fit_command(CLI::App& app, const std::string& command_line);
void add_predict_command(CLI::App& app);
void add_inspect_command(CLI::App& app);
void add_generate_command(CLI::App& app);
void add_factors_command(CLI::App& app);
void add_certify_command(CLI::App& app);
void add_reproduce_command(CLI::App& app);
void add_uci_command(CLI::App& app);
void add_compare_command(CLI::App& app);

}  // namespace dma
