// Gauss-Hermite rules for the weight phi(t): sum of weight * g(node) is E[g] under N(0, 1), exact for polynomials of
// degree 2n - 1.
#pragma once

#include <cstddef>
#include <vector>

namespace dma {

class GaussHermite {
 public:
  explicit GaussHermite(int points);
  // The rules for products over this many inputs, coarse and fine: at most 2,000 evaluations for three.
  static const GaussHermite& fine(std::size_t inputs);
  static const GaussHermite& coarse(std::size_t inputs);

  std::size_t size() const { return nodes_.size(); }
  double node(std::size_t i) const { return nodes_[i]; }
  double weight(std::size_t i) const { return weights_[i]; }

 private:
  std::vector<double> nodes_, weights_;
};

// visit(standard coordinates, weight) on the product grid of `inputs` dimensions.
template <std::size_t kMost, class Visit>
void for_each_node(const GaussHermite& rule, std::size_t inputs, const Visit& visit) {
  std::size_t index[kMost] = {};
  double standard[kMost] = {};
  for (;;) {
    double weight = 1;
    for (std::size_t i = 0; i < inputs; ++i) {
      standard[i] = rule.node(index[i]);
      weight *= rule.weight(index[i]);
    }
    visit(static_cast<const double*>(standard), weight);
    std::size_t i = 0;
    while (i < inputs && ++index[i] == rule.size()) index[i++] = 0;
    if (i == inputs) return;
  }
}

}  // namespace dma
