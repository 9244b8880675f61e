#include "tools/experiments/baselines/pose_solver.h"

#include <Eigen/Sparse>
#include <cmath>

namespace dma::baselines {

namespace {

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
    Eigen::Index from, to;
    Pose measured;
    Block root;  // root' root is the information
    bool is_robust;
  };

 public:
  PoseSolver(const PoseGraph& graph, double cauchy) : cauchy_(cauchy) {
    for (const auto& v : graph.vertices) poses_.push_back(read(v.at));
    for (const auto& e : graph.edges) {
      const auto a = graph.vertices[e.from].id, b = graph.vertices[e.to].id;
      const Block information = Eigen::Map<const Block>(e.information.data());
      edges_.push_back({e.from, e.to, read(e.measured), information.llt().matrixU(),
                        cauchy > 0 && std::max(a, b) - std::min(a, b) != 1});
    }
  }

  SolvedPoses solve(bool with_covariance) {
    SolvedPoses out;
    const Eigen::Index unknowns = kSize * (static_cast<Eigen::Index>(poses_.size()) - 1);
    double damping = 1e-6, at = objective(poses_);
    Eigen::SparseMatrix<double> information(unknowns, unknowns);
    Eigen::VectorXd pull;
    Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> factor;
    bool is_fresh = true, is_analysed = false;
    for (; out.solves < 500; ++out.solves) {
      if (is_fresh) form(information, pull);
      Eigen::SparseMatrix<double> damped = information;
      damped.diagonal() *= 1 + damping;
      if (!is_analysed) factor.analyzePattern(damped), is_analysed = true;
      factor.factorize(damped);
      const Eigen::VectorXd step = factor.solve(pull);
      std::vector<Pose> moved = poses_;
      for (std::size_t v = 1; v < moved.size(); ++v) {
        const Step s = step.segment<kSize>(kSize * (static_cast<Eigen::Index>(v) - 1));
        moved[v].place += moved[v].turn * s.template head<n>();
        moved[v].turn = moved[v].turn * exp(s.template tail<kTurns>());
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
    for (const Pose& p : poses_) out.turns.push_back(p.turn), out.places.push_back(p.place);
    if (with_covariance) {
      form(information, pull);
      out.covariance = Eigen::MatrixXd(information).inverse();
    }
    return out;
  }

 private:
  static Matrix exp(const Angles& w) {
    if constexpr (n == 2) {
      Matrix r;
      r << std::cos(w[0]), -std::sin(w[0]), std::sin(w[0]), std::cos(w[0]);
      return r;
    } else {  // Rodrigues
      const double angle = w.norm();
      const Matrix k = cross(w);
      if (angle < 1e-8) return Matrix::Identity() + k;
      return Matrix::Identity() + std::sin(angle) / angle * k + (1 - std::cos(angle)) / (angle * angle) * k * k;
    }
  }
  static Angles log(const Matrix& r) {
    if constexpr (n == 2) {
      return Angles(std::atan2(r(1, 0), r(0, 0)));
    } else {
      const Eigen::AngleAxisd turn(r);
      return turn.angle() * turn.axis();
    }
  }
  static Eigen::Matrix3d cross(const Eigen::Vector3d& u) {
    Eigen::Matrix3d m;
    m << 0, -u[2], u[1], u[2], 0, -u[0], -u[1], u[0], 0;
    return m;
  }
  static Pose read(const std::vector<double>& at) {
    return {Eigen::Map<const Vector>(at.data()), exp(Eigen::Map<const Angles>(at.data() + n))};
  }

  Step residual(const Edge& e, const Pose& a, const Pose& b) const {
    Step r;
    r << e.measured.turn.transpose() * (a.turn.transpose() * (b.place - a.place) - e.measured.place),
        log(e.measured.turn.transpose() * a.turn.transpose() * b.turn);
    return r;
  }
  double cost(const Edge& e, double square) const {
    return e.is_robust ? cauchy_ * cauchy_ * std::log1p(square / (cauchy_ * cauchy_)) : square;
  }
  double objective(const std::vector<Pose>& poses) const {
    double sum = 0;
    for (const Edge& e : edges_)
      sum +=
          cost(e, (e.root * residual(e, poses[static_cast<std::size_t>(e.from)], poses[static_cast<std::size_t>(e.to)]))
                      .squaredNorm());
    return 0.5 * sum;
  }

  // Loss by weights: those of each square root's slope.
  void form(Eigen::SparseMatrix<double>& information, Eigen::VectorXd& pull) const {
    std::vector<Eigen::Triplet<double>> triplets;
    pull = Eigen::VectorXd::Zero(information.rows());
    for (const Edge& e : edges_) {
      const Pose &a = poses_[static_cast<std::size_t>(e.from)], &b = poses_[static_cast<std::size_t>(e.to)];
      Step r = residual(e, a, b);
      Block by[2] = {Block::Zero(), Block::Zero()};
      const Matrix back = e.measured.turn.transpose(), between = a.turn.transpose() * b.turn;
      const Vector seen = a.turn.transpose() * (b.place - a.place);
      by[0].template topLeftCorner<n, n>() = -back;
      by[1].template topLeftCorner<n, n>() = back * between;
      if constexpr (n == 2) {
        by[0].template topRightCorner<2, 1>() = back * Vector(seen[1], -seen[0]);
        by[0](2, 2) = -1, by[1](2, 2) = 1;
      } else {
        by[0].template topRightCorner<3, 3>() = back * cross(seen);
        const Eigen::Vector3d w = r.template tail<3>();
        const double angle = w.norm();
        const Matrix k = cross(w);
        const double c =
            angle < 1e-4 ? 1.0 / 12 : 1 / (angle * angle) - (1 + std::cos(angle)) / (2 * angle * std::sin(angle));
        const Matrix slopes = Matrix::Identity() + 0.5 * k + c * k * k;
        by[0].template bottomRightCorner<3, 3>() = -slopes * between.transpose();
        by[1].template bottomRightCorner<3, 3>() = slopes;
      }
      r = e.root * r;
      const double square = r.squaredNorm(), weight = e.is_robust ? 1 / (1 + square / (cauchy_ * cauchy_)) : 1;
      const Eigen::Index places[2] = {kSize * (e.from - 1), kSize * (e.to - 1)};
      for (Block& block : by) block = e.root * block;
      for (int p = 0; p < 2; ++p) {
        if (places[p] < 0) continue;
        pull.template segment<kSize>(places[p]) -= weight * by[p].transpose() * r;
        for (int q = 0; q < 2; ++q) {
          if (places[q] < 0) continue;
          const Block product = weight * by[p].transpose() * by[q];
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
