// A robot's program: it knows the kinds that it uses and no others, so that it is linked without the rest. A cart rolls
// along a wall, and its distance from a beacon three metres off that wall is read every step.
#include <dma.h>

#include <array>
#include <cmath>
#include <cstdio>

namespace {

using namespace dma;

Registry own_kinds() {
  Registry registry = joint_registry();
  registry.add(factor_from_vector_function("distance", 1, 1, [](auto x, auto) {
    using std::sqrt;
    return std::array{sqrt(x[0] * x[0] + 9.0)};
  }));
  return registry;
}

class Cart {
 public:
  // Once the first windows are compiled, an update throws nothing and allocates nothing.
  double step(double distance) noexcept {
    Graph& g = window_.graph();
    const VariableId x = g.variable(""), v = g.variable(""), d = g.variable(""), y = g.observed("");
    if (steps_++ == 0) {
      g.factor("gaussian_prior", {x}, {{"mean", 1.0}, {"variance", 1.0}});
      g.factor("gaussian_prior", {v}, {{"mean", 0.0}, {"variance", 1.0}});
    } else {
      g.factor("gaussian_linear", {{"x", x_}, {"x", v_}, {"y", x}}, {{"A", {1.0, 0.1}}, {"variance", 1e-4}});
      g.factor("gaussian_noise", {v_, v}, {{"variance", 1e-3}});
    }
    g.factor("distance", {x, d});
    g.factor("gaussian_noise", {d, y}, {{"variance", 0.01}});
    window_.observe(y, {distance});
    converged_ = window_.update().converged();
    x_ = x, v_ = v;
    return window_.belief(x).mean();
  }
  bool has_converged() const { return converged_; }

 private:
  GrowingGraph window_{own_kinds(), {.lag = 5, .cases = nullptr}};
  VariableId x_{0}, v_{0};
  int steps_ = 0;
  bool converged_ = false;
};

// Number of threads of this process; 1 where the system does not say.
int threads() {
  int count = 1;
  if (std::FILE* const status = std::fopen("/proc/self/status", "r")) {
    char line[256];
    while (std::fgets(line, sizeof line, status) != nullptr) (void)std::sscanf(line, "Threads: %d", &count);
    std::fclose(status);
  }
  return count;
}

}  // namespace

int main() {
  Cart cart;
  double worst = 0;
  for (int t = 0; t < 500; ++t) {
    const double at = 2 + std::sin(0.05 * t), noise = 0.1 * std::sin(37.0 * t);
    const double error = std::abs(cart.step(std::sqrt(at * at + 9) + noise) - at);
    if (t > 50) worst = std::fmax(worst, error);
  }
  std::printf("never farther than %.2f m from where it is; %d thread\n", worst, threads());
  return cart.has_converged() && worst < 0.5 && threads() == 1 ? 0 : 1;
}
