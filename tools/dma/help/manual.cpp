#include "tools/dma/help/manual.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace dma {

namespace {

// Text that roff takes as it is. A hyphen would otherwise become a typographic one that nobody can search for or paste.
std::string plain_roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  }
  return out.starts_with('.') || out.starts_with('\'') ? "\\&" + out : out;
}

std::string capitals(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return text;
}

std::string page_name(const CommandHelp& command) {
  std::string name = command.name;
  std::ranges::replace(name, ' ', '-');
  return name;
}

std::string term(const OptionHelp& option) {
  std::string text;
  for (const std::string& name : option.names) text += (text.empty() ? "" : ", ") + plain_roff(name);
  text = "\\fB" + text + "\\fR";
  if (!option.value.empty() && !option.by_place) text += " \\fI" + plain_roff(option.value) + "\\fR";
  return text;
}

std::string entry(const OptionHelp& option) {
  std::string help = option.help;
  if (!option.initial.empty()) help += fmt::format(" (default: {})", option.initial);
  return fmt::format(".TP\n{}\n{}\n", term(option), plain_roff(help));
}

std::string synopsis(const CommandHelp& command) {
  std::string text = fmt::format(".B {}\n[\\fIOPTIONS\\fR]", plain_roff(command.name));
  if (!command.commands.empty()) text += " \\fICOMMAND\\fR";
  for (const OptionHelp& option : command.options)
    if (option.by_place) {
      const std::string name = fmt::format("\\fI{}\\fR", plain_roff(option.names[0]));
      text += " " + (option.required ? name : "[" + name + "]");
    }
  return text + "\n";
}

// Arguments, then options under the headings that --help has, in its order. `level` is SH or SS.
std::string options_text(const CommandHelp& command, const char* level) {
  std::vector<std::string> groups;
  std::string arguments;
  for (const OptionHelp& option : command.options) {
    if (option.by_place)
      arguments += entry(option);
    else if (std::ranges::find(groups, option.group) == groups.end())
      groups.push_back(option.group);
  }
  std::string text = arguments.empty() ? "" : fmt::format(".{} ARGUMENTS\n{}", level, arguments);
  for (const std::string& group : groups) {
    text += fmt::format(".{} {}\n", level, capitals(plain_roff(group)));
    for (const OptionHelp& option : command.options)
      if (!option.by_place && option.group == group) text += entry(option);
  }
  return text;
}

// The text below the options. Lines that are indented stay as they are; "Example:" is a heading of its own.
std::string footer_text(const CommandHelp& command, const char* level) {
  std::istringstream lines(command.footer);
  std::string text;
  bool verbatim = false, in_example = false;
  const auto to = [&](bool asked) {
    if (verbatim != asked) text += asked ? ".nf\n" : ".fi\n";
    verbatim = asked;
  };
  for (std::string line; std::getline(lines, line);) {
    const bool indented = line.starts_with(' ');
    if (line == "Example:") {
      to(false);
      text += fmt::format(".{} EXAMPLE\n", level);
      in_example = true;
      continue;
    }
    if (!indented && (in_example || text.empty())) {
      to(false);
      text += fmt::format(".{} NOTES\n", level);
      in_example = false;
    }
    to(indented);
    text += plain_roff(line) + "\n";
  }
  to(false);
  return text;
}

std::string heading(const CommandHelp& command, const std::string& version) {
  const std::string name = plain_roff(page_name(command));
  return fmt::format(".TH {} 1 \"\" \"dma {}\" \"User Commands\"\n.SH NAME\n{} \\- {}\n", capitals(name), version, name,
                     plain_roff(command.help)) +
         ".SH SYNOPSIS\n" + synopsis(command);
}

}  // namespace

std::string manual_page(const CommandHelp& command, const std::string& version) {
  std::string text = heading(command, version) + options_text(command, "SH");
  for (const CommandHelp& below : command.commands)
    text += fmt::format(".SH {}\n{}\n.PP\n{}", capitals(plain_roff(below.name)), plain_roff(below.help), synopsis(below)) +
            options_text(below, "SS") + footer_text(below, "SS");
  return text + footer_text(command, "SH") + ".SH SEE ALSO\n.BR dma (1)\n";
}

std::string manual_overview(const CommandHelp& program, const std::string& version) {
  std::string text = heading(program, version) + ".SH COMMANDS\n", others;
  for (const CommandHelp& command : program.commands) {
    const std::string page = plain_roff(page_name(command));
    text += fmt::format(".TP\n.B {}\n{}\n", plain_roff(command.last_name()), plain_roff(command.help));
    others += fmt::format("{}.BR {} (1)", others.empty() ? "" : ",\n", page);
  }
  text += options_text(program, "SH");
  text += ".SH EXIT STATUS\n.TP\n.B 0\nDone.\n.TP\n.B 2\nWrong input: one line on standard error says what was found, what is expected and "
          "how to repair it.\n.TP\n.B 1\nAn error of the program.\n";
  return text + footer_text(program, "SH") + ".SH SEE ALSO\n" + others + "\n";
}

std::string manual_file(const CommandHelp& command) { return page_name(command) + ".1"; }

}  // namespace dma
