// What shells offer when Tab is pressed: commands, options, the words that an option may be, files.
#pragma once

#include <string>

#include "tools/dma/help/command_help.h"

namespace dma {

std::string bash_completion(const CommandHelp& program);
std::string zsh_completion(const CommandHelp& program);
std::string fish_completion(const CommandHelp& program);

// 'text' as all of these shells read it.
std::string single_quoted(const std::string& text);

}  // namespace dma
