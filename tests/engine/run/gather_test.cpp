// The product of all messages at an element but one: by totals, and by adding up anew for each.
#include "engine/run/gather.h"

#include <doctest/doctest.h>

#include <boost/random/mersenne_twister.hpp>
#include <boost/random/uniform_int_distribution.hpp>
#include <boost/random/uniform_real_distribution.hpp>
#include <cmath>
#include <vector>

#include "tests/oracles/relative.h"

namespace {

using namespace dma;

// `rows` of slots repeat the same neighbouring elements, after one slot at each of them (such as a prior's) and one at
// an element before.
struct Meeting {
  Meeting(std::uint32_t row_, std::uint32_t rows_) : row(row_), rows(rows_) {
    element = {0};
    for (std::uint32_t i = 0; i < (rows + 1) * row; ++i) element.push_back(1 + i % row);
    first.resize(row + 2), slots.resize(element.size());
    sort_by_element(element, first, slots);
    tau.resize(element.size()), rho.resize(element.size());
  }
  MessageArrays messages() { return {tau.data(), rho.data()}; }

  // All messages but its own, one after the other.
  Natural others(std::uint32_t slot) {
    Natural product;
    for (std::uint32_t s = 0; s < element.size(); ++s)
      if (s != slot && element[s] == element[slot]) product = multiply(product, messages()[s]);
    return product;
  }

  void check() {
    const std::uint32_t begin = 1 + row, count = rows * row, elements = row + 1;
    std::vector<double> total_tau(elements), total_rho(elements), magnitude(elements), out_tau(count), out_rho(count);
    std::vector<std::uint32_t> stamp(elements);
    const ElementTotals totals{total_tau.data(), total_rho.data(), magnitude.data(), stamp.data(), 1};
    leave_one_out(begin, count, row, {first.data(), slots.data(), element.data()}, messages(), totals,
                  {out_tau.data(), out_rho.data()});
    for (std::uint32_t k = 0; k < count; ++k) {
      const Natural expected = others(begin + k);
      double scale = 0;
      for (std::uint32_t s = 0; s < element.size(); ++s)
        if (s != begin + k && element[s] == element[begin + k] && std::isfinite(tau[s])) scale += std::abs(tau[s]);
      INFO("row ", row, ", k ", k);
      if (expected.is_point()) {
        CHECK(out_rho[k] == kInfinity);
        CHECK(out_tau[k] == expected.tau);
      } else {
        CHECK(std::abs(out_rho[k] - expected.rho) <= 1e-13 * expected.rho);
        CHECK(std::abs(out_tau[k] - expected.tau) <= 1e-13 * scale);
      }
    }
  }

  std::uint32_t row, rows;
  std::vector<std::uint32_t> element, first, slots;
  std::vector<double> tau, rho;
};

Meeting ordinary(std::uint32_t row, std::uint32_t rows) {
  Meeting meeting(row, rows);
  boost::random::mt19937_64 random(row);
  const boost::random::uniform_real_distribution<double> location(-2, 2), precision(0.5, 3);
  for (double& t : meeting.tau) t = location(random);
  for (double& r : meeting.rho) r = precision(random);
  return meeting;
}

}  // namespace

TEST_CASE("gather: rows of slots get what all others at their element say") {
  for (const std::uint32_t row : {1u, 2u, 3u, 5u, 31u, 33u, 64u, 100u})
    for (const std::uint32_t rows : {1u, 4u, 5u, 40u}) ordinary(row, rows).check();
}

TEST_CASE("gather: a message that dominates, a uniform one and a point mass are left out of the others all the same") {
  for (const std::uint32_t row : {1u, 2u, 7u, 70u}) {
    Meeting meeting = ordinary(row, 20);
    boost::random::mt19937_64 random(row);
    const auto any = [&] {
      return boost::random::uniform_int_distribution<std::size_t>(1 + row, meeting.tau.size() - 1)(random);
    };
    for (int i = 0; i < 4; ++i) {
      meeting.tau[any()] = 1e17;
      meeting.rho[any()] = 1e17;
      const std::size_t uniform = any();
      meeting.tau[uniform] = meeting.rho[uniform] = 0;
      meeting.check();
    }
    const std::size_t point = any();
    meeting.tau[point] = 3, meeting.rho[point] = kInfinity;
    meeting.check();
  }
}

TEST_CASE("gather: sums beyond the range of a double are not formed") {
  Meeting meeting = ordinary(2, 10);
  for (std::size_t i = 0; i < 4; ++i) meeting.rho[5 + i] = 1e308, meeting.tau[5 + i] = 1;
  const std::uint32_t begin = 3, count = 20;
  std::vector<double> total_tau(3), total_rho(3), magnitude(3), out_tau(count), out_rho(count);
  std::vector<std::uint32_t> stamp(3);
  const ElementTotals totals{total_tau.data(), total_rho.data(), magnitude.data(), stamp.data(), 1};
  leave_one_out(begin, count, 2, {meeting.first.data(), meeting.slots.data(), meeting.element.data()},
                meeting.messages(), totals, {out_tau.data(), out_rho.data()});
  for (std::uint32_t k = 0; k < count; ++k) {
    const Natural expected =
        all_but({meeting.first.data(), meeting.slots.data(), meeting.element.data()}, meeting.messages(), begin + k);
    CHECK(out_tau[k] == oracle::relative(expected.tau, 1e-12));
    CHECK(out_rho[k] == expected.rho);
  }
}
