// Deals the rows of a table to workers.
#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <vector>

namespace dma {

// Worker of every row. Each worker gets one of every `workers` consecutive rows, drawn by the seed, so that a sorted
// table, or one that repeats itself, is the same to all of them. If rows are left in the end, the first workers get one
// each.
std::vector<std::size_t> workers_of_rows(std::size_t rows, std::size_t workers, std::uint64_t seed);

// All rows, those of the first worker first, each worker's in their order.
std::vector<Eigen::Index> deal_rows(std::size_t rows, std::size_t workers, std::uint64_t seed);

}  // namespace dma
