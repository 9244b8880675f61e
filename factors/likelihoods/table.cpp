#include "factors/likelihoods/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/support/error.h"

namespace dma {

namespace {

// Working memory that is kept: after the first messages of a thread nothing is allocated.
struct TableMemory {
  std::vector<double> weights, sums;
  std::vector<std::size_t> at, first;
};

TableMemory& table_memory() {
  thread_local TableMemory memory;
  return memory;
}

// The weights of a message; what is allowed stays above zero however small it is.
template <class Lane>
void weigh(std::span<const Lane> message, double* out) {
  constexpr double kSmallest = 1e-150;  // the product of two is a number still
  Categorical::weights(message, out);
  for (std::size_t k = 0; k < message.size(); ++k)
    if (message[k].rho == 0) out[k] = std::max(out[k], kSmallest);
}

// Calls visit(combination of the parents, its row of the table), memory.at being the combination.
template <class Visit>
void for_each_row(Table::Parameters p, TableMemory& memory, const Visit& visit) {
  const std::size_t parents = p.parents(), child = p.child();
  memory.at.assign(parents, 0);
  memory.first.assign(parents, 0);
  for (std::size_t j = 1; j < parents; ++j) memory.first[j] = memory.first[j - 1] + p.categories(j - 1);
  for (const double* row = p.probabilities();; row += child) {
    visit(row);
    std::size_t j = parents;
    while (j > 0 && ++memory.at[j - 1] == p.categories(j - 1)) memory.at[--j] = 0;
    if (j == 0) return;
  }
}

double product_of_all_but(std::size_t own, const TableMemory& memory) {
  double product = 1;
  for (std::size_t j = 0; j < memory.at.size(); ++j)
    if (j != own) product *= memory.weights[memory.first[j] + memory.at[j]];
  return product;
}

// The logs, the largest being 0. Where nothing is possible the message is not a number, which the engine refuses and counts.
void put_into_lanes(std::span<const double> weights, std::span<CategoricalLane> out) {
  const double largest = std::ranges::max(weights);
  for (std::size_t k = 0; k < out.size(); ++k)
    out[k] = weights[k] > 0 ? CategoricalLane(std::log(weights[k] / largest), 0)
             : largest > 0  ? CategoricalLane::forbidden()
                            : CategoricalLane(std::nan(""), 0);
}

constexpr std::size_t kNoParent = static_cast<std::size_t>(-1);

}  // namespace

void check_probabilities(std::span<const double> numbers, std::size_t categories) {
  constexpr double kRounding = 1e-9;
  if (numbers.size() != categories)
    fail("{} numbers are given; {} are expected, one for each category", numbers.size(), categories);
  for (const double x : numbers)
    if (!(x >= 0)) fail("a probability is {}; it must be in [0, 1]", x);
  const double sum = std::accumulate(numbers.begin(), numbers.end(), 0.0);
  if (!(std::abs(sum - 1) <= kRounding)) fail("the probabilities have the sum {}; it must be 1", sum);
}

std::vector<double> Table::prepare(std::span<const double> given, const PortLanes& lanes) {
  const auto& parents = lanes[0];
  const std::size_t child = lanes[1][0];
  std::size_t rows = 1;
  for (const std::uint32_t categories : parents) rows *= categories;
  if (given.size() != rows * child)
    fail("{} numbers are given; {} are expected: {} combinations of the parents, and for each the {} categories of the child",
         given.size(), rows * child, rows, child);
  for (std::size_t r = 0; r < rows; ++r) try {
      check_probabilities(given.subspan(r * child, child), child);
    } catch (const Error& error) {
      fail("combination {} of the parents: {}", r, error.what());
    }
  std::vector<double> prepared = {static_cast<double>(parents.size())};
  prepared.insert(prepared.end(), parents.begin(), parents.end());
  prepared.push_back(static_cast<double>(child));
  prepared.insert(prepared.end(), given.begin(), given.end());
  return prepared;
}

void Table::to_child(Message parents, Parameters p, std::span<CategoricalLane> child) {
  TableMemory& memory = table_memory();
  memory.weights.resize(parents.size());
  memory.sums.assign(child.size(), 0.0);
  for (std::size_t j = 0, first = 0; j < p.parents(); first += p.categories(j++))
    weigh(parents.subspan(first, p.categories(j)), memory.weights.data() + first);
  for_each_row(p, memory, [&](const double* row) {
    const double weight = product_of_all_but(kNoParent, memory);
    for (std::size_t k = 0; k < child.size(); ++k) memory.sums[k] += weight * row[k];
  });
  put_into_lanes(memory.sums, child);
}

void Table::to_parents(Message parents, Message child, Parameters p, std::span<CategoricalLane> out) {
  TableMemory& memory = table_memory();
  const std::size_t all = parents.size();
  memory.weights.resize(all + child.size());
  memory.sums.assign(all, 0.0);
  for (std::size_t j = 0, first = 0; j < p.parents(); first += p.categories(j++))
    weigh(parents.subspan(first, p.categories(j)), memory.weights.data() + first);
  weigh(child, memory.weights.data() + all);
  for_each_row(p, memory, [&](const double* row) {
    double weight = 0;
    for (std::size_t k = 0; k < child.size(); ++k) weight += row[k] * memory.weights[all + k];
    if (weight == 0) return;
    for (std::size_t j = 0; j < p.parents(); ++j)
      memory.sums[memory.first[j] + memory.at[j]] += weight * product_of_all_but(j, memory);
  });
  for (std::size_t j = 0, first = 0; j < p.parents(); first += p.categories(j++))
    put_into_lanes(std::span(memory.sums).subspan(first, p.categories(j)), out.subspan(first, p.categories(j)));
}

double Table::log_integral(Lanes arrivals, Parameters p) {
  TableMemory& memory = table_memory();
  memory.weights.resize(arrivals.size());
  double log_scale = 0;
  std::size_t first = 0;
  for (std::size_t j = 0; j <= p.parents(); first += p.categories(j++)) {
    const std::span<double> weights = std::span(memory.weights).subspan(first, p.categories(j));
    Categorical::weights(arrivals.subspan(first, p.categories(j)), weights.data());
    log_scale -= std::log(std::accumulate(weights.begin(), weights.end(), 0.0));
  }
  const std::size_t of_child = arrivals.size() - p.child();
  double sum = 0;
  for_each_row(p, memory, [&](const double* row) {
    double weight = 0;
    for (std::size_t k = 0; k < p.child(); ++k) weight += row[k] * memory.weights[of_child + k];
    sum += weight * product_of_all_but(kNoParent, memory);
  });
  return log_scale + std::log(sum);
}

}  // namespace dma
