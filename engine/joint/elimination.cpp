#include "engine/joint/elimination.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "engine/joint/ordering.h"
#include "engine/support/text.h"

namespace dma::joint_system {

namespace {

// A sparse factor that fills more than this fraction of the triangle is slower than a dense one.
constexpr double kDenseFraction = 0.4;
// Fewer unknowns are always one dense front.
constexpr std::uint32_t kFew = 24;
// Bytes per number of the factor, with its number of the inverse; bytes per entry of a neighbour list, with the copies
// made by the ordering (a dense factor takes as much per pair of unknowns).
constexpr std::uint64_t kBytesPerFilled = 16, kBytesPerNeighbour = 24;

double triangle(double n) { return 0.5 * n * (n + 1); }

// Later positions of each front, while fronts are formed.
struct Forming {
  std::uint32_t first, columns;
  Indices later;
};

// True if a child should be merged with its parent although the merged front stores zeros: a front has an overhead of
// about twenty multiplications.
bool is_worth_joining(const Forming& child, const Forming& parent) {
  const double own = child.columns, size = own + static_cast<double>(child.later.size());
  const double joined = own + parent.columns + static_cast<double>(parent.later.size());
  const double zeros = own * (joined - size);
  return zeros == 0 || (joined <= 8 && zeros <= 3 * own) || (joined <= 64 && zeros <= 0.1 * own * size);
}

class Analysis {
 public:
  Analysis(RowPattern& rows, const EliminationLimits& limits) : rows_(rows), limits_(limits), n_(rows.unknowns) {}

  Elimination run() {
    out_.unknowns = n_;
    const Indices different = different_rows(rows_);
    std::size_t widest = 0;
    for (const std::uint32_t r : different) widest = std::max(widest, rows_.row(r).size());
    // A row of k numbers alone fills a triangle of k.
    if (n_ <= kFew || triangle(static_cast<double>(widest)) >= kDenseFraction * triangle(n_)) {
      be_dense();
    } else {
      // Check before allocating: the factor of the widest row, and the neighbours.
      check_need(kBytesPerFilled * triangle(static_cast<double>(widest)));
      const std::uint64_t most = limits_.bytes / kBytesPerNeighbour;
      if (auto found = neighbours(rows_, different, most))
        graph_ = std::move(*found);
      else
        check_need(static_cast<double>(kBytesPerNeighbour * (most + 1)));
      fill_ = n_ + graph_.list.size() / 2;
      if (!is_nearly_dense()) order_and_form();
      if (is_nearly_dense()) be_dense();
    }
    lay_out();
    place_rows();
    return std::move(out_);
  }

 private:
  bool is_nearly_dense() const { return static_cast<double>(fill_) > kDenseFraction * triangle(n_); }

  // Lower bound on the bytes needed.
  void check_need(double bytes) const {
    if (bytes > static_cast<double>(limits_.bytes))
      fail(
          "joint: the factor of {} unknowns needs at least {:.3g} GB, more than the limit of {:.3g} GB; raise "
          "joint({{.memory = ...}}) or solve by sweeps",
          n_, bytes / 1e9, static_cast<double>(limits_.bytes) / 1e9);
  }

  void be_dense() {
    out_.position.resize(n_);
    std::iota(out_.position.begin(), out_.position.end(), 0u);
    out_.unknown = out_.position;
    graph_ = {};
    forming_.clear();
    if (n_ > 0) forming_.push_back({0, n_, {}});
  }

  void order_and_form() {
    Indices order = minimum_degree(graph_, n_);
    Indices position(n_);
    for (std::uint32_t k = 0; k < n_; ++k) position[order[k]] = k;
    const Indices parent = elimination_tree(graph_, order, position);
    const Indices post = post_order(parent);
    Indices moved(n_), parent_after(n_, kNowhere);
    for (std::uint32_t k = 0; k < n_; ++k) moved[post[k]] = k;
    for (std::uint32_t k = 0; k < n_; ++k)
      if (parent[k] != kNowhere) parent_after[moved[k]] = moved[parent[k]];
    out_.unknown.resize(n_);
    for (std::uint32_t k = 0; k < n_; ++k) out_.unknown[k] = order[post[k]];
    for (std::uint32_t k = 0; k < n_; ++k) position[out_.unknown[k]] = k;
    out_.position = std::move(position);
    form_fronts(parent_after);
  }

  // Column by column: a column meets later the columns of its rows and of its children. A finished front whose parent
  // is the next column is merged with it if that pays.
  void form_fronts(const Indices& parent) {
    Indices mark(n_, kNowhere);
    std::vector<std::uint32_t> top;  // stack of fronts whose parent is not reached yet
    Indices parent_column;           // by front
    forming_.clear();
    fill_ = 0;
    for (std::uint32_t j = 0; j < n_; ++j) {
      Forming own{j, 1, {}};
      mark[j] = j;
      const auto meet = [&](std::uint32_t i) {
        if (i > j && mark[i] != j) {
          mark[i] = j;
          own.later.push_back(i);
        }
      };
      for (const std::uint32_t v : graph_.of(out_.unknown[j])) meet(out_.position[v]);
      for (std::size_t t = top.size(); t-- > 0 && parent_column[top[t]] == j;)
        for (const std::uint32_t i : forming_[top[t]].later) meet(i);
      std::ranges::sort(own.later);
      fill_ += own.later.size() + 1;
      check_need(static_cast<double>(kBytesPerFilled * fill_));
      // Only the previous front can be merged: its columns end where this one begins.
      if (!top.empty() && top.back() + 1 == forming_.size() && parent_column[top.back()] == j &&
          is_worth_joining(forming_.back(), own)) {
        Forming& child = forming_.back();
        child.columns += 1;
        child.later = std::move(own.later);
        top.pop_back();
        parent_column.pop_back();
        while (!top.empty() && parent_column[top.back()] == j) top.pop_back();
      } else {
        while (!top.empty() && parent_column[top.back()] == j) top.pop_back();
        forming_.push_back(std::move(own));
      }
      parent_column.resize(forming_.size(), kNowhere);
      parent_column.back() = parent[j];
      if (parent[j] != kNowhere) top.push_back(static_cast<std::uint32_t>(forming_.size() - 1));
    }
  }

  void lay_out() {
    out_.front_of.resize(n_);
    std::uint64_t indices = 0, stack = 0;
    std::vector<std::uint64_t> children(forming_.size());
    for (std::uint32_t f = 0; f < forming_.size(); ++f) {
      const Forming& from = forming_[f];
      Elimination::Front& front = out_.fronts.emplace_back();
      front.first = from.first;
      front.columns = from.columns;
      front.size = from.columns + static_cast<std::uint32_t>(from.later.size());
      front.indices = indices;
      front.panel = out_.panels;
      front.square = out_.squares;
      indices += from.later.size();
      out_.panels += std::uint64_t{front.size} * front.columns;
      out_.squares += std::uint64_t{front.size} * front.size;
      out_.largest = std::max(out_.largest, front.size);
      for (std::uint32_t c = 0; c < from.columns; ++c) out_.front_of[from.first + c] = f;
      out_.later.insert(out_.later.end(), from.later.begin(), from.later.end());
    }
    for (std::uint32_t f = 0; f < forming_.size(); ++f) {
      Elimination::Front& front = out_.fronts[f];
      const std::uint64_t update = std::uint64_t{front.below()} * front.below();
      stack = stack - children[f] + update;
      out_.stack = std::max(out_.stack, stack + children[f]);
      if (forming_[f].later.empty()) continue;
      front.parent = out_.front_of[forming_[f].later[0]];
      children[front.parent] += update;
      const Elimination::Front& parent = out_.fronts[front.parent];
      const Indices& list = forming_[front.parent].later;
      for (const std::uint32_t p : forming_[f].later)
        out_.in_parent.push_back(
            p < parent.first + parent.columns
                ? p - parent.first
                : parent.columns + static_cast<std::uint32_t>(std::ranges::lower_bound(list, p) - list.begin()));
    }
    out_.fronts.emplace_back().first = n_;
    if (out_.bytes() > limits_.bytes)
      fail(
          "joint: {} unknowns need {:.3g} GB, more than the limit of {:.3g} GB; raise joint({{.memory = ...}}) or "
          "solve by sweeps",
          n_, static_cast<double>(out_.bytes()) / 1e9, static_cast<double>(limits_.bytes) / 1e9);
  }

  void place_rows() {
    out_.local.resize(rows_.columns.size());
    out_.front_of_row.assign(rows_.rows(), kNowhere);
    Indices count(out_.fronts.size() + 1);
    for (std::size_t r = 0; r < rows_.rows(); ++r) {
      const std::uint32_t begin = rows_.first[r], end = rows_.first[r + 1];
      if (begin == end) continue;
      std::sort(rows_.columns.begin() + begin, rows_.columns.begin() + end,
                [&](std::uint32_t a, std::uint32_t b) { return out_.position[a] < out_.position[b]; });
      const std::uint32_t f = out_.front_of[out_.position[rows_.columns[begin]]];
      const Elimination::Front& front = out_.fronts[f];
      const Indices& list = forming_[f].later;
      auto from = list.begin();
      for (std::uint32_t k = begin; k < end; ++k) {
        const std::uint32_t p = out_.position[rows_.columns[k]];
        if (p >= front.first + front.columns) from = std::lower_bound(from, list.end(), p);
        out_.local[k] = p < front.first + front.columns
                            ? p - front.first
                            : front.columns + static_cast<std::uint32_t>(from - list.begin());
      }
      out_.front_of_row[r] = f;
      ++count[f + 1];
    }
    std::partial_sum(count.begin(), count.end(), count.begin());
    for (std::size_t f = 0; f < out_.fronts.size(); ++f) out_.fronts[f].rows = count[f];
    out_.rows.resize(count.back());
    for (std::uint32_t r = 0; r < rows_.rows(); ++r)
      if (out_.front_of_row[r] != kNowhere) out_.rows[count[out_.front_of_row[r]]++] = r;
  }

  RowPattern& rows_;
  const EliminationLimits limits_;
  const std::uint32_t n_;
  Neighbours graph_;
  std::vector<Forming> forming_;
  std::uint64_t fill_ = 0;
  Elimination out_;
};

}  // namespace

Elimination eliminate(RowPattern& rows, const EliminationLimits& limits) { return Analysis(rows, limits).run(); }

std::string Elimination::text() const {
  const double fraction = unknowns == 0 ? 0 : static_cast<double>(panels) / triangle(unknowns);
  if (fronts.size() <= 2)
    return fmt::format("dense Cholesky: {} unknowns, {:.3g} MB", unknowns, static_cast<double>(bytes()) / 1e6);
  return fmt::format("sparse Cholesky: {} unknowns in {} fronts of at most {}, {:.3g} % of a dense factor, {:.3g} MB",
                     unknowns, fronts.size() - 1, largest, 100 * fraction, static_cast<double>(bytes()) / 1e6);
}

}  // namespace dma::joint_system
