// The classes of rows, from their names.
#pragma once

#include <Eigen/Core>
#include <string>
#include <string_view>
#include <vector>

namespace dma {

struct ClassLabels {
  std::vector<std::string> names;     // sorted: by value if all are numbers, otherwise as text
  std::vector<Eigen::Index> of_rows;  // in names

  static ClassLabels of(const std::vector<std::string>& labels);  // from the label of each row
  std::vector<std::size_t> counts() const;                        // rows of each class
};

// An Error that begins with `where` unless there are two classes or more and each has two rows or more: of a class seen
// once nothing is learned that could be checked.
void check_classes(const ClassLabels& labels, std::string_view where);

}  // namespace dma
