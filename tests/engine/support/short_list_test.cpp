// The lists of graph nodes, against the containers of the standard library.
#include "engine/support/lists.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>


namespace {

using namespace dma;

// Too long for the small-string optimisation: the sanitizers detect lost or doubled memory.
std::string item(std::size_t i) { return "an item with a long enough name, number " + std::to_string(i); }

template <std::size_t kFew>
bool equal(const ShortList<std::string, kFew>& list, const std::vector<std::string>& expected) {
  return std::vector<std::string>(list.begin(), list.end()) == expected && list.size() == expected.size() &&
         list.empty() == expected.empty();
}

}  // namespace

TEST_CASE_TEMPLATE("short_list: holds what a vector holds, within its few places and beyond", List,
                   ShortList<std::string, 1>, ShortList<std::string, 2>, ShortList<std::string, 5>) {
  for (std::size_t size = 0; size < 8; ++size) {
    CAPTURE(size);
    List list;
    std::vector<std::string> expected;
    for (std::size_t i = 0; i < size; ++i) list.push_back(item(i)), expected.push_back(item(i));
    CHECK(equal(list, expected));
    CHECK(list == List(expected.begin(), expected.end()));

    List copy(list), assigned{item(90), item(91), item(92)};
    assigned = copy;
    CHECK((equal(copy, expected) && equal(assigned, expected)));
    List moved(std::move(copy)), taken{item(90), item(91), item(92)};
    taken = std::move(assigned);
    CHECK((equal(moved, expected) && equal(taken, expected)));

    list.append(expected.begin(), expected.end());
    expected.insert(expected.end(), moved.begin(), moved.end());
    CHECK(equal(list, expected));
    list.clear();
    list.emplace_back(item(7));
    CHECK(equal(list, {item(7)}));
  }
}

TEST_CASE("short_list: a place beyond the end is refused by at()") {
  const ShortList<double> list(3, 0.5);
  CHECK(list.at(2) == 0.5);
  CHECK_THROWS_AS(list.at(3), std::out_of_range);
}

TEST_CASE("seldom: reads as the container it stands for, empty or not") {
  MostlyEmpty<std::string> name;
  CHECK((name.empty() && name == "" && name.size() == 0));
  name = item(1);
  const MostlyEmpty<std::string> copy = name;
  name = std::string();
  CHECK((name.empty() && copy == item(1) && copy[0] == 'a'));
  const MostlyEmpty<std::vector<int>> table(std::vector{3, 1, 2});
  CHECK(std::vector<int>(table.begin(), table.end()) == std::vector{3, 1, 2});
}
