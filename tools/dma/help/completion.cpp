#include "tools/dma/help/completion.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <sstream>

#include "engine/support/text.h"
#include "factors/standard_registry.h"

namespace dma {

namespace {

// Every method that some kind of factor knows.
std::vector<std::string> methods_of_kinds() {
  std::vector<std::string> methods;
  const Registry registry = standard_registry();
  for (const auto& [name, kind] : registry.kinds())
    for (const std::string& method : kind.methods())
      if (method != kExact && std::ranges::find(methods, method) == methods.end()) methods.push_back(method);
  return methods;
}

std::vector<std::string> names_of_kinds() {
  std::vector<std::string> names = {"all"};
  const Registry registry = standard_registry();
  for (const auto& [name, unused] : registry.kinds()) names.push_back(name);
  return names;
}

std::string single_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// "dma/generate/regression": one word, so that it can be a pattern.
std::string bash_path(const CommandHelp& command) {
  std::string path = command.name;
  for (char& c : path)
    if (c == ' ') c = '/';
  return path;
}

void for_each_command(const CommandHelp& command, const std::function<void(const CommandHelp&)>& work) {
  work(command);
  for (const CommandHelp& below : command.commands) for_each_command(below, work);
}

std::string offer(const OptionHelp& option) {
  const std::vector<std::string> words = option.choices();
  if (!words.empty()) return fmt::format("words={}", single_quoted(joined(words, " ")));
  if (option.value == "FOLDER") return "files=-d";
  return option.value == "FILE" ? "files=-f" : ":";  // a number, a column: nothing to offer
}

// case after an option that takes a value.
std::string values_of(const CommandHelp& command) {
  std::string text;
  for (const OptionHelp& option : command.options) {
    if (option.by_place || option.value.empty()) continue;
    std::vector<std::string> patterns;
    for (const std::string& name : option.names) patterns.push_back(bash_path(command) + ":" + name);
    text += fmt::format("    {}) {} ;;\n", joined(patterns, " | "), offer(option));
  }
  return text;
}

// case anywhere else: options after a dash, otherwise commands or arguments.
std::string words_of(const CommandHelp& command) {
  std::vector<std::string> options, others;
  std::string arguments;
  for (const OptionHelp& option : command.options) {
    if (option.by_place)
      arguments = offer(option);  // of several, all are files
    else
      options.insert(options.end(), option.names.begin(), option.names.end());
  }
  for (const CommandHelp& below : command.commands) others.push_back(below.last_name());
  if (!others.empty()) arguments = fmt::format("words={}", single_quoted(joined(others, " ")));
  return fmt::format("        {}) if [[ $word == -* ]]; then words={}; else {}; fi ;;\n", bash_path(command),
                     single_quoted(joined(options, " ")), arguments.empty() ? ":" : arguments);
}

}  // namespace

std::vector<std::string> OptionHelp::choices() const {
  if (value == "KIND") return names_of_kinds();
  std::vector<std::string> words;
  if (value.find('|') == value.npos && value != "METHOD") return words;
  std::istringstream text(value);
  for (std::string word; std::getline(text, word, '|');) {
    if (word != "METHOD") {
      words.push_back(word);
    } else {
      const std::vector<std::string> methods = methods_of_kinds();
      words.insert(words.end(), methods.begin(), methods.end());
    }
  }
  return words;
}

std::string bash_completion(const CommandHelp& program) {
  std::string commands, values, words;
  for_each_command(program, [&](const CommandHelp& command) {
    if (&command != &program) commands += (commands.empty() ? "" : " | ") + bash_path(command);
    values += values_of(command);
    words += words_of(command);
  });
  return fmt::format(R"(# Completion of dma in bash; `dma completion bash` writes this file.
_dma() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} command=dma words= files= i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case $command/${{COMP_WORDS[i]}} in
      {}) command=$command/${{COMP_WORDS[i]}} ;;
    esac
  done
  # --option=value arrives as three words.
  if [[ $word == = ]]; then
    word=
  elif [[ $before == = ]] && ((COMP_CWORD > 1)); then
    before=${{COMP_WORDS[COMP_CWORD - 2]}}
  fi
  case $command:$before in
{}    *)
      case $command in
{}      esac ;;
  esac
  if [[ -n $files ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen "$files" -- "$word")
  elif [[ -n $words ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
  fi
}}
complete -F _dma dma
)",
                     commands, values, words);
}

}  // namespace dma
