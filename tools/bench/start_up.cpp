#include "tools/bench/start_up.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <vector>

#include "engine/support/error.h"

namespace dma::bench {

namespace {

double milliseconds_of(const std::string& program, std::vector<std::string> arguments) {
  std::vector<char*> given = {const_cast<char*>(program.c_str())};
  for (std::string& argument : arguments) given.push_back(argument.data());
  given.push_back(nullptr);
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&quiet, stream, "/dev/null", O_WRONLY, 0);
  const auto start = std::chrono::steady_clock::now();
  pid_t child = 0;
  int status = -1;
  const bool has_run = posix_spawn(&child, program.c_str(), &quiet, nullptr, given.data(), environ) == 0 &&
                       waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  posix_spawn_file_actions_destroy(&quiet);
  if (!has_run) fail("'{} {}' did not run to its end", program, fmt::join(arguments, " "));
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

double median_of(const std::string& program, const std::vector<std::string>& arguments) {
  std::vector<double> times;
  for (int i = 0; i < 21; ++i) times.push_back(milliseconds_of(program, arguments));
  std::ranges::sort(times);
  return times[times.size() / 2];
}

// As large as boston, with something for networks to learn: the model then is four of them, each with its rows.
void write_tables(const std::string& data, const std::string& row) {
  constexpr std::size_t kRows = 455, kColumns = 13;
  boost::random::mt19937_64 random(1);
  boost::random::normal_distribution<double> normal;
  std::vector<double> x(kColumns);
  std::vector<std::string> names;
  for (std::size_t j = 0; j < kColumns; ++j) names.push_back(fmt::format("x{}", j));
  const std::string header = fmt::format("{}", fmt::join(names, ","));
  std::ofstream table(data);
  table << header << ",y\n";
  for (std::size_t n = 0; n < kRows; ++n) {
    std::ranges::generate(x, [&] { return normal(random); });
    const double y = x[0] + std::sin(2 * x[1]) + x[2] * x[3] + 0.3 * normal(random);
    table << fmt::format("{},{}\n", fmt::join(x, ","), y);
  }
  std::ofstream(row) << fmt::format("{}\n{}\n", header, fmt::join(x, ","));
}

}  // namespace

std::string start_up(const std::string& program) {
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("dma_start_up_{}", getpid());
  std::filesystem::create_directories(folder);
  const std::string data = folder / "data.csv", row = folder / "row.csv", model = folder / "model.json";
  write_tables(data, row);
  milliseconds_of(program, {"fit", data, "--target", "y", "--model", model});
  const double help = median_of(program, {"--help"}), predict = median_of(program, {"predict", model, row});
  std::filesystem::remove_all(folder);
  return fmt::format("start-up, wall time: dma --help {:.1f} ms (at most 10), dma predict of one row {:.1f} ms (at most 20)\n", help,
                     predict);
}

}  // namespace dma::bench
