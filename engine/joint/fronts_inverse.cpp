// The part of Fronts that computes the inverse, and the null directions of a singular matrix.
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <utility>

#include "engine/joint/front_block.h"
#include "engine/joint/fronts.h"
#include "engine/joint/small_fronts.h"
#include "engine/support/dense.h"

namespace dma::joint_system {

namespace {

using Matrix = Eigen::MatrixXd;
using Index = Eigen::Index;

}  // namespace

void Fronts::invert() {
  if (is_by_qr_) return invert_by_qr();
  for (std::size_t f = e_->fronts.size() - 1; f-- > 0;) {
    const Elimination::Front& shape = e_->fronts[f];
    const std::size_t size = shape.size, own = shape.columns, below = shape.below();
    double* const z = squares_.data() + shape.square;
    const double* const panel = panels_.data() + shape.panel;
    if (below > 0) {
      const Elimination::Front& parent = e_->fronts[shape.parent];
      const double* const from = squares_.data() + parent.square;
      const std::uint32_t* const place = e_->in_parent.data() + shape.indices;
      for (std::size_t j = 0; j < below; ++j) {
        const double* const column = from + std::size_t{place[j]} * parent.size;
        double* const to = z + (own + j) * size + own;
        for (std::size_t i = 0; i < below; ++i) to[i] = column[place[i]];
      }
    }
    if (is_small_front(shape.size, shape.columns)) {
      small_front(shape.size, shape.columns).invert(panel, inverse_pivots_.data() + shape.first, z);
    } else if (own >= kBlocked) {
      invert_in_blocks(shape, panel, z);
    } else {
      // Column j, with u the part of U below its diagonal: z = -Z u, and 1 / pivot - u^T z in the corner.
      for (std::size_t j = own; j-- > 0;) {
        const double* const u = panel + j * size;
        double* const out = z + j * size;
        for (std::size_t i = j + 1; i < size; ++i) out[i] = 0;
        for (std::size_t c = j + 1; c < size; ++c) {
          const double factor = u[c];
          const double* const known = z + c * size;
          for (std::size_t i = j + 1; i < size; ++i) out[i] -= factor * known[i];
        }
        double corner = inverse_pivots_[shape.first + j];
        for (std::size_t i = j + 1; i < size; ++i) {
          corner -= u[i] * out[i];
          z[i * size + j] = out[i];
        }
        out[j] = corner;
      }
    }
    for (std::size_t j = 0; j < own; ++j) variance_[e_->unknown[shape.first + j]] = z[j + j * size];
  }
}

void Fronts::invert_in_blocks(const Elimination::Front& shape, const double* panel, double* z) {
  const Index size = shape.size, own = shape.columns, below = shape.below();
  const ConstFrontBlock u(panel, size, own, Eigen::OuterStride<>(size));
  const Eigen::Map<const Eigen::VectorXd> inverse_pivots(inverse_pivots_.data() + shape.first, own);
  const Matrix inverse = unit_lower_inverse(u.topRows(own));
  FrontBlock corner = block(z, size, 0, 0, own, own);
  const Matrix scaled = scaled_rows(inverse_pivots.cwiseSqrt(), inverse);
  corner = transposed_product(scaled, scaled);
  if (below == 0) return;
  const Matrix w = product_of(u.bottomRows(below), inverse);
  FrontBlock side = block(z, size, own, 0, below, own);
  side = -product_of(block(z, size, own, own, below, below), w);
  add_transposed_product(corner, w, side, -1);
  block(z, size, 0, own, own, below) = side.transpose();
}

double Fronts::quadratic(std::uint32_t f, std::span<const std::uint32_t> local, std::span<const double> values) const {
  constexpr double kCancelled = 1e-6;
  const std::size_t size = e_->fronts[f].size;
  const double* const z = squares_.data() + e_->fronts[f].square;
  double sum = 0, magnitude = 0;
  for (std::size_t a = 0; a < local.size(); ++a) {
    const double* const column = z + local[a] * size;
    double inner = 0;
    for (std::size_t b = 0; b < local.size(); ++b) inner += column[local[b]] * values[b];
    sum += inner * values[a];
    magnitude += column[local[a]] * values[a] * values[a];
  }
  return sum >= kCancelled * magnitude ? sum : std::nan("");
}

void Fronts::multiply(std::uint32_t f, std::span<const std::uint32_t> local, std::span<const double> values,
                      std::vector<double>& out) const {
  const std::size_t size = e_->fronts[f].size;
  out.assign(size, 0.0);
  for (std::size_t j = 0; j < local.size(); ++j) {
    const double* const column = squares_.data() + e_->fronts[f].square + local[j] * size;
    for (std::size_t i = 0; i < size; ++i) out[i] += values[j] * column[i];
  }
}

double Fronts::quadratic(std::span<const std::uint32_t> unknowns, std::span<const double> values,
                         std::vector<double>& room) const {
  room.resize(e_->unknowns);
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> next;  // C^T x = e
  for (std::size_t k = 0; k < unknowns.size(); ++k) {
    const std::uint32_t p = e_->position[unknowns[k]];
    room[p] = values[k];
    next.push(e_->front_of[p]);
  }
  double sum = 0;
  while (!next.empty()) {
    const std::uint32_t f = next.top();
    while (!next.empty() && next.top() == f) next.pop();
    const Elimination::Front& shape = e_->fronts[f];
    forward(f, room.data());
    for (std::uint32_t p = shape.first; p < shape.first + shape.columns; ++p) {
      const double c = std::exchange(room[p], 0.0) * std::sqrt(inverse_pivots_[p]);
      sum += c * c;
    }
    if (shape.parent != kNowhere) next.push(shape.parent);
  }
  return sum;
}

std::uint32_t Fronts::common_front(std::span<const std::uint32_t> unknowns, std::vector<std::uint32_t>& local) const {
  local.clear();
  std::uint32_t first = kNowhere;
  for (const std::uint32_t u : unknowns) first = std::min(first, e_->position[u]);
  if (first == kNowhere) return kNowhere;
  const std::uint32_t f = e_->front_of[first];
  const Elimination::Front& shape = e_->fronts[f];
  const std::span later(e_->later.data() + shape.indices, shape.below());
  for (const std::uint32_t u : unknowns) {
    const std::uint32_t p = e_->position[u];
    if (p < shape.first + shape.columns) {
      local.push_back(p - shape.first);
      continue;
    }
    const auto found = std::ranges::lower_bound(later, p);
    if (found == later.end() || *found != p) return kNowhere;
    local.push_back(shape.columns + static_cast<std::uint32_t>(found - later.begin()));
  }
  return f;
}

const double* Fronts::entry(std::uint32_t a, std::uint32_t b) const {
  std::vector<std::uint32_t> local;
  const std::uint32_t both[] = {a, b};
  const std::uint32_t f = common_front(both, local);
  if (f == kNowhere) return nullptr;
  return squares_.data() + e_->fronts[f].square + local[0] + std::size_t{local[1]} * e_->fronts[f].size;
}

std::vector<std::uint32_t> Fronts::lost_unknowns() const {
  std::vector<std::uint32_t> out;
  for (const std::uint32_t p : lost_) out.push_back(e_->unknown[p]);
  return out;
}

std::vector<std::vector<double>> Fronts::null_directions() const {
  std::vector<std::vector<double>> out;
  std::vector<double> room(e_->unknowns);
  for (std::size_t d = 0; d < std::min(kMostDirections, lost_.size()); ++d) {
    std::vector<double>& x = out.emplace_back(e_->unknowns);
    x[lost_[d]] = 1;
    solve_upper(x, room);  // C^T x = e
    double largest = 0;
    for (const double value : x) largest = std::max(largest, std::abs(value));
    for (double& value : x) value /= largest;
  }
  return out;
}

}  // namespace dma::joint_system
