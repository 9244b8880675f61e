// Checks of rows before they are learned, and a checksum that recognises them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/support/text.h"
#include "engine/support/usable.h"
#include "models/learn/table_method.h"

namespace dma {

// Each throws Error. There are rows, as many of targets as of inputs, and every value is a number.
void check_rows(const TableRows& rows, std::size_t outputs);
// There is a weight of 0 or more for every row, and one above 0.
void check_weights(const Eigen::VectorXd& weights, Eigen::Index rows);
// Rows in the units and features of a network can be computed with. No features: any number of them.
template <class X, class Y>
void check_prepared(const X& x, const Y& y, std::size_t features) {
  if (!is_moderate(x) || !is_moderate(y))
    fail("fit: values above {} overflow when they are multiplied; use other units, or let columns be standardised",
         kLargestUsable);
  if (features > 0 && static_cast<std::size_t>(x.cols()) != features)
    fail("fit: the inputs make {} features but the first layer has {}", x.cols(), features);
}

// The rows of a weight above 0.
std::vector<Eigen::Index> rows_that_count(const Eigen::VectorXd& weights);
std::uint64_t checksum_of(const TableRows& rows);

}  // namespace dma
