#include "tools/experiments/baselines/pose_solver.h"

#include <Eigen/Geometry>
#include <Eigen/SparseCholesky>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace dma::baselines {

namespace {

// A matrix of a few numbers, column by column. Eigen's own, of fixed size, take ten seconds more to compile.
template <int rows, int columns = 1>
struct Small {
  double numbers[rows * columns] = {};

  static Small read(const double* from) {
    Small m;
    std::copy_n(from, rows * columns, m.numbers);
    return m;
  }
  double& operator()(int i, int j = 0) { return numbers[j * rows + i]; }
  double operator()(int i, int j = 0) const { return numbers[j * rows + i]; }
  Small<columns, rows> transposed() const {
    Small<columns, rows> t;
    for (int j = 0; j < columns; ++j)
      for (int i = 0; i < rows; ++i) t(j, i) = (*this)(i, j);
    return t;
  }
  template <int part_rows, int part_columns>
  void set(int row, int column, const Small<part_rows, part_columns>& part) {
    for (int j = 0; j < part_columns; ++j)
      for (int i = 0; i < part_rows; ++i) (*this)(row + i, column + j) = part(i, j);
  }
};

template <int rows, int inner, int columns>
Small<rows, columns> operator*(const Small<rows, inner>& a, const Small<inner, columns>& b) {
  Small<rows, columns> product;
  for (int j = 0; j < columns; ++j)
    for (int k = 0; k < inner; ++k)
      for (int i = 0; i < rows; ++i) product(i, j) += a(i, k) * b(k, j);
  return product;
}
template <int rows, int columns>
Small<rows, columns> operator*(double times, Small<rows, columns> a) {
  for (double& x : a.numbers) x *= times;
  return a;
}
template <int rows, int columns>
Small<rows, columns> operator+(Small<rows, columns> a, const Small<rows, columns>& b) {
  for (int i = 0; i < rows * columns; ++i) a.numbers[i] += b.numbers[i];
  return a;
}
template <int rows, int columns>
Small<rows, columns> operator-(Small<rows, columns> a, const Small<rows, columns>& b) {
  for (int i = 0; i < rows * columns; ++i) a.numbers[i] -= b.numbers[i];
  return a;
}
template <int rows>
double dot(const Small<rows>& a, const Small<rows>& b) {
  return (a.transposed() * b)(0);
}

Small<3, 3> cross(const Small<3>& u) { return {{0, u(2), -u(1), -u(2), 0, u(0), u(1), -u(0), 0}}; }

// I + first k + second k^2
Small<3, 3> series(double first, double second, const Small<3, 3>& k) {
  return Small<3, 3>{{1, 0, 0, 0, 1, 0, 0, 0, 1}} + first * k + second * (k * k);
}

Small<2, 2> exp(const Small<1>& w) {
  const double c = std::cos(w(0)), s = std::sin(w(0));
  return {{c, s, -s, c}};
}
Small<3, 3> exp(const Small<3>& w) {  // Rodrigues
  const double angle = std::sqrt(dot(w, w));
  if (angle < 1e-8) return series(1, 0, cross(w));
  return series(std::sin(angle) / angle, (1 - std::cos(angle)) / (angle * angle), cross(w));
}
Small<1> log(const Small<2, 2>& r) { return {{std::atan2(r(1, 0), r(0, 0))}}; }
Small<3> log(const Small<3, 3>& r) {
  const Eigen::AngleAxisd turn(Eigen::Matrix3d::Map(r.numbers));
  return turn.angle() * Small<3>::read(turn.axis().data());
}

template <int n>
class PoseSolver {
  static constexpr int kTurns = n == 2 ? 1 : 3, kSize = n + kTurns;
  using Vector = Small<n>;
  using Matrix = Small<n, n>;
  using Angles = Small<kTurns>;
  using Step = Small<kSize>;
  using Block = Small<kSize, kSize>;
  struct Pose {
    Vector place;
    Matrix turn;
  };
  struct Edge {
    std::uint32_t from, to;
    Pose measured;
    Block information;
    bool is_robust;
  };

 public:
  PoseSolver(const PoseGraph& graph, double cauchy) : cauchy_(cauchy) {
    for (const auto& v : graph.vertices) poses_.push_back(read(v.at));
    for (const auto& e : graph.edges) {
      const auto a = graph.vertices[e.from].id, b = graph.vertices[e.to].id;
      edges_.push_back({e.from, e.to, read(e.measured), Block::read(e.information.data()),
                        cauchy > 0 && std::max(a, b) - std::min(a, b) != 1});
    }
  }

  SolvedPoses solve(bool with_covariance) {
    SolvedPoses out;
    const Eigen::Index unknowns = kSize * (static_cast<Eigen::Index>(poses_.size()) - 1);
    double damping = 1e-6, at = objective(poses_);
    Eigen::SparseMatrix<double> information(unknowns, unknowns);
    Eigen::VectorXd pull(unknowns), step;
    Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> factor;
    bool is_fresh = true, is_analysed = false;
    for (; out.solves < 500; ++out.solves) {
      if (is_fresh) form(information, pull);
      if (!is_analysed) factor.analyzePattern(information), is_analysed = true;
      factor.setShift(0, 1 + damping);  // times the diagonal
      factor.factorize(information);
      step = factor.solve(pull);
      std::vector<Pose> moved = poses_;
      for (std::size_t v = 1; v < moved.size(); ++v) {
        const double* s = step.data() + kSize * (v - 1);
        moved[v].place = moved[v].place + moved[v].turn * Vector::read(s);
        moved[v].turn = moved[v].turn * exp(Angles::read(s + n));
      }
      const double found = objective(moved);
      is_fresh = found < at;
      damping *= is_fresh ? 0.1 : 10;
      if (!is_fresh && damping > 1e10) break;
      if (!is_fresh) continue;
      const double fall = at - found;
      poses_ = moved, at = found;
      if (fall < 1e-10 * at + 1e-14) break;
    }
    out.objective = at;
    for (const Pose& p : poses_) {
      out.turns.push_back(Eigen::MatrixXd::Map(p.turn.numbers, n, n));
      out.places.push_back(Eigen::VectorXd::Map(p.place.numbers, n));
    }
    if (with_covariance) {
      form(information, pull);
      factor.setShift(0, 1);
      factor.factorize(information);
      out.covariance.resize(unknowns, unknowns);
      for (Eigen::Index i = 0; i < unknowns; ++i) {
        pull.setZero();
        pull[i] = 1;
        step = factor.solve(pull);
        out.covariance.col(i) = step;
      }
    }
    return out;
  }

 private:
  static Pose read(const std::vector<double>& at) {
    return {Vector::read(at.data()), exp(Angles::read(at.data() + n))};
  }
  // b as seen from a
  static Pose between(const Pose& a, const Pose& b) {
    const Matrix back = a.turn.transposed();
    return {back * (b.place - a.place), back * b.turn};
  }
  static Step residual(const Edge& e, const Pose& seen) {
    const Matrix back = e.measured.turn.transposed();
    Step r;
    r.set(0, 0, back * (seen.place - e.measured.place));
    r.set(n, 0, log(back * seen.turn));
    return r;
  }
  double cost(const Edge& e, double square) const {
    return e.is_robust ? cauchy_ * cauchy_ * std::log1p(square / (cauchy_ * cauchy_)) : square;
  }
  double objective(const std::vector<Pose>& poses) const {
    double sum = 0;
    for (const Edge& e : edges_) {
      const Step r = residual(e, between(poses[e.from], poses[e.to]));
      sum += cost(e, dot(r, e.information * r));
    }
    return 0.5 * sum;
  }

  // The slopes of a residual r by the steps of the first pose and of the second.
  static std::array<Block, 2> slopes(const Edge& e, const Pose& seen, const Step& r) {
    std::array<Block, 2> by;
    const Matrix back = e.measured.turn.transposed();
    by[0].set(0, 0, -1 * back);
    by[1].set(0, 0, back * seen.turn);
    if constexpr (n == 2) {
      by[0].set(0, 2, back * Vector{{seen.place(1), -seen.place(0)}});
      by[0](2, 2) = -1, by[1](2, 2) = 1;
    } else {
      by[0].set(0, 3, back * cross(seen.place));
      const Angles w = Angles::read(r.numbers + 3);
      const double angle = std::sqrt(dot(w, w));
      const double c =
          angle < 1e-4 ? 1.0 / 12 : 1 / (angle * angle) - (1 + std::cos(angle)) / (2 * angle * std::sin(angle));
      const Matrix turns = series(0.5, c, cross(w));
      by[0].set(3, 3, -1 * (turns * seen.turn.transposed()));
      by[1].set(3, 3, turns);
    }
    return by;
  }

  // Loss by weights: those of each square root's slope.
  void form(Eigen::SparseMatrix<double>& information, Eigen::VectorXd& pull) const {
    std::vector<Eigen::Triplet<double>> triplets;
    triplets.reserve(4 * kSize * kSize * edges_.size());
    pull.setZero();
    for (const Edge& e : edges_) {
      const Pose seen = between(poses_[e.from], poses_[e.to]);
      const Step r = residual(e, seen);
      const double square = dot(r, e.information * r);
      const Block weighted = (e.is_robust ? 1 / (1 + square / (cauchy_ * cauchy_)) : 1) * e.information;
      const std::array<Block, 2> by = slopes(e, seen, r);
      const int places[2] = {kSize * (static_cast<int>(e.from) - 1), kSize * (static_cast<int>(e.to) - 1)};
      for (int p = 0; p < 2; ++p) {
        if (places[p] < 0) continue;
        const Block across = by[p].transposed() * weighted;
        const Step push = across * r;
        for (int i = 0; i < kSize; ++i) pull[places[p] + i] -= push(i);
        for (int q = 0; q < 2; ++q) {
          if (places[q] < 0) continue;
          const Block product = across * by[q];
          for (int i = 0; i < kSize; ++i)
            for (int j = 0; j < kSize; ++j) triplets.emplace_back(places[p] + i, places[q] + j, product(i, j));
        }
      }
    }
    information.setFromTriplets(triplets.begin(), triplets.end());
  }

  double cauchy_;
  std::vector<Pose> poses_;
  std::vector<Edge> edges_;
};

}  // namespace

SolvedPoses solve_poses(const PoseGraph& graph, double cauchy, bool with_covariance) {
  if (graph.is_3d) return PoseSolver<3>(graph, cauchy).solve(with_covariance);
  return PoseSolver<2>(graph, cauchy).solve(with_covariance);
}

}  // namespace dma::baselines
