// Integrals over t of exp(log_weight(t)), a weight that may be narrow, skewed, cut off, or have several peaks far
// apart. A single smooth peak is summed over even steps, which is spectrally accurate. For others, panels that widen
// with the distance from a peak are halved until Gauss's and Kronrod's rules agree.
#pragma once

#include <boost/container/static_vector.hpp>
#include <cmath>
#include <span>

#include "engine/messages/gaussian.h"
#include "engine/support/quadrature.h"

namespace dma {

// A function, by reference.
template <class Signature>
class CallTo;
template <class Result, class... Arguments>
class CallTo<Result(Arguments...)> {
 public:
  template <class F>
  CallTo(const F& f)
      : object_(&f), call_([](const void* object, Arguments... arguments) -> Result {
          return (*static_cast<const F*>(object))(arguments...);
        }) {}
  Result operator()(Arguments... arguments) const { return call_(object_, arguments...); }

 private:
  const void* object_;
  Result (*call_)(const void*, Arguments...);
};

// log f(t), and log f(t_1, ..., t_k). NaN: outside of f's domain.
using LogFactor = CallTo<double(double)>;
using LogFactorOfSeveral = CallTo<double(const double*)>;

struct Peak {
  double at, height, left, right;  // a bracket of the peak, at whose ends the weight is only slightly lower
};

inline constexpr std::size_t kMostPeaks = 6;
using Peaks = boost::container::static_vector<Peak, kMostPeaks>;

// The peak with its top at this point.
Peak peak_at(const LogFactor& log_weight, double at);
// Golden section from a point no lower than its neighbours at left and right, until the weight falls by no more than
// `resolved` to the ends of the bracket.
Peak climbed(const LogFactor& log_weight, double left, double at, double right, double resolved);
// Removes peaks that are negligible in a double beside the highest.
void keep_visible(Peaks& peaks);

// Points between low and high at which the polynomial sum_k c_k s^k falls through 0: the peaks of a density whose log
// slope has its sign. The polynomial has at most one root between two neighbouring roots of its derivative.
inline constexpr std::size_t kHighestDegree = 5;
using Tops = boost::container::static_vector<double, kHighestDegree + 1>;
Tops falling_roots(std::span<const double> coefficients, double low, double high);

class PeakedIntegral {
 public:
  // `peaks` must be sorted, at least one. `tolerance` is relative, of the mass and of the second moment. `kinks`:
  // places where the function may bend; panels end there.
  PeakedIntegral(const LogFactor& log_weight, const Peaks& peaks, double tolerance = 1e-12,
                 std::span<const double> kinks = {});

  const Peak& highest() const { return highest_; }
  // A first estimate of the mean; NaN if the mass is 0 or not finite.
  double centre() const { return centre_; }

  // visit(t, fraction): the fractions sum to the integral of exp(log_weight - highest().height).
  template <class Visit>
  void for_each_node(const Visit& visit) {
    for (const EvenNode& node : even_) visit(node.t, node.fraction);
    splits_ = 0;
    for (const quadrature::Panel& panel : panels_) refine(panel, kDepth, visit);
  }

 private:
  static constexpr std::size_t kMostPanels = 96;
  static constexpr int kDepth = 40, kMostSplits = 300;
  using Breaks = boost::container::static_vector<double, kMostPanels + 1>;
  struct EvenNode {
    double t, fraction;
  };
  static constexpr std::size_t kMostEven = 192;

  bool is_smooth(const Peak& peak);
  bool add_even(double from, double apart, double step);
  void add_breaks(const Peak& peak, double step, double limit, Breaks& breaks) const;
  double end_of_support(double inside, double outside) const;

  double log_weight(double t) const {
    const double log = log_weight_(t);
    return std::isnan(log) ? -kInfinity : log;
  }
  auto value() const {
    return [this](double t) { return std::exp(log_weight(t) - highest_.height); };
  }
  // Quantities that must be accurate: the mass and the second moment.
  auto size() const {
    return [this](double t) { return 1 + (t - centre_) * (t - centre_) * per_square_; };
  }
  template <class Visit>
  void refine(const quadrature::Panel& panel, int depth, const Visit& visit) {
    if (panel.estimate(size()).error <= tolerance_ * whole_ || depth == 0 || ++splits_ > kMostSplits) {
      for (const auto& p : panel.points) visit(p.x, p.kronrod * p.value);
      return;
    }
    const double middle = 0.5 * (panel.low + panel.high);
    refine(quadrature::Panel(value(), panel.low, middle), depth - 1, visit);
    refine(quadrature::Panel(value(), middle, panel.high), depth - 1, visit);
  }

  const LogFactor& log_weight_;
  Peak highest_;
  double tolerance_, centre_, per_square_ = 0, whole_ = 0;
  int splits_ = 0;
  boost::container::static_vector<EvenNode, kMostEven> even_;
  boost::container::static_vector<quadrature::Panel, kMostPanels> panels_;  // none if there are even nodes
};

}  // namespace dma
