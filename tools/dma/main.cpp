// dma: the command line. Wrong input gives one line on standard error and exit code 2.
#include <fmt/format.h>

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

}  // namespace

int main(int count, char** arguments) {
  const dma::CommandLine program(
      "dma", "Factor-graph inference by message passing: Bayesian neural networks from tables of numbers", DMA_VERSION);
  const dma::Command root = program.root();
  root.footer("Example:\n  dma fit data.csv --target y --model model.json --plot fit.svg\nMore: dma fit --help");
  dma::add_fit_command(root, command_line(count, arguments));
  dma::add_predict_command(root);
  dma::add_inspect_command(root);
  dma::add_generate_command(root);
  dma::add_factors_command(root);
  dma::add_certify_command(root);
  dma::add_reproduce_command(root);
  dma::add_uci_command(root);
  dma::add_compare_command(root);
  try {
    return program.run(count, arguments);
  } catch (const dma::Error& e) {
    return refuse(e.what());
  } catch (const std::bad_alloc&) {
    return refuse("there is not enough memory for this; use fewer rows, a smaller network or fewer batches");
  }
}
