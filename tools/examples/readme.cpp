#include <dma.h>
#include <fmt/core.h>

int main() {
  using namespace dma;
  // Three parcels, each weighed on two scales; each scale has an unknown offset.
  Model m;
  auto weight = m.gaussian("weight", 3, {.mean = 4, .sd = 3});
  auto offset = m.gaussian("offset", 2, {.sd = 0.5});
  m.observe(weight[{0, 1, 2, 0, 1, 2}] + offset[{0, 0, 0, 1, 1, 1}], {2.1, 3.0, 5.2, 2.6, 3.4, 8.9},
            noise({.sd = 0.2}));

  for (const Answer& answer : {solve(m, flooding()), solve(m)})
    fmt::print("{}\n  {}\n", answer, answer[weight]);
}
