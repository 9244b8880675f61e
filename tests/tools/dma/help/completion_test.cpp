// The completion of bash, which asks --help; help without an example fails.
#include <doctest/doctest.h>

#include <cstdlib>
#include <regex>
#include <sstream>

#include "tests/tools/run_dma.h"
#include "tools/dma/help/version.h"

using namespace dma;
using namespace dma::testing;

namespace {

// The words that bash offers when Tab is pressed at the end of these.
std::string offered(const std::string& words) {
  const TemporaryFolder folder;
  folder.write("dma.bash", require_dma(folder, "completion bash").output);
  folder.write("houses.csv", "");
  folder.write("ask.bash",
               "dma() { " DMA_EMULATOR " '" DMA_BINARY_DIR "/dma' \"$@\"; }\nsource dma.bash\nCOMP_WORDS=(" + words +
                   ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_dma\necho \"${COMPREPLY[*]}\" > out\n");
  CHECK(std::system(("cd '" + folder.path().string() + "' && bash ask.bash").c_str()) == 0);
  std::string line = folder.read("out");
  while (line.ends_with('\n')) line.pop_back();
  return line;
}

void check_examples(const TemporaryFolder& folder, const std::string& command) {
  CAPTURE(command);
  const std::string help = require_dma(folder, command + " --help").output;
  CHECK(holds(help, "Example:\n  dma "));
  if (!holds(help, "\nSubcommands:\n")) return;
  std::istringstream below(help.substr(help.find("\nSubcommands:\n") + 14));
  for (std::string line; std::getline(below, line) && !line.empty();)
    check_examples(folder, command + line.substr(1, line.find(' ', 2) - 1));
}

}  // namespace

TEST_CASE("help: every command has an example") { check_examples(TemporaryFolder(), ""); }

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
