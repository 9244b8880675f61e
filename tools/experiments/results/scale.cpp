// A million variables: seconds and memory of chains, trees and squares, by sweeps and jointly, and of a dense Gaussian
// process (tools/docs/peers.md). From the root of the repository:
//
//   g++ -std=c++20 -O2 -I. -Imodels/public tools/experiments/results/scale.cpp -o scale build/libdma_models.a
//     build/libdma_factors.a build/libdma_schedules.a build/libdma_engine.a -lfmt
//   ./scale chain sweeps; ./scale tree joint; ./scale square joint; ./scale process joint 2000
#include <dma.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <cmath>
#include <ctime>

namespace {

using namespace dma;

double seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// Both ends of the edges of a binary tree, or of a square.
std::pair<std::vector<std::uint32_t>, std::vector<std::uint32_t>> edges(const std::string& shape, std::uint32_t size) {
  std::vector<std::uint32_t> from, to;
  const auto add = [&](std::uint32_t a, std::uint32_t b) { from.push_back(a), to.push_back(b); };
  const auto side = static_cast<std::uint32_t>(std::lround(std::sqrt(size)));
  for (std::uint32_t i = 0; i < size; ++i)
    if (shape == "tree") {
      if (i > 0) add((i - 1) / 2, i);
    } else {
      if ((i + 1) % side != 0) add(i, i + 1);
      if (i + side < size) add(i, i + side);
    }
  return {from, to};
}

}  // namespace

int main(int count, char** words) {
  const std::string shape = words[1], way = words[2];
  const auto size = static_cast<std::uint32_t>(count > 3 ? std::stoul(words[3]) : 1000000);
  std::vector<double> places, seen;
  for (std::uint32_t i = 0; i < size; ++i) {
    const double t = i;
    places.push_back(0.01 * t);
    seen.push_back(std::sin(1e-3 * t) + 0.5 * std::sin(12.9898 * t * t));
  }
  const double start = seconds();
  Graph g;
  const auto x = g.variable("x", size), y = g.observed("y", size);
  g.factor("gaussian_noise", {x, y}, {{"variance", 0.25}});
  if (shape == "process") {
    (void)gaussian_process(g, x, places, {.shape = "matern52", .lengths = {1.0}});
  } else if (shape == "chain") {
    g.factor("gaussian_prior", {gather(x, {0})}, {{"mean", 0.0}, {"variance", 1.0}});
    g.factor("gaussian_noise", {shift(x), x}, {{"variance", 0.01}});
  } else {
    const auto [from, to] = edges(shape, size);
    g.factor("gaussian_noise", {gather(x, from), gather(x, to)}, {{"variance", 0.01}});
  }
  const Registry registry = standard_registry();
  const Plan plan = way == "joint" ? compile(g, joint({.memory = std::uint64_t{16} << 30}), registry)
                                   : compile(g, forward_backward(), registry);
  State state(plan);
  state.observe(y, seen);
  const double compiled = seconds();
  const Report report = run(plan, state);
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  fmt::print("{}\n{:.2f} s to compile, {:.2f} s to run, {:.0f} bytes per variable\n", report, compiled - start,
             seconds() - compiled, 1024.0 * static_cast<double>(usage.ru_maxrss) / size);
}
