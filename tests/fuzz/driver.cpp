// dma_fuzz [--seconds n] [--count n] [--seed s] [target...]: random cases for each target in turn, until the time or
// the count is reached. Every case has its own seed; findings are printed with the command that repeats them.
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "tests/fuzz/targets.h"

namespace {

using Clock = std::chrono::steady_clock;
using dma::fuzz::Target;

struct Wanted {
  double seconds = 10;
  std::uint64_t count = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t seed = 1;
  bool one_case = false;  // only the case of this seed
  std::vector<std::string> targets;
};

[[noreturn]] void refuse(const std::string& why) {
  fmt::print(stderr, "dma_fuzz: {}; usage: dma_fuzz [--seconds n] [--count n] [--seed s | --case s] [target...]\n",
             why);
  std::exit(2);
}

double number(const char* text) {
  char* end = nullptr;
  const double value = std::strtod(text, &end);
  if (*text == '\0' || *end != '\0' || !(value >= 0)) refuse(fmt::format("'{}' is not a number of at least 0", text));
  return value;
}

Wanted wanted(int count, char** arguments) {
  Wanted w;
  for (int i = 1; i < count; ++i) {
    const std::string argument = arguments[i];
    const auto value = [&] { return i + 1 < count ? arguments[++i] : ""; };
    if (argument == "--seconds") w.seconds = number(value());
    else if (argument == "--count")
      w.count = static_cast<std::uint64_t>(std::min(number(value()), 1e18)), w.seconds = 1e18;
    else if (argument == "--seed") w.seed = std::strtoull(value(), nullptr, 10);
    else if (argument == "--case") w.seed = std::strtoull(value(), nullptr, 10), w.one_case = true;
    else w.targets.push_back(argument);
  }
  for (const std::string& name : w.targets)
    if (std::ranges::find(dma::fuzz::targets(), name, &Target::name) == dma::fuzz::targets().end())
      refuse(fmt::format("there is no target '{}'", name));
  return w;
}

// Returns true if nothing was found. The parent process detects crashes: if the variable DMA_FUZZ_TRACE is set, each
// case is printed before it runs.
bool attack(const Target& target, const Wanted& w) {
  static const bool trace = std::getenv("DMA_FUZZ_TRACE") != nullptr;
  const auto start = Clock::now();
  std::uint64_t made = 0, cases = 0;
  double seconds = 0;
  while (made < w.count && seconds < w.seconds) {
    const std::uint64_t seed = w.one_case ? w.seed : w.seed * 0x9e3779b97f4a7c15 + ++cases;
    if (trace) fmt::print(stderr, "{} --case {}\n", target.name, seed);
    try {
      dma::fuzz::Choices choices(seed);
      made += target.run(choices);
    } catch (const std::exception& e) {
      fmt::print("{}: FOUND {}\n  again: dma_fuzz --case {} {}\n", target.name, e.what(), seed, target.name);
      return false;
    }
    seconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (w.one_case) break;
  }
  fmt::print("{}: {} {}, nothing found ({:.1f} s, {:.3g} a second)\n", target.name, made, target.unit, seconds,
             static_cast<double>(made) / seconds);
  std::fflush(stdout);
  return true;
}

}  // namespace

int main(int count, char** arguments) {
  Wanted w = wanted(count, arguments);
  // Commands flush every file to the disk; files in memory need no flush.
  if (std::filesystem::is_directory("/dev/shm")) setenv("TMPDIR", "/dev/shm", 0);
  std::vector<const Target*> chosen;
  for (const Target& target : dma::fuzz::targets())
    if (w.targets.empty() || std::ranges::find(w.targets, target.name) != w.targets.end()) chosen.push_back(&target);
  w.seconds /= static_cast<double>(chosen.size());
  bool nothing = true;
  for (const Target* target : chosen) nothing &= attack(*target, w);
  return nothing ? 0 : 1;
}
