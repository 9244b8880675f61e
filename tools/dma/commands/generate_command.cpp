// dma generate: data to try things on.
#include <fmt/format.h>

#include <filesystem>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>

#include "models/files/readable_json.h"
#include "tools/dma/commands/commands.h"
#include "tools/dma/io/paper_tasks.h"
#include "tools/dma/io/write_file.h"

namespace dma {

namespace {

struct GenerateRequest {
  std::uint64_t seed = 1;
  std::filesystem::path out, grid;
  bool json = false;
};

std::string as_csv(const Eigen::VectorXd& x, const Eigen::VectorXd& y, const char* y_name) {
  fmt::memory_buffer text;
  fmt::format_to(std::back_inserter(text), "x,{}\n", y_name);
  for (Eigen::Index i = 0; i < x.size(); ++i) fmt::format_to(std::back_inserter(text), "{},{}\n", x(i), y(i));
  return fmt::to_string(text);
}

void generate_regression(const GenerateRequest& request) {
  check_outputs({{"--out", request.out}, {"--grid", request.grid}}, {});
  const validation::PaperTask task = validation::small_task(request.seed);
  const Eigen::VectorXd &x = task.raw_inputs, y = task.targets.col(0);
  if (!request.out.empty()) {
    write_file(request.out, as_csv(x, y, "y"));
  } else if (!request.json) {
    fmt::print("{}", as_csv(x, y, "y"));
  }
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
}

}  // namespace dma
