// dma completion: for the start-up files of bash.
#include <fmt/format.h>

#include <memory>

#include "engine/support/text.h"
#include "tools/dma/commands/commands.h"

namespace dma {

namespace {

constexpr const char* kBashCompletion =
#include <completion.bash>
    ;

}  // namespace

void add_completion_command(Command app) {
  auto shell = std::make_shared<std::string>();
  const Command command =
      app.add_subcommand("completion", "Print what a shell needs to complete commands, options and files");
  command.footer(
      "Example:\n"
      "  dma completion bash > ~/.local/share/bash-completion/completions/dma\n"
      "The Debian package brings it.");
  command.add_option("shell", *shell, "which one").value("bash").required();
  command.callback([shell] {
    if (*shell != "bash") fail("there is no completion for '{}'; bash is expected", *shell);
    fmt::print("{}", kBashCompletion);
  });
}

}  // namespace dma
