#include <fmt/format.h>

#include "tools/dma/help/completion.h"

namespace dma {

namespace {

// Inside the brackets and between the colons of a specification for _arguments.
std::string zsh_escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == ':' || c == '[' || c == ']' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string action(const OptionHelp& option) {
  const std::vector<std::string> words = option.choices();
  if (!words.empty()) return fmt::format("({})", zsh_escaped(fmt::format("{}", fmt::join(words, " "))));
  if (option.value == "FOLDER") return "_files -/";
  return option.value == "FILE" ? "_files" : "";
}

std::string specification(const OptionHelp& option, const std::string& name) {
  const std::string value = option.value.find('|') == option.value.npos ? option.value : "value";
  return single_quoted(fmt::format("{}{}[{}]{}", option.repeated ? "*" : "", name + (option.value.empty() ? "" : "="),
                                   zsh_escaped(option.help),
                                   option.value.empty() ? "" : fmt::format(":{}:{}", value, action(option))));
}

std::string function_name(const CommandHelp& command) {
  std::string name = "_" + command.name;
  for (char& c : name)
    if (c == ' ') c = '_';
  return name;
}

std::string function_of(const CommandHelp& command) {
  std::string text = function_name(command) + "() {\n", below, list, cases;
  for (const CommandHelp& one : command.commands) {
    below += function_of(one);
    list += fmt::format("    {}\n", single_quoted(fmt::format("{}:{}", one.last_name(), zsh_escaped(one.help))));
    cases += fmt::format("    arguments:{}) {} ;;\n", one.last_name(), function_name(one));
  }
  if (!list.empty()) text += fmt::format("  local curcontext=$curcontext state line\n  local -a commands=(\n{}  )\n", list);
  text += list.empty() ? "  _arguments" : "  _arguments -C";
  for (const OptionHelp& option : command.options)
    for (const std::string& name : option.names)
      text += " \\\n    " + (option.by_place ? single_quoted(fmt::format(":{}:{}", name, action(option)))
                                            : specification(option, name));
  if (!list.empty())
    text += fmt::format(
        " \\\n    '1:command:{{_describe command commands}}' \\\n    '*::argument:->arguments'\n  case $state:$line[1] in\n{}  esac\n",
        cases);
  else
    text += "\n";
  return below + text + "}\n";
}

}  // namespace

std::string zsh_completion(const CommandHelp& program) {
  return "#compdef dma\n# Completion of dma in zsh; `dma completion zsh` writes this file.\n" + function_of(program) +
         "_dma \"$@\"\n";
}

}  // namespace dma
