// What bash offers when Tab is pressed: commands, options, the words that an option may be, files.
#pragma once

#include <string>
#include <vector>

namespace dma {

struct OptionHelp {
  std::vector<std::string> names;  // "--bias", "--no-bias"; "data" for an argument that is known by its place
  bool by_place = false;
  std::string value;  // of the argument: FILE, FOLDER, UINT, a|b|c; empty if there is none

  // The words that the value may be; none where it may be any, or a file.
  std::vector<std::string> choices() const;
};

struct CommandHelp {
  std::string name;  // "dma fit"
  std::vector<OptionHelp> options;
  std::vector<CommandHelp> commands;

  std::string last_name() const { return name.substr(name.rfind(' ') + 1); }
};

std::string bash_completion(const CommandHelp& program);

}  // namespace dma
