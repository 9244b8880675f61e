// Rows of numbers whose count is not known beforehand, in blocks that the matrix takes over one by one: at no time is
// much more memory needed than their own size.
#pragma once

#include <Eigen/Dense>
#include <cstddef>
#include <cstdlib>
#include <utility>
#include <vector>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace dma {

// Pieces of a table leave gaps in memory, as large as the table, which would stay with the process.
inline void give_back_memory() {
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
}

class NumberRows {
 public:
  explicit NumberRows(std::size_t width) : width_(width) {}

  bool empty() const { return rows_ == 0; }
  // The numbers of one more row are to be put behind those that are there.
  std::vector<double>& add_row() {
    constexpr std::size_t kBlock = 1 << 17;
    if (blocks_.empty() || blocks_.back().size() > kBlock) blocks_.emplace_back();
    ++rows_;
    return blocks_.back();
  }
  void add_rows(std::vector<double> values) {
    rows_ += values.size() / width_;
    if (!values.empty()) blocks_.push_back(std::move(values));
  }

  Eigen::MatrixXd take() {
    using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    Eigen::MatrixXd matrix(static_cast<Eigen::Index>(rows_), static_cast<Eigen::Index>(width_));
    Eigen::Index first = 0;
    for (std::vector<double>& block : blocks_) {
      const auto rows = static_cast<Eigen::Index>(block.size() / width_);
      matrix.middleRows(first, rows) = Eigen::Map<const RowMajor>(block.data(), rows, matrix.cols());
      first += rows;
      std::vector<double>().swap(block);
    }
    if (blocks_.size() > 1) give_back_memory();
    blocks_.clear();
    rows_ = 0;
    return matrix;
  }

 private:
  std::size_t width_, rows_ = 0;
  std::vector<std::vector<double>> blocks_;
};

}  // namespace dma
