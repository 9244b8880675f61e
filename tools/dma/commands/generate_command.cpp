// dma generate: data to try things on.
#include <fmt/format.h>

#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>

#include "engine/support/json.h"
#include "tools/dma/commands/commands.h"
#include "tools/dma/io/made_data.h"
#include "tools/dma/io/paper_tasks.h"
#include "tools/dma/io/write_file.h"

namespace dma {

namespace {

struct GenerateRequest {
  std::uint64_t seed = 1;
  std::filesystem::path out, grid;
  bool json = false, with_classes = false;
  std::size_t count = 0, players = 8;
  std::string kind = "sales";
};

constexpr int kMostMade = 1'000'000;

using Made = std::function<std::string(const GenerateRequest&)>;

// `count_name`: the option that sets the count. The caller adds the command's own options.
struct MadeCommand {
  Command command;
  std::shared_ptr<GenerateRequest> request;
};
MadeCommand add_made(Command generate, const char* name, const char* help, const char* count_name, std::size_t count,
                     Made made) {
  auto request = std::make_shared<GenerateRequest>();
  request->count = count;
  const Command command = generate.add_subcommand(name, help);
  command.footer(fmt::format("Example:\n  dma generate {0} --seed 1 --out {0}.csv", name));
  command.add_option("--seed", request->seed, "decides everything that is drawn").capture_default_str();
  command.add_option(count_name, request->count, "how many").between(3, kMostMade).capture_default_str();
  command.add_option("--out", request->out, "file (default: standard output)");
  command.callback([request, made] {
    check_outputs({{"--out", request->out}}, {});
    write_or_print(request->out, made(*request));
  });
  return {command, request};
}

std::string as_csv(const Eigen::VectorXd& x, const Eigen::VectorXd& y, const char* y_name) {
  std::string text = fmt::format("x,{}\n", y_name);
  for (Eigen::Index i = 0; i < x.size(); ++i) text += fmt::format("{},{}\n", x(i), y(i));
  return text;
}

void generate_regression(const GenerateRequest& request) {
  check_outputs({{"--out", request.out}, {"--grid", request.grid}}, {});
  const validation::PaperTask task = validation::small_task(request.seed);
  const Eigen::VectorXd &x = task.raw_inputs, y = task.targets.col(0);
  if (!request.out.empty() || !request.json) write_or_print(request.out, as_csv(x, y, "y"));
  if (!request.grid.empty()) {
    const Eigen::VectorXd grid = Eigen::VectorXd::LinSpaced(401, -5, 5);
    write_file(request.grid, as_csv(grid, grid.unaryExpr([&](double at) { return task.truth(at)(0); }), "truth"));
  }
  if (!request.json) return;
  const Json json = {{"seed", request.seed},
                     {"noise", task.noise},
                     {"x", std::vector<double>(x.begin(), x.end())},
                     {"y", std::vector<double>(y.begin(), y.end())}};
  fmt::print("{}", readable(json));
}

}  // namespace

void add_generate_command(Command app) {
  const Command generate = app.add_subcommand("generate", "Make data to try things on");
  generate.require_subcommand();
  generate.footer("Example:\n  dma generate regression --seed 1 --out data.csv");
  auto request = std::make_shared<GenerateRequest>();
  const Command command = generate.add_subcommand("regression",
                                                  "The paper's task of one input: 200 rows of a network drawn from the "
                                                  "prior, seen through noise of 0.2 on [-2.5, 1.5]");
  command.footer("Example:\n  dma generate regression --seed 1 --out data.csv --grid grid.csv");
  command.add_option("--seed", request->seed, "decides the network, the inputs and the noise").capture_default_str();
  command.add_option("--out", request->out, "file for the columns x and y (default: standard output)");
  command.add_option("--grid", request->grid,
                     "file for the true function on 401 points of [-5, 5]: columns x and truth");
  command.add_flag("--json", request->json, "print JSON");
  command.callback([request] { generate_regression(*request); });

  const MadeCommand table =
      add_made(generate, "table", "Rows of four inputs and a target that bends with two of them", "--rows", 200,
               [](const GenerateRequest& r) { return made_table(r.seed, r.count, r.with_classes); });
  table.command.add_flag("--classes", table.request->with_classes, "a target of three classes");
  const MadeCommand series =
      add_made(generate, "series", "A series with dates: sales, patients, a cycle, a walk", "--steps", 120,
               [](const GenerateRequest& r) { return made_series(r.seed, r.kind, r.count); });
  series.command.add_option("--kind", series.request->kind, "the law of the series")
      .value("sales|patients|cycle|walk")
      .capture_default_str();
  const MadeCommand games = add_made(generate, "games", "Games of two players each: winner and loser", "--games", 100,
                                     [](const GenerateRequest& r) { return made_games(r.seed, r.players, r.count); });
  games.command.add_option("--players", games.request->players, "how many play")
      .between(2, 10000)
      .capture_default_str();
}

}  // namespace dma
