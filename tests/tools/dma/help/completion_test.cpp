// The completion offers what --help says: every command, option and choice.
#include "tools/dma/help/completion.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <functional>
#include <regex>

#include "tests/tools/run_dma.h"
#include "tools/dma/commands/commands.h"
#include "tools/dma/help/version.h"

using namespace dma;
using namespace dma::testing;

namespace {

void visit(const CommandHelp& command, const std::function<void(const CommandHelp&)>& work) {
  work(command);
  for (const CommandHelp& below : command.commands) visit(below, work);
}

// The words that bash offers when Tab is pressed at the end of these.
std::string offered(const std::string& words) {
  const TemporaryFolder folder;
  folder.write("dma.bash", bash_completion(program_help(dma_program())));
  folder.write("houses.csv", "");
  folder.write("ask.bash", "source dma.bash\nCOMP_WORDS=(" + words +
                               ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_dma\necho \"${COMPREPLY[*]}\" > out\n");
  CHECK(std::system(("cd '" + folder.path().string() + "' && bash ask.bash").c_str()) == 0);
  std::string line = folder.read("out");
  while (line.ends_with('\n')) line.pop_back();
  return line;
}

}  // namespace

TEST_CASE("completion: every option of every --help is in it") {
  const TemporaryFolder folder;
  const CommandHelp program = program_help(dma_program());
  const std::string bash = bash_completion(program);
  const std::regex option("--[a-z][-a-z]*");
  for (const CommandHelp& top : program.commands) {
    visit(top, [&](const CommandHelp& command) {
      const std::string help = run_dma(folder, command.name.substr(4) + " --help").output;
      const std::string listed = help.substr(0, help.find("\nExample:"));
      std::size_t options = 0;
      for (std::sregex_iterator at(listed.begin(), listed.end(), option), end; at != end; ++at, ++options) {
        const std::string name = at->str();
        CAPTURE(command.name);
        CAPTURE(name);
        CHECK(holds(bash, name));
      }
      CHECK(options > 0);
      CHECK(holds(help, "Example:\n  dma "));
    });
  }
}

TEST_CASE("completion: bash offers commands, options, choices and files where they belong") {
  CHECK(holds(offered("dma ''"), "fit predict infer"));
  CHECK(offered("dma pred") == "predict");
  CHECK(offered("dma fit --pres") == "--preset");
  CHECK(offered("dma fit --preset ''") == "table paper");
  CHECK(offered("dma fit --preset = p") == "paper");
  CHECK(holds(offered("dma fit --method ''"), "joint"));
  CHECK(holds(offered("dma fit --method ''"), "hybrid"));
  CHECK(offered("dma fit ho") == "houses.csv");
  CHECK(offered("dma fit houses.csv --model ho") == "houses.csv");
  CHECK(offered("dma fit --seed ''").empty());
  CHECK(offered("dma generate regression --gr") == "--grid");
  CHECK(offered("dma fit generate --gri").empty());  // a file of that name is no command
  CHECK(offered("dma certify leaky") == "leaky_relu");
  CHECK(holds(offered("dma infer x.json --schedule fl"), "flooding"));
  CHECK(offered("dma nothing").empty());
}

TEST_CASE("completion: a shell that nobody knows is refused") {
  const TemporaryFolder folder;
  require_dma(folder, "completion bash");
  const auto wrong = run_dma(folder, "completion basch");
  CHECK(wrong.exit_code == 2);
  CHECK(holds(wrong.errors, "there is no completion for 'basch'; bash is expected"));
}

TEST_CASE("dma --version: the version, the compiler and the build's options in one line") {
  const TemporaryFolder folder;
  const std::string line = run_dma(folder, "--version").output;
  CHECK(line == "dma " + std::string(version()) + " (" + build_options() + ")\n");
  CHECK(std::regex_match(std::string(version()), std::regex(R"([0-9]+\.[0-9]+\.[0-9]+)")));
  CHECK(std::regex_search(
      line, std::regex(R"((g|clang)\+\+ [0-9]+\.[0-9]+\.[0-9]+, [A-Za-z ]+, for (any|the building machine's) )")));
}
