// Commands and their options. Only command_line.cpp includes the parser (CLI11), which is slow to compile.
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace dma {

// Handles: cheap to copy, valid as long as their CommandLine.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option required() const;
  Option group(const std::string& heading) const;
  Option capture_default_str() const;         // --help shows the value that the variable has now
  Option allow_extra_args(bool allow) const;  // false: one argument each time the option is given
  // The name of the argument in --help, by which shells complete: FOLDER, METHOD or all choices, a|b|c. A path is a
  // FILE by default.
  Option value(const std::string& name) const;
  Option between(int low, int high) const;
  Option above_zero() const;
  Option excludes(Option other) const;
  Option pairs() const;  // two arguments each time the option is given

 private:
  CLI::Option* option_;
};

class Command {
 public:
  explicit Command(CLI::App* app) : app_(app) {}

  Command add_subcommand(const std::string& name, const std::string& help) const;
  void require_subcommand() const;
  void footer(const std::string& text) const;
  void callback(std::function<void()> work) const;
  std::vector<std::string> given() const;  // names of the options that were given: "--name", or "name"

  // "--name", or "name" for an argument without dashes. command_line.cpp ends with a list of the types of values.
  template <typename Value>
  Option add_option(const std::string& name, Value& value, const std::string& help) const;
  // Numbers with commas between them; the option may be repeated. With `may_be_none`, "none" is an empty list.
  template <typename Number>
  Option add_list(const std::string& name, std::optional<std::vector<Number>>& values, const std::string& help,
                  bool may_be_none = false) const;
  // "--name", or "--name,!--no-name".
  Option add_flag(const std::string& names, bool& value, const std::string& help) const;
  Option add_flag(const std::string& names, std::optional<bool>& value, const std::string& help) const;

 private:
  CLI::App* app_;
};

// A number above 0 with one of these units behind it, "1.5h", in the first of them; nothing if the text is another.
using Units = std::initializer_list<std::pair<std::string_view, double>>;
std::optional<double> with_unit(std::string_view text, Units units);

// Ends a command that has already told the user why.
struct Exit {
  int code;
};

class CommandLine {
 public:
  CommandLine(const std::string& program, const std::string& help, const std::string& version);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;

  Command root() const { return Command(app_); }
  // Runs the command, or prints help or version, and returns the exit code. Wrong arguments are an Error.
  int run(int count, char** arguments) const;

 private:
  CLI::App* app_;
};

}  // namespace dma
