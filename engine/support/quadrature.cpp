#include "engine/support/quadrature.h"

#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <boost/math/tools/toms748_solve.hpp>

namespace dma::quadrature {

const std::array<Node, 8>& kronrod_rule() {
  static const std::array<Node, 8> rule = [] {
    using Kronrod = boost::math::quadrature::gauss_kronrod<double, 15>;
    using Gauss = boost::math::quadrature::gauss<double, 7>;
    std::array<Node, 8> nodes;
    for (std::size_t i = 0; i < nodes.size(); ++i)
      nodes[i] = {Kronrod::abscissa()[i], Kronrod::weights()[i], i % 2 == 0 ? Gauss::weights()[i / 2] : 0.0};
    return nodes;
  }();
  return rule;
}

Bracket bracket_root(const std::function<double(double)>& h, double low, double high, double at_low, double at_high,
                     int bits) {
  std::uintmax_t steps = 100;
  const auto [below, above] = boost::math::tools::toms748_solve(
      h, low, high, at_low, at_high, boost::math::tools::eps_tolerance<double>(static_cast<unsigned>(bits)), steps);
  return {below, above};
}

}  // namespace dma::quadrature
