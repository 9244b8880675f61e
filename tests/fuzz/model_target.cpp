#include <fmt/format.h>

#include "engine/support/text.h"
#include "tests/fuzz/commands.h"
#include "tests/fuzz/targets.h"
#include "tests/oracles/files.h"

namespace dma::fuzz {

namespace {

using Arguments = std::vector<std::string>;

std::string table() {
  std::string text = "x,z,k,d,w,c,y\n";
  for (int n = 0; n < 20; ++n)
    text += fmt::format("{:.4f},{:.4f},{},2020-01-{:02},{},{},{:.4f}\n", std::sin(3.0 * n),
                        std::exp(2 * std::sin(5.0 * n)), n % 3 == 0 ? "red" : "blue", n + 1, 1 + n % 2,
                        std::sin(3.0 * n) > 0.2 ? "red" : "blue", 2 * std::sin(3.0 * n) + std::cos(n));
  return text;
}

// A file of every type, and the commands that read it.
struct Seed {
  std::string_view name;
  Arguments fit;
  std::vector<Arguments> readers = {{"predict", "m.json", "data.csv"},
                                    {"inspect", "m.json"},
                                    {"inspect", "m.json", "--json"},
                                    {"fit", "data.csv", "--update", "m.json", "--model", "more.json"}};
  std::string text = {};
};

std::vector<Seed> made_seeds() {
  const Scene scene;
  write("data.csv", table());
  write("line.json", oracle::graph_file("line.json"));
  write("scores.json", oracle::graph_file("scores.json"));
  write("network.json", oracle::network_file(1, "2, 3", "0.5, 0.2"));
  const Arguments checkpoint = {"--target", "y", "--features", "x,z", "--epochs", "4", "--report", "page.html"};
  std::vector<Seed> seeds = {
      {"joint", {"--target", "y", "--features", "x,z,k,d", "--weights", "w", "--epochs", "3"}},
      {"by rows", {"--target", "y", "--features", "x,z", "--hidden", "12", "--members", "2", "--epochs", "3"}},
      {"messages", {"--target", "y", "--features", "x", "--method", "dma", "--epochs", "3"}},
      {"classes", {"--target", "c", "--features", "x,z,k", "--epochs", "3"}},
      {"graph", {"--target", "y", "--graph", "line.json"}},
      {"graph of classes", {"--target", "c", "--graph", "scores.json"}},
      {"graph as a table", {"--target", "y", "--graph", "network.json", "--preset", "table", "--epochs", "3"}},
      {"checkpoint", checkpoint},
      {"checkpoint of messages", checkpoint}};
  seeds.back().fit.insert(seeds.back().fit.end(), {"--method", "dma"});
  for (Seed& seed : seeds) {
    seed.fit.insert(seed.fit.begin(), {"fit", "data.csv"});
    if (std::ranges::count(seed.fit, "--hidden") + std::ranges::count(seed.fit, "--graph") == 0)
      seed.fit.insert(seed.fit.end(), {"--hidden", "2", "--members", "1"});
    Arguments fit = seed.fit;
    if (seed.name.starts_with("checkpoint")) {
      Arguments resume = fit;
      resume[7] = "6";
      resume.insert(resume.end(), {"--resume", "m.json"});
      seed.readers = {{"inspect", "m.json"}, resume};
      fit.insert(fit.end(), {"--checkpoint", "m.json", "--checkpoint-every", "1"});
    } else {
      fit.insert(fit.end(), {"--model", "m.json"});
    }
    const Ended ended = run(fit);
    promise(ended.code == 0, "{} is not fitted: {}", seed.name, ended.errors);
    seed.text = read("m.json");
  }
  return seeds;
}

}  // namespace

// A damaged file is read as far as possible: all results are numbers. A file with a wrong checksum is refused.
std::size_t fuzz_model(Choices& choices) {
  static const std::vector<Seed> seeds = made_seeds();
  const Seed& seed = choices.any_of(seeds);
  const Arguments& command = choices.any_of(seed.readers);
  const bool is_sealed = !choices.one_in(8);
  const std::string text = is_sealed ? damaged(seed.text, choices) : mutated(seed.text, choices);
  const Scene scene;
  write("data.csv", table());
  write("m.json", text);
  const Ended ended = run(command);
  check(ended, command);
  promise(ended.code == 2 || is_sealed || text == seed.text, "a file whose bytes do not give its checksum was read");
  if (command.back() != "--json") check_finite(ended.output, command);
  if (command[0] != "fit")
    promise(ended.code == 0 || ended.errors.starts_with("dma: 'm.json'"), "a damaged file is not blamed: {}",
            ended.errors);
  const std::string page = read("page.html");
  promise(page.find("<script>bad") == page.npos, "markup of a file is on a page");
  if (command[0] == "fit" && ended.code == 0 && seed.readers.size() > 2) {
    const Ended again = run({"predict", "more.json", "data.csv"});
    promise(again.code == 0, "a file written by an update is not read: {}", again.errors);
  }
  return 1;
}

}  // namespace dma::fuzz
