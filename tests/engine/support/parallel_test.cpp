#include "engine/support/parallel.h"

#include <doctest/doctest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

using namespace dma;

TEST_CASE("parallel_for: every task is done once, whatever the number of jobs") {
  for (const std::size_t jobs : {0u, 1u, 2u, 7u, 100u})
    for (const std::size_t count : {0u, 1u, 5u, 60u}) {
      std::vector<std::atomic<int>> calls(count);
      parallel_for(count, jobs, [&](std::size_t i) { ++calls[i]; });
      for (const auto& c : calls) CHECK(c == 1);
    }
  CHECK(all_processors() >= 1);
}

TEST_CASE("parallel_for: of several failures the first is thrown, and all tasks before it are done") {
  for (const std::size_t jobs : {1u, 3u}) {
    std::vector<std::atomic<int>> calls(200);
    try {
      parallel_for(calls.size(), jobs, [&](std::size_t i) {
        ++calls[i];
        if (i % 10 == 7) throw std::runtime_error(std::to_string(i));
      });
      FAIL("no exception");
    } catch (const std::runtime_error& e) {
      const auto failed = std::stoul(e.what());
      CHECK(failed % 10 == 7);
      for (std::size_t i = 0; i <= failed; ++i) CHECK(calls[i] == 1);
      CHECK(calls.back() == 0);
      if (jobs == 1) CHECK(failed == 7);
    }
  }
}
