// dma: the command line. Wrong input gives one line on standard error and exit code 2.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <new>

#include "engine/support/error.h"
#include "tools/dma/commands.h"

namespace {

constexpr int kWrongInput = 2;

// An argument as a shell would have to read it.
std::string shell_quoted(std::string_view argument) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,:=+%@";
  if (!argument.empty() && argument.find_first_not_of(kPlain) == argument.npos) return std::string(argument);
  std::string quoted = "'";
  for (const char c : argument) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string command_line(int count, char** arguments) {
  std::string line;
  for (int i = 0; i < count; ++i) line += (i > 0 ? " " : "") + shell_quoted(arguments[i]);
  return line;
}

int refuse(std::string_view message) {
  std::string line(message);
  for (char& c : line)
    if (c == '\n') c = ' ';
  fmt::print(stderr, "dma: {}\n", line);
  return kWrongInput;
}

// CLI11 would only say that a subcommand is required.
void check_command(const CLI::App& app, const std::string& first) {
  if (first.empty() || first.starts_with('-')) return;
  std::vector<std::string> known;
  for (const CLI::App* command : app.get_subcommands(nullptr)) known.push_back(command->get_name());
  if (std::ranges::find(known, first) == known.end())
    dma::fail("there is no command '{}'{}", first, dma::suggestion(first, known));
}

}  // namespace

int main(int count, char** arguments) {
  CLI::App app("Factor-graph inference by message passing: Bayesian neural networks from tables of numbers");
  app.name("dma");
  app.set_version_flag("--version", DMA_VERSION);
  app.require_subcommand(1);
  app.footer("Example:\n  dma fit data.csv --target y --model model.json --plot fit.svg\nMore: dma fit --help");
  dma::add_fit_command(app, command_line(count, arguments));
  dma::add_predict_command(app);
  dma::add_inspect_command(app);
  dma::add_generate_command(app);
  dma::add_factors_command(app);
  dma::add_certify_command(app);
  dma::add_reproduce_command(app);
  dma::add_uci_command(app);
  dma::add_compare_command(app);
  try {
    check_command(app, count > 1 ? arguments[1] : "");
    app.parse(count, arguments);
  } catch (const CLI::RuntimeError& e) {  // a command that has said why it ends
    return e.get_exit_code();
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);  // --help, --version
    return refuse(fmt::format("{} (dma --help, or dma <command> --help, shows what is expected)", e.what()));
  } catch (const dma::Error& e) {
    return refuse(e.what());
  } catch (const std::bad_alloc&) {
    return refuse("there is not enough memory for this; use fewer rows, a smaller network or fewer batches");
  }
  return 0;
}
