#include "tools/dma/help/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <type_traits>

#include "engine/support/text.h"

namespace dma {

namespace {

// The parser would only say that a subcommand is required.
void check_command(const CLI::App& app, int count, char** arguments) {
  std::vector<std::string> known;
  for (const CLI::App* command : app.get_subcommands(nullptr)) known.push_back(command->get_name());
  const std::string first = count > 0 ? arguments[0] : "";
  if (known.empty() || first.starts_with('-')) return;
  if (first.empty() && app.get_require_subcommand_min() == 0) return;
  if (first.empty()) fail("a command is expected{}; --help has an example of each", suggestion(first, known));
  if (std::ranges::find(known, first) == known.end())
    fail("there is no command '{}'{}", first, suggestion(first, known));
  check_command(*app.get_subcommand(first), count - 1, arguments + 1);
}

// The number that the whole text is.
template <class Number>
std::optional<Number> parsed(std::string_view text) {
  Number value{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

// The parser reads "-1" as 2^64 - 1, and an empty name as one that was not given.
std::string complaint_about_whole(const std::string& text) {
  if (parsed<std::uint64_t>(text)) return {};
  return fmt::format("'{}' is given; a whole number from 0 to {} is expected", text,
                     std::numeric_limits<std::uint64_t>::max());
}
std::string complaint_about_number(const std::string& text) {
  if (parsed<double>(std::string_view(text).substr(text.starts_with('+') ? 1 : 0))) return {};
  return fmt::format("'{}' is given; a number is expected", text);
}
std::string complaint_about_file(const std::string& text) {
  return text.empty() ? "an empty name is given; a file is expected" : "";
}

// "--season: 1 required UINT:INT in [2 - 10000] missing", in words.
std::string complaint_about_missing(const std::string& text, const CLI::App& command) {
  const auto count = text.find(": "), required = text.find(" required ", std::min(count, text.size()));
  if (required == text.npos || !text.ends_with(" missing")) return text;
  const auto bounds = text.find('[', count), to = text.find(" - ", bounds), end = text.find(']', to);
  const std::string option = text.substr(0, count), values = text.substr(count + 2, required - count - 2);
  if (values != "1")
    return fmt::format("{}: {} values are expected after it, fewer are given: {}", option, values,
                       command.get_option(option)->get_description());
  if (end == text.npos) return fmt::format("{}: nothing is given; a value is expected after it", option);
  return fmt::format("{}: nothing is given; a whole number from {} to {} is expected after it", option,
                     text.substr(bounds + 1, to - bounds - 1), text.substr(to + 3, end - to - 3));
}

// The innermost command of those that were named.
const CLI::App& asked_command(const CLI::App& app) {
  const auto below = app.get_subcommands();
  return below.empty() ? app : asked_command(*below.back());
}

std::string whole_name(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name() : whole_name(*app.get_parent()) + " " + app.get_name();
}

// "dma predict model data is expected, as in dma predict model.json new.csv": by the example of its --help.
std::string expected_of(const CLI::App& command) {
  std::string text = whole_name(command);
  for (const CLI::Option* option : command.get_options())
    if (!option->nonpositional()) text += " " + option->get_name(true);
  text += " is expected";
  constexpr std::string_view kExample = "Example:\n  ";
  const std::string footer = command.get_footer();
  if (footer.starts_with(kExample))
    text += ", as in " + footer.substr(kExample.size(), footer.find('\n', kExample.size()) - kExample.size());
  return text;
}

// Says in our words what the parser refuses: misspelt options first, since they make others seem to be missing.
[[noreturn]] void refuse(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& command = asked_command(app);
  std::vector<std::string> known;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& option_name : option->get_lnames()) known.push_back("--" + option_name);
  const std::vector<std::string> left = app.remaining(true);
  for (const std::string& word : left)
    if (const std::string option = word.substr(0, word.find('=')); option.starts_with('-'))
      fail("there is no option '{}' of {}{}", option, whole_name(command), suggestion(option, known));
  const auto code = static_cast<CLI::ExitCodes>(error.get_exit_code());
  if (code == CLI::ExitCodes::RequiredError)
    for (const CLI::Option* option : command.get_options())
      if (option->get_required() && option->count() == 0)
        fail("{} is missing ({}); {}", option->get_name(), option->get_description(), expected_of(command));
  if (code == CLI::ExitCodes::ExtrasError) fail("'{}' is one argument too many; {}", left[0], expected_of(command));
  fail("{} ({} --help shows what is expected)", complaint_about_missing(error.what(), command), whole_name(command));
}

}  // namespace

std::optional<double> with_unit(std::string_view text, Units units) {
  double number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(rest, text.data() + text.size());
  for (const auto& [name, size] : units)
    if (error == std::errc() && unit == name && number > 0 && std::isfinite(number * size)) return number * size;
  return {};
}

Option Option::required() const { return Option(option_->required()); }
Option Option::group(const std::string& heading) const { return Option(option_->group(heading)); }
Option Option::capture_default_str() const { return Option(option_->capture_default_str()); }
Option Option::allow_extra_args(bool allow) const { return Option(option_->allow_extra_args(allow)); }
Option Option::value(const std::string& name) const { return Option(option_->type_name(name)); }
// In front of the other checks, which know of wider ranges only.
Option Option::between(int low, int high) const {
  const auto check = [low, high](std::string& text) {
    const auto value = parsed<int>(text);
    if (value && *value >= low && *value <= high) return std::string();
    return fmt::format("'{}' is given; a whole number from {} to {} is expected", text, low, high);
  };
  return Option(option_->transform(CLI::Validator(check, fmt::format("INT in [{} - {}]", low, high))));
}
Option Option::above_zero() const { return Option(option_->check(CLI::PositiveNumber)); }
// The parser takes the option that follows a single one for the second.
Option Option::pairs() const {
  const auto check = [](const std::string& text) {
    return text.starts_with("--") ? fmt::format("2 values are expected after it; '{}' is an option", text) : "";
  };
  return Option(option_->type_size(2)->allow_extra_args(false)->check(check));
}
Option Option::excludes(Option other) const { return Option(option_->excludes(other.option_)); }

Command Command::add_subcommand(const std::string& name, const std::string& help) const {
  return Command(app_->add_subcommand(name, help));
}
void Command::require_subcommand() const { app_->require_subcommand(1); }
void Command::footer(const std::string& text) const { app_->footer(text); }
void Command::callback(std::function<void()> work) const { app_->callback(std::move(work)); }
std::vector<std::string> Command::given() const {
  std::vector<std::string> names;
  for (const CLI::Option* option : app_->get_options())
    if (option->count() > 0) names.push_back(option->get_name());
  return names;
}

template <typename Value>
Option Command::add_option(const std::string& name, Value& value, const std::string& help) const {
  CLI::Option* const option = app_->add_option(name, value, help);
  if constexpr (std::is_same_v<Value, std::size_t> || std::is_same_v<Value, std::optional<std::size_t>>)
    option->check(&complaint_about_whole);
  if constexpr (std::is_same_v<Value, std::filesystem::path>) option->check(&complaint_about_file)->type_name("FILE");
  if constexpr (std::is_same_v<Value, double> || std::is_same_v<Value, std::optional<double>>)
    option->check(&complaint_about_number);
  return Option(option);
}
template <typename Number>
Option Command::add_list(const std::string& name, std::optional<std::vector<Number>>& values, const std::string& help,
                         bool may_be_none) const {
  const auto parse = [name, may_be_none, &values](const std::vector<std::string>& lists) {
    values.emplace();
    if (may_be_none && lists == std::vector<std::string>{"none"}) return;
    for (const std::string& list : lists)
      for (std::size_t begin = 0, end = 0; end != list.npos; begin = end + 1) {
        const std::string text = list.substr(begin, (end = list.find(',', begin)) - begin);
        const auto value = parsed<Number>(text);
        if (!value)
          fail("{}: '{}' is given; a {} is expected, or several with commas between them{}", name, text,
               std::is_integral_v<Number> ? "whole number" : "number", may_be_none ? ", or none" : "");
        values->push_back(*value);
      }
  };
  return Option(app_->add_option_function<std::vector<std::string>>(name, parse, help)->allow_extra_args(false));
}
Option Command::add_flag(const std::string& names, bool& value, const std::string& help) const {
  return Option(app_->add_flag(names, value, help));
}
Option Command::add_flag(const std::string& names, std::optional<bool>& value, const std::string& help) const {
  return Option(app_->add_flag_function(
      names, [&value](std::int64_t count) { value = count > 0; }, help));
}

CommandLine::CommandLine(const std::string& program, const std::string& help, const std::string& version)
    : app_(new CLI::App(help)) {
  app_->name(program);
  app_->set_version_flag("--version", version);
  app_->require_subcommand(1);
}

CommandLine::~CommandLine() { delete app_; }

int CommandLine::run(int count, char** arguments) const {
  std::vector<char*> words(arguments, arguments + count);
  char help[] = "--help";
  if (count > 1 && std::string_view(words[1]) == "help") words.erase(words.begin() + 1), words.push_back(help);
  check_command(*app_, count - 1, words.data() + 1);
  try {
    app_->parse(count, words.data());
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app_->exit(e);  // --help, --version
    refuse(*app_, e);
  } catch (const Exit& e) {
    return e.code;
  }
  return 0;
}

template Option Command::add_option(const std::string&, int&, const std::string&) const;
template Option Command::add_option(const std::string&, double&, const std::string&) const;
template Option Command::add_option(const std::string&, std::size_t&, const std::string&) const;  // and std::uint64_t
template Option Command::add_option(const std::string&, std::string&, const std::string&) const;
template Option Command::add_option(const std::string&, std::filesystem::path&, const std::string&) const;
template Option Command::add_option(const std::string&, std::optional<int>&, const std::string&) const;
template Option Command::add_option(const std::string&, std::optional<double>&, const std::string&) const;
template Option Command::add_option(const std::string&, std::optional<std::size_t>&, const std::string&) const;
template Option Command::add_option(const std::string&, std::optional<std::string>&, const std::string&) const;
template Option Command::add_list(const std::string&, std::optional<std::vector<double>>&, const std::string&,
                                  bool) const;
template Option Command::add_list(const std::string&, std::optional<std::vector<std::size_t>>&, const std::string&,
                                  bool) const;
template Option Command::add_option(const std::string&, std::vector<double>&, const std::string&) const;
template Option Command::add_option(const std::string&, std::vector<std::string>&, const std::string&) const;

}  // namespace dma
