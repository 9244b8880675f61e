// dma_fuzz [--seconds n] [--count n] [--seed s | --case s] [target...]: random cases for each target in turn, until the
// time or the count is reached. Every case has its own seed; findings are printed with the command that repeats them.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "tests/fuzz/targets.h"

namespace {

using dma::fuzz::Target;
using Options = std::map<std::string, double>;

// Returns true if nothing was found. The parent process detects crashes: if the variable DMA_FUZZ_TRACE is set, each
// case is printed before it runs.
bool attack(const Target& target, std::uint64_t first, bool is_one_case, double seconds, double count) {
  static const bool trace = std::getenv("DMA_FUZZ_TRACE") != nullptr;
  const auto start = std::chrono::steady_clock::now();
  const auto passed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  std::uint64_t made = 0, cases = 0;
  while (static_cast<double>(made) < count && passed() < seconds) {
    const std::uint64_t seed = is_one_case ? first : first * 0x9e3779b97f4a7c15 + ++cases;
    if (trace) fmt::print(stderr, "{} --case {}\n", target.name, seed);
    try {
      dma::fuzz::Choices choices(seed);
      made += target.run(choices);
    } catch (const std::exception& e) {
      fmt::print("{}: FOUND {}\n  again: dma_fuzz --case {} {}\n", target.name, e.what(), seed, target.name);
      return false;
    }
    if (is_one_case) break;
  }
  fmt::print("{}: {} {}, nothing found ({:.1f} s, {:.3g} a second)\n", target.name, made, target.unit, passed(),
             static_cast<double>(made) / passed());
  std::fflush(stdout);
  return true;
}

bool attack_all(int count, char** arguments) {
  Options options = {{"--seconds", 10}, {"--count", HUGE_VAL}};
  std::uint64_t seed = 1;
  bool is_one_case = false;
  std::set<std::string_view> names;
  for (int i = 1; i < count; ++i) {
    const std::string argument = arguments[i];
    if (!argument.starts_with("--")) {
      names.insert(arguments[i]);
    } else if (i + 1 < count && (argument == "--seed" || argument == "--case")) {
      seed = std::stoull(arguments[++i]);
      is_one_case = argument == "--case";
    } else if (i + 1 < count && options.contains(argument)) {
      options[argument] = std::stod(arguments[++i]);
      if (argument == "--count") options["--seconds"] = HUGE_VAL;
    } else {
      throw std::invalid_argument(argument);
    }
  }
  std::vector<const Target*> chosen;
  for (const Target& target : dma::fuzz::targets())
    if (names.empty() || names.erase(target.name) > 0) chosen.push_back(&target);
  if (!names.empty()) throw std::invalid_argument(std::string(*names.begin()));
  bool nothing = true;
  for (const Target* target : chosen)
    nothing &= attack(*target, seed, is_one_case, options["--seconds"] / static_cast<double>(chosen.size()),
                      options["--count"]);
  return nothing;
}

}  // namespace

int main(int count, char** arguments) {
  // Commands flush every file to the disk; files in memory need no flush.
  if (std::filesystem::is_directory("/dev/shm")) setenv("TMPDIR", "/dev/shm", 0);
  try {
    return attack_all(count, arguments) ? 0 : 1;
  } catch (const std::logic_error& e) {
    fmt::print(stderr, "dma_fuzz: '{}' is wrong; usage: dma_fuzz [--seconds n] [--count n] [--seed s | --case s] "
                       "[target...]\n", e.what());
    return 2;
  }
}
