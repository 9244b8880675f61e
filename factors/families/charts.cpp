#include "factors/families/charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "engine/support/text.h"

namespace dma {

namespace {

Eigen::Matrix3d cross(const Eigen::Vector3d& u) {
  Eigen::Matrix3d m;
  m << 0, -u[2], u[1], u[2], 0, -u[0], -u[1], u[0], 0;
  return m;
}

Eigen::Quaterniond quaternion(const Eigen::Vector3d& w) {
  const double angle = w.norm(), half = 0.5 * angle;
  constexpr double kSmallAngle = 1e-5;  // sin(half) / angle = 1/2 - angle^2 / 48 + ...
  const double ratio = angle < kSmallAngle ? 0.5 - angle * angle / 48 : std::sin(half) / angle;
  return {std::cos(half), ratio * w[0], ratio * w[1], ratio * w[2]};
}

Eigen::Vector3d log(const Eigen::Quaterniond& q) {
  const double sine = q.vec().norm(), cosine = std::abs(q.w());
  const double ratio = sine == 0 ? 2 / cosine : 2 * std::atan2(sine, cosine) / sine;
  return (q.w() < 0 ? -ratio : ratio) * q.vec();
}

}  // namespace

template <>
Eigen::Matrix2d Turn<2>::exp(const Angles& w) {
  return Eigen::Rotation2Dd(w[0]).toRotationMatrix();
}
template <>
Turn<2>::Angles Turn<2>::log(const Matrix& r) {
  return Angles(std::atan2(r(1, 0), r(0, 0)));
}
template <>
Turn<2>::Angles Turn<2>::composed(const Angles& a, const Angles& step) {
  return Angles(wrapped(a[0] + step[0]));
}
template <>
Turn<2>::Slopes Turn<2>::slopes(const Angles&) {
  return Slopes(1.0);
}
template <>
Turn<2>::Arm Turn<2>::arm(const Vector& u) {
  return {u[1], -u[0]};
}

template <>
Eigen::Matrix3d Turn<3>::exp(const Angles& w) {
  return quaternion(w).toRotationMatrix();
}
template <>
Eigen::Vector3d Turn<3>::log(const Matrix& r) {
  return dma::log(Eigen::Quaterniond(r));
}
template <>
Eigen::Vector3d Turn<3>::composed(const Angles& a, const Angles& step) {
  return dma::log(quaternion(a) * quaternion(step));
}
// The inverse of the right Jacobian of exp: 1 + a/2 + c a^2 with the cross product matrix of a, and
// c = (1 - h cot h) / (2h)^2 for h = |a| / 2.
template <>
Turn<3>::Slopes Turn<3>::slopes(const Angles& a) {
  const double h = 0.5 * a.norm();
  constexpr double kSmallAngle = 1e-3;  // c = 1/12 + (2h)^2 / 720 + ...
  const double c = h < kSmallAngle ? 1.0 / 12 + h * h / 180 : (1 - h / std::tan(h)) / (4 * h * h);
  const Eigen::Matrix3d m = cross(a);
  return Eigen::Matrix3d::Identity() + 0.5 * m + c * m * m;
}
template <>
Turn<3>::Arm Turn<3>::arm(const Vector& u) {
  return cross(u);
}

template <int n, bool kMoves>
void Points<n, kMoves>::retract(const double* point, const double* step, double* out) {
  using Angles = Eigen::Map<const typename Turn<n>::Angles>;
  for (int i = 0; i < kPlaces; ++i) out[i] = point[i] + step[i];
  Eigen::Map<typename Turn<n>::Angles>(out + kPlaces) =
      Turn<n>::composed(Angles(point + kPlaces), Angles(step + kPlaces));
}

template <int n, bool kMoves>
void Points<n, kMoves>::slopes(const double* point, double* out) {
  Eigen::Map<Eigen::Matrix<double, kSize, kSize>> all(out);
  all.setIdentity();
  // Transposed, because Eigen stores columns first.
  all.template bottomRightCorner<kAngles, kAngles>() =
      Turn<n>::slopes(Eigen::Map<const typename Turn<n>::Angles>(point + kPlaces)).transpose();
}

template struct Points<2, false>;
template struct Points<2, true>;
template struct Points<3, false>;
template struct Points<3, true>;

std::size_t PointBelief::observe(std::span<const double> values, std::size_t components, double* tau, double* rho) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) return i / components;
    tau[i] = values[i];
    rho[i] = kInfinity;
  }
  return values.size() / components;
}

void PointBelief::moments(Components messages, std::size_t, double* means, double* variances) {
  for (std::size_t i = 0; i < messages.size(); ++i) {
    means[i] = Gaussian(messages[i]).mean();
    variances[i] = Gaussian(messages[i]).variance();
  }
}

double PointBelief::log_density(Components message, std::span<const double> value) {
  double sum = 0;
  for (std::size_t k = 0; k < message.size(); ++k) sum += dma::log_density(Gaussian(message[k]), value[k]);
  return sum;
}

double PointBelief::log_normaliser(Components message) {
  double sum = 0;
  for (const Natural& m : message) sum += m.is_proper() ? GaussianFamily(m).log_normaliser() : kInfinity;
  return sum;
}

double PointBelief::kl(Components p, Components q) {
  double sum = 0;
  for (std::size_t k = 0; k < p.size(); ++k) sum += dma::kl(Gaussian(p[k]), Gaussian(q[k]));
  return sum;
}

std::string PointBelief::text(Components message) {
  if (is_flat(message)) return "uniform";
  std::vector<double> means, sds;
  for (const Natural& m : message) {
    means.push_back(Gaussian(m).mean());
    sds.push_back(Gaussian(m).sd());
  }
  const std::string at = fmt::format("({})", joined(means, ", ", "{:.4g}"));
  if (std::ranges::all_of(message, &Natural::is_point)) return "= " + at;
  return fmt::format("{} +- ({})", at, joined(sds, ", ", "{:.4g}"));
}

}  // namespace dma
