// Manual pages from what --help says.
#pragma once

#include <string>

#include "tools/dma/help/command_help.h"

namespace dma {

// In the language of man(1), with the commands below it as sections. The version stands in the page's foot.
std::string manual_page(const CommandHelp& command, const std::string& version);
// Of the program: its commands in a list, each with a page of its own.
std::string manual_overview(const CommandHelp& program, const std::string& version);
// "dma-fit.1"
std::string manual_file(const CommandHelp& command);

}  // namespace dma
