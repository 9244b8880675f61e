#include "factors/standard_registry.h"

#include "factors/copy.h"
#include "factors/gaussian_noise.h"
#include "factors/gaussian_prior.h"
#include "factors/inner_product.h"
#include "factors/leaky_relu.h"
#include "factors/log_copy.h"
#include "factors/product.h"
#include "factors/sum.h"

namespace dma {

namespace {

using Values = std::span<const double>;

double log_normal_density(double x, double mean, double variance) {
  return log_density(Gaussian::from_moments(mean, variance), x);
}

// Coefficients as the sum's parameters.
struct SumParameters {
  Values coefficients;
  static SumParameters bind(const ParameterRow& row) { return {row.terms(0)}; }
};

}  // namespace

Registry standard_registry() {
  Registry registry;
  registry
      .add(kind("gaussian_prior", "N(x; mean, variance)")
               .output("x")
               .parameter("mean", finite())
               .parameter("variance", at_least(0), advice("0 is a point mass, inf no prior at all"))
               .log_density([](Values v, Values p) { return log_normal_density(v[0], p[0], p[1]); })
               .message<&GaussianPrior::to_x>(kExact, "x"))
      .add(kind("gaussian_noise", "N(y; x, variance)")
               .input("x")
               .output("y")
               .parameter("variance", at_least(0), finite())
               .log_density([](Values v, Values p) { return log_normal_density(v[1], v[0], p[0]); })
               .message<&GaussianNoise::to_y>(kExact, "y")
               .message<&GaussianNoise::to_x>(kExact, "x"))
      .add(kind("product", "z = x y")
               .input("x")
               .input("y")
               .output("z")
               .function([](Values v, Values) { return Product::value(v[0], v[1]); })
               .watch_signal_to_noise()
               .message<&Product::to_z>("dma", "z")
               .message<&Product::to_factor>("dma", "x", from("y", "z"))
               .message<&Product::to_factor>("dma", "y", from("x", "z")))
      .add(kind("sum", "total = sum of coefficient * term (of logarithms on log_normal variables)")
               .variadic_input("terms", std::nullopt)
               .output("total", std::nullopt)
               .per_term_parameter("coefficients", 1.0, finite())
               .function([](Values v, Values c) { return Sum::value(v, c); })
               .message(kExact, "total",
                        [](std::span<const Gaussian> terms, SumParameters p) { return Sum::to_total(terms, p.coefficients); })
               .message(
                   kExact, "terms",
                   [](std::span<const Gaussian> terms, const Gaussian& total, SumParameters p, std::span<Gaussian> out) {
                     Sum::to_terms(terms, total, p.coefficients, out);
                   },
                   from("terms", "total")))
      .add(kind("copy", "all copies equal x")
               .input("x", std::nullopt)
               .variadic_output("copies", std::nullopt)
               .function([](Values v, Values) { return v[0]; })
               .message(kExact, "x",
                        [](std::span<const Gaussian> copies) {
                          Gaussian product;
                          for (const Gaussian& c : copies) product = product * c;
                          return product;
                        })
               .message(
                   kExact, "copies",
                   [](const Gaussian& x, std::span<const Gaussian> copies, std::span<Gaussian> out) {
                     Copy::to_all(copies, out);
                     for (Gaussian& message : out) message = x * message;
                   },
                   from("x", "copies")))
      .add(kind("log_copy", "x = sign exp(log)")
               .input("log", Family::log_normal)
               .output("x")
               .optional_parameter("sign", 1.0, one_of({-1, 1}))
               .function([](Values v, Values p) { return LogCopy::value(v[0], {p[0]}); })
               .message<&LogCopy::to_x>("dma", "x")
               .message<&LogCopy::to_log>("dma", "log"))
      .add(kind("leaky_relu", "y = max(0, x) + slope min(0, x)")
               .input("x")
               .output("y")
               .parameter("slope", above(0), at_most(1),
                          advice("at slope 0 the message to x is improper (every x <= 0 gives y = 0); a small positive slope "
                                 "such as 0.01 is the way out"))
               .function([](Values v, Values p) { return LeakyRelu::value(v[0], {p[0]}); })
               .message<&LeakyRelu::to_y>("dma", "y")
               .message<&LeakyRelu::to_x>("dma", "x"))
      .add(kind("inner_product", "total = sum of x y")
               .variadic_input("x")
               .variadic_input("y")
               .output("total")
               .function([](Values v, Values) { return InnerProduct::value(v); })
               .watch_signal_to_noise()
               .kernel("dma", "total", from("x", "y"), &InnerProduct::to_total<false>, &InnerProduct::to_total<true>)
               .kernel("dma", "x", from("x", "y", "total"), &InnerProduct::to_x<false>, &InnerProduct::to_x<true>)
               .kernel("dma", "y", from("x", "y", "total"), &InnerProduct::to_y<false>, &InnerProduct::to_y<true>)
               .joint_kernel("dma", "x", "y", &InnerProduct::to_x_and_y<false>, &InnerProduct::to_x_and_y<true>))
      .fuse({.producer = "product", .via = "z", .consumer = "sum", .into = "terms", .fused = "inner_product"});
  return registry;
}

}  // namespace dma
