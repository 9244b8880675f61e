#include "tests/oracles/algorithm1.h"

#include <cmath>

namespace dma::oracle {

namespace {

double density(double u) { return std::exp(-0.5 * u * u) / std::sqrt(2 * std::acos(-1.0)); }
double distribution(double u) { return 0.5 * std::erfc(-u / std::sqrt(2.0)); }

// Prop. 3.4.
MeanVariance relu_forward(const MeanVariance& x, double a) {
  const double sd = std::sqrt(x.variance), u = x.mean / sd, p = distribution(u), f = density(u);
  const double mean = x.mean * (a + (1 - a) * p) + (1 - a) * sd * f;
  const double second = (x.mean * x.mean + x.variance) * (a * a + (1 - a * a) * p) + (1 - a * a) * x.mean * sd * f;
  return {mean, second - mean * mean};
}

// Prop. 3.5.
MeanVariance relu_backward(const MeanVariance& y, double a) {
  const double sd = std::sqrt(y.variance), v = y.mean / sd, p = distribution(v), q = distribution(-v), f = density(v);
  const double c = a * p + q;
  const double mean = (y.mean * (a * a * p + q) + (a * a - 1) * sd * f) / (a * c);
  const double second =
      ((y.mean * y.mean + y.variance) * (a * a * a * p + q) + (a * a * a - 1) * y.mean * sd * f) / (a * a * c);
  return {mean, second - mean * mean};
}

// Prop. 3.2 as moments of matched log-normals: E = mz/my (1 + vy/my^2), relative variance (1 + ry)(1 + rz) - 1.
void product_backward(const MeanVariance& other, const MeanVariance& z, double& tau, double& rho) {
  if (other.mean == 0 || z.mean == 0) {
    // The limit mz -> 0: mean 0, variance vz / my^2 * (1 + ry)^3.
    if (other.mean == 0) return;
    const double ry = other.variance / (other.mean * other.mean);
    rho += other.mean * other.mean / (z.variance * std::pow(1 + ry, 3));
    return;
  }
  const double ry = other.variance / (other.mean * other.mean), rz = z.variance / (z.mean * z.mean);
  const double mean = z.mean / other.mean * (1 + ry);
  const double variance = mean * mean * ((1 + ry) * (1 + rz) - 1);
  tau += mean / variance;
  rho += 1 / variance;
}

}  // namespace

Algorithm1::Algorithm1(std::vector<int> widths, std::vector<double> slopes, std::vector<std::vector<double>> prior_mean,
                       std::vector<std::vector<double>> prior_variance, double noise_variance, int batches)
    : widths_(std::move(widths)), slopes_(std::move(slopes)), noise_variance_(noise_variance), batches_(batches) {
  for (std::size_t l = 0; l < prior_mean.size(); ++l) {
    tau.push_back(prior_mean[l]);
    rho.push_back(prior_variance[l]);
    for (std::size_t k = 0; k < tau[l].size(); ++k) {
      rho[l][k] = 1 / prior_variance[l][k];
      tau[l][k] = prior_mean[l][k] / prior_variance[l][k];
    }
  }
  auto zero = tau;
  for (auto& layer : zero)
    for (double& t : layer) t = 0;
  stored_tau_.assign(static_cast<std::size_t>(batches), zero);
  stored_rho_ = stored_tau_;
}

Algorithm1::Forward Algorithm1::forward(const std::vector<double>& input) const {
  Forward f;
  f.activation.emplace_back();
  for (const double x : input) f.activation[0].push_back({x, 0});
  for (std::size_t l = 0; l < tau.size(); ++l) {
    const auto fan_in = static_cast<std::size_t>(widths_[l]);
    f.sum.emplace_back();
    f.product.emplace_back();
    f.activation.emplace_back();
    for (std::size_t i = 0; i < static_cast<std::size_t>(widths_[l + 1]); ++i) {
      MeanVariance z{0, 0};
      for (std::size_t j = 0; j < fan_in; ++j) {
        const double vw = 1 / rho[l][i * fan_in + j], mw = tau[l][i * fan_in + j] * vw;
        const MeanVariance x = f.activation[l][j];
        const MeanVariance p{mw * x.mean, vw * x.mean * x.mean + x.variance * mw * mw + vw * x.variance};
        f.product[l].push_back(p);
        z = {z.mean + p.mean, z.variance + p.variance};
      }
      f.sum[l].push_back(z);
      f.activation[l + 1].push_back(l + 1 < tau.size() ? relu_forward(z, slopes_[l]) : z);
    }
  }
  return f;
}

std::vector<MeanVariance> Algorithm1::predict(const std::vector<double>& input) const {
  return forward(input).sum.back();
}

void Algorithm1::learn(const std::vector<double>& input, const std::vector<double>& target) {
  const Forward f = forward(input);
  std::vector<MeanVariance> back;
  for (const double y : target) back.push_back({y, noise_variance_});
  auto new_tau = tau, new_rho = rho;
  for (std::size_t l = tau.size(); l-- > 0;) {
    const auto fan_in = static_cast<std::size_t>(widths_[l]);
    std::vector<double> x_tau(fan_in), x_rho(fan_in);
    for (std::size_t i = 0; i < back.size(); ++i)
      for (std::size_t j = 0; j < fan_in; ++j) {
        const std::size_t k = i * fan_in + j;
        const MeanVariance cavity{back[i].mean - f.sum[l][i].mean + f.product[l][k].mean,
                             back[i].variance + f.sum[l][i].variance - f.product[l][k].variance};
        const double vw = 1 / rho[l][k];
        product_backward(f.activation[l][j], cavity, new_tau[l][k], new_rho[l][k]);
        product_backward({tau[l][k] * vw, vw}, cavity, x_tau[j], x_rho[j]);
      }
    if (l == 0) break;
    back.clear();
    for (std::size_t j = 0; j < fan_in; ++j)
      back.push_back(relu_backward({x_tau[j] / x_rho[j], 1 / x_rho[j]}, slopes_[l - 1]));
  }
  tau = std::move(new_tau);
  rho = std::move(new_rho);
}

void Algorithm1::epoch(const std::vector<std::vector<double>>& inputs,
                       const std::vector<std::vector<double>>& targets) {
  const std::size_t n = inputs.size(), batches = static_cast<std::size_t>(batches_);
  for (std::size_t b = 0; b < batches; ++b) {
    const auto for_all = [&](const auto& change) {
      for (std::size_t l = 0; l < tau.size(); ++l)
        for (std::size_t k = 0; k < tau[l].size(); ++k) change(l, k);
    };
    for_all([&](std::size_t l, std::size_t k) {
      tau[l][k] -= stored_tau_[b][l][k];
      rho[l][k] -= stored_rho_[b][l][k];
    });
    const auto cavity_tau = tau, cavity_rho = rho;
    for (std::size_t i = b * n / batches; i < (b + 1) * n / batches; ++i) learn(inputs[i], targets[i]);
    for_all([&](std::size_t l, std::size_t k) {
      stored_tau_[b][l][k] = tau[l][k] - cavity_tau[l][k];
      stored_rho_[b][l][k] = rho[l][k] - cavity_rho[l][k];
    });
  }
}

}  // namespace dma::oracle
