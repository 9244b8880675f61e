#include "tools/experiments/baselines/pose_solver.h"

#include <Eigen/Geometry>
#include <Eigen/SparseCholesky>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace dma::baselines {

namespace {

Eigen::Matrix3d cross(const Eigen::Vector3d& u) {
  return Eigen::Matrix3d{{0, -u[2], u[1]}, {u[2], 0, -u[0]}, {-u[1], u[0], 0}};
}

template <int n>
class PoseSolver {
  static constexpr int kTurns = n == 2 ? 1 : 3, kSize = n + kTurns;
  using Vector = Eigen::Matrix<double, n, 1>;
  using Matrix = Eigen::Matrix<double, n, n>;
  using Angles = Eigen::Matrix<double, kTurns, 1>;
  using Step = Eigen::Matrix<double, kSize, 1>;
  using Block = Eigen::Matrix<double, kSize, kSize>;
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
      edges_.push_back({e.from, e.to, read(e.measured), Block::Map(e.information.data()),
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
        moved[v].place += moved[v].turn * Vector::Map(s);
        moved[v].turn *= turn_by(Angles::Map(s + n));
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
      out.turns.push_back(p.turn);
      out.places.push_back(p.place);
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
    return {Vector::Map(at.data()), turn_by(Angles::Map(at.data() + n))};
  }
  static Matrix turn_by(const Angles& w) {
    if constexpr (n == 2) {
      return Eigen::Rotation2Dd(w[0]).toRotationMatrix();
    } else {
      const double angle = w.norm();
      if (angle < 1e-8) return Matrix::Identity() + cross(w);
      return Eigen::AngleAxisd(angle, w / angle).toRotationMatrix();
    }
  }
  static Angles angles_of(const Matrix& turn) {
    if constexpr (n == 2) {
      return Angles(std::atan2(turn(1, 0), turn(0, 0)));
    } else {
      const Eigen::AngleAxisd of(turn);
      return of.angle() * of.axis();
    }
  }
  // b as seen from a
  static Pose between(const Pose& a, const Pose& b) {
    const Matrix back = a.turn.transpose();
    return {back * (b.place - a.place), back * b.turn};
  }
  static Step residual(const Edge& e, const Pose& seen) {
    const Matrix back = e.measured.turn.transpose();
    Step r;
    r << back * (seen.place - e.measured.place), angles_of(back * seen.turn);
    return r;
  }
  double cost(const Edge& e, double square) const {
    return e.is_robust ? cauchy_ * cauchy_ * std::log1p(square / (cauchy_ * cauchy_)) : square;
  }
  double objective(const std::vector<Pose>& poses) const {
    double sum = 0;
    for (const Edge& e : edges_) {
      const Step r = residual(e, between(poses[e.from], poses[e.to]));
      sum += cost(e, r.dot(e.information * r));
    }
    return 0.5 * sum;
  }

  // The slopes of a residual r by the steps of the first pose and of the second.
  static std::array<Block, 2> slopes(const Edge& e, const Pose& seen, const Step& r) {
    std::array<Block, 2> by = {Block::Zero(), Block::Zero()};
    const Matrix back = e.measured.turn.transpose();
    by[0].template topLeftCorner<n, n>() = -back;
    by[1].template topLeftCorner<n, n>() = back * seen.turn;
    if constexpr (n == 2) {
      by[0].template topRightCorner<2, 1>() = back * Vector(seen.place[1], -seen.place[0]);
      by[0](2, 2) = -1;
      by[1](2, 2) = 1;
    } else {
      by[0].template topRightCorner<3, 3>() = back * cross(seen.place);
      const Angles w = r.template tail<3>();
      const double angle = w.norm();
      const double c =
          angle < 1e-4 ? 1.0 / 12 : 1 / (angle * angle) - (1 + std::cos(angle)) / (2 * angle * std::sin(angle));
      const Matrix turns = Matrix::Identity() + 0.5 * cross(w) + c * cross(w) * cross(w);
      by[0].template bottomRightCorner<3, 3>() = -turns * seen.turn.transpose();
      by[1].template bottomRightCorner<3, 3>() = turns;
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
      const double square = r.dot(e.information * r);
      const Block weighted = (e.is_robust ? 1 / (1 + square / (cauchy_ * cauchy_)) : 1) * e.information;
      const std::array<Block, 2> by = slopes(e, seen, r);
      const int places[2] = {kSize * (static_cast<int>(e.from) - 1), kSize * (static_cast<int>(e.to) - 1)};
      for (int p = 0; p < 2; ++p) {
        if (places[p] < 0) continue;
        const Block across = by[p].transpose() * weighted;
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
