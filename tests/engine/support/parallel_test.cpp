#include "engine/support/parallel.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

using namespace dma;

TEST_CASE("parallel_for: every task is done once, for any number of jobs") {
  for (const std::size_t jobs : {0u, 1u, 2u, 7u, 100u})
    for (const std::size_t count : {0u, 1u, 5u, 60u}) {
      std::vector<std::atomic<int>> calls(count);
      parallel_for(count, jobs, [&](std::size_t i) { ++calls[i]; });
      for (const auto& c : calls) CHECK(c == 1);
    }
  CHECK(all_processors() >= 1);
}

TEST_CASE("parallel_for: the first of several failures is thrown, and all tasks before it are done") {
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

TEST_CASE("thread pool: many loops, one after the other, do every task once and throw what the first failure threw") {
  for (const std::size_t jobs : {1u, 2u, 5u}) {
    ThreadPool pool(jobs);
    CHECK(pool.jobs() == jobs);
    std::size_t sum = 0;
    for (std::size_t loop = 0; loop < 200; ++loop) {
      std::vector<std::size_t> calls(loop % 7);
      pool.run(calls.size(), [&](std::size_t i) { calls[i] += i + 1; });
      for (std::size_t i = 0; i < calls.size(); ++i) sum += calls[i] == i + 1 ? 0 : 1;
    }
    CHECK(sum == 0);
    std::vector<int> begun(40);
    CHECK_THROWS_WITH(pool.run(begun.size(),
                               [&](std::size_t i) {
                                 begun[i] = 1;
                                 if (i >= 20) throw std::runtime_error(std::to_string(i));
                               }),
                      "20");
    CHECK(std::count(begun.begin(), begun.begin() + 21, 1) == 21);
    std::atomic<int> after = 0;
    pool.run(10, [&](std::size_t) { ++after; });
    CHECK(after == 10);
  }
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // sanitizers would run out of memory
TEST_CASE("parallel: if the system grants only some threads, they do all of the work") {
  constexpr std::size_t kAsked = 64, kTasks = 1000;
  constexpr rlim_t kRoom = 100 << 20;  // for the stacks of a few threads, 8 MiB each
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  REQUIRE(pages > 0);
  rlimit before = {};
  REQUIRE(getrlimit(RLIMIT_AS, &before) == 0);
  std::vector<int> alone(kTasks), pooled(kTasks);
  const rlimit less = {pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + kRoom, before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_AS, &less) == 0);
  parallel_for(kTasks, kAsked, [&](std::size_t i) { ++alone[i]; });
  std::size_t granted = 0;
  {
    ThreadPool pool(kAsked);
    granted = pool.jobs();
    pool.run(kTasks, [&](std::size_t i) { ++pooled[i]; });
  }
  setrlimit(RLIMIT_AS, &before);
  CHECK(granted < kAsked);
  CHECK(alone == std::vector<int>(kTasks, 1));
  CHECK(pooled == std::vector<int>(kTasks, 1));
}
#endif
