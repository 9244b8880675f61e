// What --help says of a command, as data: for manual pages and the completion of shells.
#pragma once

#include <string>
#include <vector>

namespace dma {

struct OptionHelp {
  std::vector<std::string> names;  // "--bias", "--no-bias"; "data" for an argument that is known by its place
  bool by_place = false, required = false, repeated = false;
  std::string value;    // of the argument: FILE, FOLDER, UINT, a|b|c; empty if there is none
  std::string initial;  // what it is when it is not given, if that is known
  std::string help, group;

  // The words that the value may be; none where it may be any, or a file.
  std::vector<std::string> choices() const;
  bool is_file() const { return value == "FILE" || value == "FOLDER"; }
};

struct CommandHelp {
  std::string name;  // "dma fit"
  std::string help, footer;
  std::vector<OptionHelp> options;
  std::vector<CommandHelp> commands;

  std::string last_name() const { return name.substr(name.rfind(' ') + 1); }
};

}  // namespace dma
