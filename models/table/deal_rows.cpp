#include "models/table/deal_rows.h"

#include <numeric>

#include "engine/learn/worker_team.h"
#include "engine/support/shuffle.h"

namespace dma {

namespace {

// Splitmix64: a stream of its own for every hand, which costs nothing to begin.
struct Draw {
  std::uint64_t state;
  std::uint64_t operator()() {
    std::uint64_t x = state += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }
};

// Who gets the rows of one hand, in their order.
void draw_hand(std::size_t hand, std::uint64_t seed, std::vector<std::size_t>& workers) {
  std::iota(workers.begin(), workers.end(), std::size_t{0});
  Draw mixed{seed}, draw{mixed() ^ (hand * 0xd1342543de82ef95)};
  shuffle(workers, [&](std::size_t n) { return draw() % n; });
}

}  // namespace

std::vector<std::size_t> workers_of_rows(std::size_t rows, std::size_t workers, std::uint64_t seed) {
  std::vector<std::size_t> dealt(rows), hand(workers);
  for (std::size_t first = 0; first < rows; first += workers) {
    const bool is_whole = rows - first >= workers;
    if (is_whole) draw_hand(first / workers, seed, hand);
    for (std::size_t i = 0; i < workers && first + i < rows; ++i) dealt[first + i] = is_whole ? hand[i] : i;
  }
  return dealt;
}

std::vector<Eigen::Index> deal_rows(std::size_t rows, std::size_t workers, std::uint64_t seed) {
  const std::vector<std::size_t> dealt = workers_of_rows(rows, workers, seed);
  std::vector<std::size_t> next(workers);  // place of a worker's next row
  for (std::size_t w = 1; w < workers; ++w) next[w] = next[w - 1] + Partition::count_examples(w - 1, workers, rows);
  std::vector<Eigen::Index> order(rows);
  for (std::size_t n = 0; n < rows; ++n) order[next[dealt[n]]++] = static_cast<Eigen::Index>(n);
  return order;
}

}  // namespace dma
