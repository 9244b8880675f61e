#include "tools/dma/io/made_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/poisson_distribution.hpp>
#include <boost/random/uniform_int_distribution.hpp>
#include <boost/random/uniform_real_distribution.hpp>
#include <chrono>
#include <cmath>
#include <iterator>
#include <numbers>
#include <vector>

#include "engine/support/text.h"

namespace dma {

namespace {

class Draws {
 public:
  explicit Draws(std::uint64_t seed) : random_(seed) {}

  double normal(double sd) { return sd * boost::random::normal_distribution<double>()(random_); }
  double between(double low, double high) {
    return boost::random::uniform_real_distribution<double>(low, high)(random_);
  }
  std::size_t below(std::size_t count) {
    return boost::random::uniform_int_distribution<std::size_t>(0, count - 1)(random_);
  }
  int count(double mean) { return boost::random::poisson_distribution<int>(mean)(random_); }

 private:
  boost::random::mt19937_64 random_;
};

double wave(std::size_t t, double period) { return std::sin(2 * std::numbers::pi * static_cast<double>(t) / period); }

std::string month(std::size_t t) { return fmt::format("{}-{:02}", 2015 + t / 12, t % 12 + 1); }

std::string day(std::size_t t) {
  using namespace std::chrono;
  const year_month_day date{sys_days(year(2023) / 1 / 2) + days(static_cast<int>(t))};  // a Monday
  return fmt::format("{}-{:02}-{:02}", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()));
}

std::string made_sales(Draws& draws, std::size_t steps) {
  std::string text = "month,promotion,sales\n";
  double level = 5;
  for (std::size_t t = 0; t < steps; ++t) {
    const bool is_promoted = draws.between(0, 1) < 0.15;
    level += 0.006 + draws.normal(0.01);
    const double value =
        std::exp(level + 0.15 * wave(t, 12) + 0.08 * wave(t, 6) + 0.1 * is_promoted + draws.normal(0.03));
    text += fmt::format("{},{},{}\n", month(t), is_promoted ? 1 : 0, t % 29 == 17 ? "" : fmt::format("{:.1f}", value));
  }
  return text;
}

std::string made_patients(Draws& draws, std::size_t steps) {
  std::string text = "day,patients\n";
  const double week[] = {0.25, 0.1, 0.05, 0, 0.05, -0.2, -0.25};
  double level = 3.6;
  for (std::size_t t = 0; t < steps; ++t) {
    level += draws.normal(0.02);
    text += fmt::format("{},{}\n", day(t), draws.count(std::exp(level + week[t % 7])));
  }
  return text;
}

std::string made_cycle(Draws& draws, std::size_t steps) {
  std::string text = "year,activity\n";
  double now = 0.6, before = 0;
  for (std::size_t t = 0; t < steps; ++t) {
    const double next = 1.55 * now - 0.85 * before + draws.normal(0.2);  // a period of 11 years
    before = now, now = next;
    text += fmt::format("{},{:.1f}\n", 1850 + t, std::exp(3.5 + 0.8 * now));
  }
  return text;
}

std::string made_walk(Draws& draws, std::size_t steps) {
  std::string text = "day,reading\n";
  double level = 20;
  for (std::size_t t = 0; t < steps; ++t)
    text += fmt::format("{},{:.2f}\n", day(t), (level += draws.normal(0.5)) + draws.normal(1));
  return text;
}

}  // namespace

std::string made_table(std::uint64_t seed, std::size_t rows, bool with_classes) {
  Draws draws(seed);
  std::string text = fmt::format("x1,x2,x3,x4,{}\n", with_classes ? "class" : "y");
  for (std::size_t i = 0; i < rows; ++i) {
    double x[4];
    for (double& value : x) value = draws.between(-1, 1);
    const double y = std::sin(2 * x[0]) + x[1] * x[1] - x[2] + draws.normal(0.2);
    text += fmt::format("{:.4f},{:.4f},{:.4f},{:.4f},{}\n", x[0], x[1], x[2], x[3],
                        !with_classes ? fmt::format("{:.4f}", y)
                        : y < -0.1    ? "low"
                        : y < 0.8     ? "middle"
                                      : "high");
  }
  return text;
}

std::string made_series(std::uint64_t seed, const std::string& kind, std::size_t steps) {
  Draws draws(seed);
  if (kind == "sales") return made_sales(draws, steps);
  if (kind == "patients") return made_patients(draws, steps);
  if (kind == "cycle") return made_cycle(draws, steps);
  if (kind == "walk") return made_walk(draws, steps);
  const std::string known[] = {"sales", "patients", "cycle", "walk"};
  fail("--kind: there is no series '{}'{}", kind, suggestion(kind, known));
}

std::string made_games(std::uint64_t seed, std::size_t players, std::size_t games) {
  const char* const names[] = {"Ann", "Ben", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hana"};
  Draws draws(seed);
  std::vector<std::string> who;
  std::vector<double> skill;
  for (std::size_t i = 0; i < players; ++i) {
    who.push_back(i < std::size(names) ? names[i] : fmt::format("Player {}", i + 1));
    skill.push_back(25 + draws.normal(5));
  }
  std::string text = "winner,loser\n";
  for (std::size_t g = 0; g < games; ++g) {
    const std::size_t a = draws.below(players), b = (a + 1 + draws.below(players - 1)) % players;
    const bool first_wins = skill[a] + draws.normal(4) > skill[b] + draws.normal(4);
    text += fmt::format("{},{}\n", who[first_wins ? a : b], who[first_wins ? b : a]);
  }
  return text;
}

}  // namespace dma
