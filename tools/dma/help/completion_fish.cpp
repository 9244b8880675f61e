#include <fmt/format.h>

#include "tools/dma/help/completion.h"

namespace dma {

namespace {

// Where the words so far have led: "__dma_at fit" is true after `dma fit`, "__dma_at" before any command.
std::string condition(const CommandHelp& command) {
  const auto blank = command.name.find(' ');
  return single_quoted("__dma_at" + (blank == command.name.npos ? "" : command.name.substr(blank)));
}

std::string value_of(const OptionHelp& option) {
  const std::vector<std::string> words = option.choices();
  if (!words.empty()) return fmt::format(" -x -a {}", single_quoted(fmt::format("{}", fmt::join(words, " "))));
  if (option.value == "FOLDER") return " -x -a '(__fish_complete_directories)'";
  return option.value == "FILE" ? " -r -F" : " -x";
}

std::string lines_of(const CommandHelp& command) {
  std::string text;
  for (const OptionHelp& option : command.options) {
    const std::string help = single_quoted(option.help);
    if (option.by_place) {
      text += fmt::format("complete -c dma -n {}{}\n", condition(command), option.value == "FILE" ? " -F" : value_of(option));
      continue;
    }
    for (const std::string& name : option.names)
      text += fmt::format("complete -c dma -n {} {} {}{} -d {}\n", condition(command), name.starts_with("--") ? "-l" : "-s",
                          name.substr(name.find_first_not_of('-')), option.value.empty() ? "" : value_of(option), help);
  }
  for (const CommandHelp& below : command.commands)
    text += fmt::format("complete -c dma -n {} -a {} -d {}\n", condition(command), below.last_name(), single_quoted(below.help)) +
            lines_of(below);
  return text;
}

}  // namespace

std::string fish_completion(const CommandHelp& program) {
  std::string names;
  for (const CommandHelp& command : program.commands) {
    names += " " + command.last_name();
    for (const CommandHelp& below : command.commands) names += " " + command.last_name() + "/" + below.last_name();
  }
  return "# Completion of dma in fish; `dma completion fish` writes this file.\n"
         "function __dma_at\n"
         "  set -l path\n"
         "  for word in (commandline -opc)[2..]\n"
         "    set -l longer (string join -- / $path $word)\n"
         "    contains -- $longer" + names + "; and set -a path $word\n"
         "  end\n"
         "  test \"$path\" = \"$argv\"\n"
         "end\n"
         "complete -c dma -f\n" +
         lines_of(program);
}

}  // namespace dma
