// Which worker learns which rows of a table.
#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <vector>

namespace dma {

// Of every `workers` rows in a row each worker gets one, drawn by the seed, so that a sorted table, or one that repeats
// itself, is the same to all of them. Of the rows left in the end the first workers get one each.
std::vector<std::size_t> workers_of_rows(std::size_t rows, std::size_t workers, std::uint64_t seed);

// All rows, those of the first worker first, each worker's in their order.
std::vector<Eigen::Index> deal_rows(std::size_t rows, std::size_t workers, std::uint64_t seed);

}  // namespace dma
