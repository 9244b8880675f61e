// A factor y = g(x_1, ..., x_k) from a plain function: forward messages by Gauss-Hermite quadrature, backward ones by
// statistical linearisation. Always proper, for any g with finite moments; one to three inputs.
//
//   registry.add(factor_from_function("softplus", [](double x) { return std::log1p(std::exp(x)); }));
//
// Under the arriving messages N(m_i, v_i) the best linear fit is y = E[g] + sum_i A_i (x_i - m_i) + e with
//
//   A_i = Cov(x_i, g) / v_i,      Var e = Var[g] - sum_i A_i^2 v_i >= 0,
//
// and all messages are those of that linear factor. To x_i: mean m_i + (m_y - E[g]) / A_i,
// variance (v_y + Var[g] - A_i^2 v_i) / A_i^2. They are registered under "linearised", which serves every method.
#pragma once

#include <functional>
#include <string>

#include "engine/kinds/kind.h"

namespace dma {

// Ports: x, y.
Kind factor_from_function(std::string name, std::function<double(double)> g, std::string summary = {});
// Ports: x1, x2, y.
Kind factor_from_function(std::string name, std::function<double(double, double)> g, std::string summary = {});
// Ports: x1, x2, x3, y.
Kind factor_from_function(std::string name, std::function<double(double, double, double)> g, std::string summary = {});

}  // namespace dma
