// dma man: the manual pages.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "engine/support/error.h"
#include "tools/dma/commands/commands.h"
#include "tools/dma/help/manual.h"
#include "tools/dma/help/version.h"
#include "tools/dma/io/write_file.h"

namespace dma {

namespace {

struct ManRequest {
  std::string command;
  std::filesystem::path out;
};

void write_all(const CommandHelp& program, const std::filesystem::path& folder) {
  write_file(folder / manual_file(program), manual_overview(program, version()));
  for (const CommandHelp& command : program.commands) write_file(folder / manual_file(command), manual_page(command, version()));
}

std::string page_of(const CommandHelp& program, const std::string& name) {
  if (name.empty()) return manual_overview(program, version());
  std::vector<std::string> known;
  for (const CommandHelp& command : program.commands) {
    if (command.last_name() == name) return manual_page(command, version());
    known.push_back(command.last_name());
  }
  fail("there is no command '{}'{}", name, suggestion(name, known));
}

}  // namespace

void add_man_command(Command app) {
  auto request = std::make_shared<ManRequest>();
  const Command command = app.add_subcommand("man", "Print a manual page, or write all of them");
  command.footer(
      "Example:\n"
      "  dma man fit | man -l -\n"
      "The pages say what --help says.");
  command.add_option("command", request->command, "whose page (default: that of dma itself)");
  command.add_option("--out", request->out, "write all pages into this folder instead").value("FOLDER");
  command.callback([app, request] {
    if (request->out.empty())
      fmt::print("{}", page_of(app.help(), request->command));
    else
      write_all(app.help(), request->out);
  });
}

}  // namespace dma
