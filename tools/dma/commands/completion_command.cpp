// dma completion: for the start-up files of shells.
#include <fmt/format.h>

#include <memory>
#include <vector>

#include "engine/support/error.h"
#include "tools/dma/commands/commands.h"
#include "tools/dma/help/completion.h"

namespace dma {

std::string single_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

namespace {

const std::vector<std::string> kShells = {"bash", "zsh", "fish"};

}  // namespace

void add_completion_command(Command app) {
  auto shell = std::make_shared<std::string>();
  const Command command = app.add_subcommand("completion", "Print what a shell needs to complete commands, options and files");
  command.footer(
      "Example:\n"
      "  dma completion bash > ~/.local/share/bash-completion/completions/dma\n"
      "For zsh the file is _dma in a folder of $fpath, for fish ~/.config/fish/completions/dma.fish. The Debian package brings all\n"
      "three.");
  command.add_option("shell", *shell, "which one").value("bash|zsh|fish").required();
  command.callback([app, shell] {
    if (*shell == "bash")
      fmt::print("{}", bash_completion(app.help()));
    else if (*shell == "zsh")
      fmt::print("{}", zsh_completion(app.help()));
    else if (*shell == "fish")
      fmt::print("{}", fish_completion(app.help()));
    else
      fail("there is no completion for '{}'{}", *shell, suggestion(*shell, kShells));
  });
}

}  // namespace dma
