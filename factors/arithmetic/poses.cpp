#include "factors/arithmetic/poses.h"

#include "factors/families/charts.h"

namespace dma {

namespace {

// Reads a point of a slot, from input `first` on.
template <class Point>
Eigen::Matrix<double, Point::kSize, 1> read(const LinearCall& call, std::size_t first, std::size_t slot) {
  Eigen::Matrix<double, Point::kSize, 1> point;
  for (int i = 0; i < Point::kSize; ++i) point[i] = call.input(first + static_cast<std::size_t>(i))[slot];
  return point;
}

// Writes outputs and their derivatives by all inputs.
template <class Values, class Gains>
void write(const LinearCall& call, std::size_t slot, const Values& values, const Gains& gains) {
  for (int o = 0; o < values.rows(); ++o) {
    const auto output = static_cast<std::size_t>(o);
    call.value[output * call.slots + slot] = values[o];
    for (int i = 0; call.gains != nullptr && i < gains.cols(); ++i)
      call.gain(static_cast<std::size_t>(i), output)[slot] = gains(o, i);
  }
}

// With the rotation of the residual E = Z' A' B: steps w of a and b make it E exp(-B'A w_a) and E exp(w_b).
template <int n, bool kMoves>
void between(const LinearCall& call) {
  using T = Turn<n>;
  using Point = Points<n, kMoves>;
  constexpr int kSize = Point::kSize, kPlaces = Point::kPlaces, kAngles = Point::kAngles;
  using Vector = Eigen::Matrix<double, kSize, 1>;
  for (std::size_t s = 0; s < call.slots; ++s) {
    const Eigen::Map<const Vector> z(call.parameter_row(s).terms(0).data());
    const Vector a = read<Point>(call, 0, s), b = read<Point>(call, kSize, s);
    const typename T::Matrix turn_a = T::exp(a.template tail<kAngles>()),
                             back = T::exp(z.template tail<kAngles>()).transpose() * turn_a.transpose();
    Vector r;
    Eigen::Matrix<double, kSize, 2 * kSize> gains = Eigen::Matrix<double, kSize, 2 * kSize>::Zero();
    typename T::Slopes slopes = T::Slopes::Identity();
    if constexpr (n == 2) {
      r[kPlaces] = wrapped(b[kPlaces] - a[kPlaces] - z[kPlaces]);
      gains(kPlaces, kPlaces) = -1;
    } else {
      const typename T::Matrix turn_b = T::exp(b.template tail<kAngles>());
      r.template tail<kAngles>() = T::log(back * turn_b);
      slopes = T::slopes(r.template tail<kAngles>());
      gains.template block<kAngles, kAngles>(kPlaces, kPlaces) = -slopes * turn_b.transpose() * turn_a;
    }
    gains.template block<kAngles, kAngles>(kPlaces, kSize + kPlaces) = slopes;
    if constexpr (kMoves) {
      const typename T::Vector apart = b.template head<n>() - a.template head<n>();
      r.template head<n>() = back * apart - back * (turn_a * z.template head<n>());
      gains.template block<n, n>(0, 0) = -back;
      gains.template block<n, n>(0, kSize) = back;
      gains.template block<n, kAngles>(0, n) = back * turn_a * T::arm(turn_a.transpose() * apart);
    }
    write(call, s, r, gains);
  }
}

template <int n, bool kMoves>
void offset(const LinearCall& call) {
  using T = Turn<n>;
  using Point = Points<n, kMoves>;
  constexpr int kSize = Point::kSize, kAngles = Point::kAngles;
  using Vector = Eigen::Matrix<double, kSize, 1>;
  for (std::size_t s = 0; s < call.slots; ++s) {
    const Eigen::Map<const Vector> z(call.parameter_row(s).terms(0).data());
    const Vector x = read<Point>(call, 0, s);
    Vector r = x - z;
    r.template tail<kAngles>() =
        T::log(T::exp(z.template tail<kAngles>()).transpose() * T::exp(x.template tail<kAngles>()));
    Eigen::Matrix<double, kSize, kSize> gains = Eigen::Matrix<double, kSize, kSize>::Identity();
    gains.template bottomRightCorner<kAngles, kAngles>() = T::slopes(r.template tail<kAngles>());
    write(call, s, r, gains);
  }
}

template <int n, bool kMoves>
void add_differences(std::vector<Kind>& kinds) {
  using Point = Points<n, kMoves>;
  constexpr auto kSize = static_cast<std::size_t>(Point::kSize);
  const std::string name(Point::kName);
  kinds.push_back(kind(name + "_between", "r = log(measured^-1 a^-1 b)")
                      .input("a", name)
                      .input("b", name)
                      .variadic_output("r")
                      .vector_parameter("measured", kSize, 0.0)
                      .vector_function({}, {2 * kSize, kSize, true}, &between<n, kMoves>));
  kinds.push_back(kind(name + "_offset", "r = the step from measured to x")
                      .input("x", name)
                      .variadic_output("r")
                      .vector_parameter("measured", kSize, 0.0)
                      .vector_function({}, {kSize, kSize, true}, &offset<n, kMoves>));
}

// A point p in the frame of a pose: q = R' (p - t).
template <int n>
struct Sight {
  using T = Turn<n>;
  static constexpr int kSize = n + T::kAngles;
  typename T::Vector q;
  Eigen::Matrix<double, n, kSize + n> gains;  // by the pose and the point

  Sight(const LinearCall& call, std::size_t s) {
    const auto x = read<Points<n, true>>(call, 0, s);
    typename T::Vector p;
    for (int i = 0; i < n; ++i) p[i] = call.input(static_cast<std::size_t>(kSize + i))[s];
    const typename T::Matrix back = T::exp(x.template tail<T::kAngles>()).transpose();
    q = back * (p - x.template head<n>());
    gains << -back, T::arm(q), back;
  }
};

template <int n>
void range(const LinearCall& call) {
  for (std::size_t s = 0; s < call.slots; ++s) {
    const Sight<n> sight(call, s);
    const double distance = sight.q.norm();
    const Eigen::Matrix<double, 1, 1> r(distance - call.parameter_row(s).number(0));
    // At distance 0 the distance grows equally in every direction; take the direction ahead.
    typename Turn<n>::Vector direction = Turn<n>::Vector::UnitX();
    if (distance > 0) direction = sight.q / distance;
    write(call, s, r, direction.transpose() * sight.gains);
  }
}

template <int n>
void bearing(const LinearCall& call) {
  for (std::size_t s = 0; s < call.slots; ++s) {
    const Sight<n> sight(call, s);
    const auto& q = sight.q;
    const double* const measured = call.parameter_row(s).terms(0).data();
    const double flat = q[0] * q[0] + q[1] * q[1], length = std::sqrt(flat);
    Eigen::Matrix<double, n - 1, 1> r;
    Eigen::Matrix<double, n - 1, n> by = Eigen::Matrix<double, n - 1, n>::Zero();
    r[0] = wrapped(std::atan2(q[1], q[0]) - measured[0]);
    by(0, 0) = -q[1] / flat;
    by(0, 1) = q[0] / flat;
    if constexpr (n == 3) {
      r[1] = std::atan2(q[2], length) - measured[1];
      by.row(1) << -q[2] * q[0] / length, -q[2] * q[1] / length, length;
      by.row(1) /= q.squaredNorm();
    }
    write(call, s, r, by * sight.gains);
  }
}

template <int n>
void landmark(const LinearCall& call) {
  using Place = typename Turn<n>::Vector;
  for (std::size_t s = 0; s < call.slots; ++s) {
    const Sight<n> sight(call, s);
    write(call, s, Place(sight.q - Eigen::Map<const Place>(call.parameter_row(s).terms(0).data())), sight.gains);
  }
}

template <int n>
void add_sights(std::vector<Kind>& kinds) {
  const std::string name(Points<n, true>::kName);
  constexpr std::size_t kInputs = Sight<n>::kSize + n;
  kinds.push_back(kind(name + "_range", "r = |position of x - p| - measured")
                      .input("x", name)
                      .variadic_input("p")
                      .output("r")
                      .vector_parameter("measured", 1, 0.0)
                      .vector_function({}, {kInputs, 1, true}, &range<n>));
  kinds.push_back(kind(name + "_landmark", "r = p in the frame of x - measured")
                      .input("x", name)
                      .variadic_input("p")
                      .variadic_output("r")
                      .vector_parameter("measured", n, 0.0)
                      .vector_function({}, {kInputs, n, true}, &landmark<n>));
  kinds.push_back(kind(name + "_bearing", n == 2 ? "r = angle to p in the frame of x - measured"
                                                 : "r = azimuth and elevation of p in the frame of x - measured")
                      .input("x", name)
                      .variadic_input("p")
                      .variadic_output("r")
                      .vector_parameter("measured", n - 1, 0.0)
                      .vector_function({}, {kInputs, n - 1, true}, &bearing<n>));
}

// y = w r with w^2 = loss(s) / s; dy_i / dr_j = w (i = j) + 2 w' r_i r_j, with 2 w w' s = loss'(s) - loss(s) / s.
struct Loss {
  double w, slope;  // slope: 2 w'
};
Loss huber(double s, double width) {
  if (s <= width * width) return {1, 0};
  const double root = std::sqrt(s), w = std::sqrt((2 - width / root) * width / root);
  return {w, (width - root) * width / (s * s) / w};
}
Loss cauchy(double s, double width) {
  const double q = s / (width * width);
  constexpr double kSmall = 1e-3;  // the next term of the series is below 1e-12
  const double ratio = q == 0 ? 1 : std::log1p(q) / q, w = std::sqrt(ratio);
  const double curve = q < kSmall ? -0.5 + q * (2.0 / 3 + q * (-0.75 + q * 0.8)) : (1 / (1 + q) - ratio) / q;
  return {w, curve / (width * width) / w};
}

template <Loss (*kLoss)(double, double)>
void scaled(const LinearCall& call) {
  for (std::size_t s = 0; s < call.slots; ++s) {
    double square = 0;
    for (std::size_t i = 0; i < call.inputs; ++i) square += call.input(i)[s] * call.input(i)[s];
    const Loss loss = kLoss(square, call.parameter_row(s).number(0));
    for (std::size_t o = 0; o < call.inputs; ++o) {
      call.value[o * call.slots + s] = loss.w * call.input(o)[s];
      for (std::size_t i = 0; call.gains != nullptr && i < call.inputs; ++i)
        call.gain(i, o)[s] = (i == o ? loss.w : 0) + loss.slope * call.input(o)[s] * call.input(i)[s];
    }
  }
}

Kind loss_kind(std::string name, std::string summary, LinearView view) {
  return kind(std::move(name), std::move(summary))
      .variadic_input("r")
      .variadic_output("y")
      .same_terms("r", "y")
      .parameter("width", above(0), finite())
      .vector_function({}, {}, std::move(view));
}

}  // namespace

std::vector<Kind> pose_kinds() {
  std::vector<Kind> kinds;
  add_differences<2, false>(kinds);
  add_differences<3, false>(kinds);
  add_differences<2, true>(kinds);
  add_differences<3, true>(kinds);
  add_sights<2>(kinds);
  add_sights<3>(kinds);
  kinds.push_back(loss_kind("huber", "|y|^2 is Huber's loss of |r|^2", &scaled<huber>));
  kinds.push_back(loss_kind("cauchy", "|y|^2 is Cauchy's loss of |r|^2", &scaled<cauchy>));
  return kinds;
}

}  // namespace dma
