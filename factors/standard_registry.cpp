#include "factors/standard_registry.h"

#include "factors/arithmetic/add.h"
#include "factors/arithmetic/affine.h"
#include "factors/arithmetic/copy.h"
#include "factors/arithmetic/exponential.h"
#include "factors/arithmetic/inner_product.h"
#include "factors/arithmetic/leaky_relu.h"
#include "factors/arithmetic/leaky_relu_ep.h"
#include "factors/arithmetic/leaky_relu_linearised.h"
#include "factors/arithmetic/linear.h"
#include "factors/arithmetic/log_copy.h"
#include "factors/arithmetic/max.h"
#include "factors/arithmetic/product.h"
#include "factors/arithmetic/product_ep.h"
#include "factors/arithmetic/product_linearised.h"
#include "factors/arithmetic/square.h"
#include "factors/arithmetic/sum.h"
#include "factors/arithmetic/vmp.h"
#include "factors/authoring/from_log_density.h"
#include "factors/families.h"
#include "factors/likelihoods/gaussian_noise.h"
#include "factors/likelihoods/gaussian_prior.h"
#include "factors/likelihoods/greater_than.h"
#include "factors/likelihoods/logistic.h"
#include "factors/likelihoods/poisson.h"
#include "factors/likelihoods/probit.h"
#include "factors/likelihoods/student_t_noise.h"
#include "factors/likelihoods/within.h"

namespace dma {

namespace {

using Values = std::span<const double>;
using Messages = std::span<const Natural>;

double log_normal_density(double x, double mean, double variance) {
  return log_density(Gaussian::from_moments(mean, variance), x);
}

constexpr auto kDirect = InnerProduct::Rule::direct;
constexpr auto kLinearised = InnerProduct::Rule::linearised;

}  // namespace

Registry standard_registry() {
  Registry registry;
  add_families(registry);
  add_kinds_of_families(registry);
  registry
      .add(kind("gaussian_prior", "N(x; mean, variance)")
               .output("x")
               .parameter("mean", finite())
               .parameter("variance", at_least(0), advice("0 is a point mass, inf no prior at all"))
               .log_density([](Values v, Values p) { return log_normal_density(v[0], p[0], p[1]); })
               .gaussian_row(&GaussianPrior::row)
               .message<&GaussianPrior::to_x>(kExact, "x"))
      .add(kind("gaussian_noise", "N(y; x, variance)")
               .input("x")
               .output("y")
               .parameter("variance", at_least(0), finite())
               .log_density([](Values v, Values p) { return log_normal_density(v[1], v[0], p[0]); })
               .gaussian_row(&GaussianNoise::row)
               .message<&GaussianNoise::to_y>(kExact, "y")
               .message<&GaussianNoise::to_x>(kExact, "x")
               .walk_pair<&GaussianNoise::to_y, &GaussianNoise::to_x>(kExact, "y", "x"))
      .add(kind("product", "z = x y")
               .input("x")
               .input("y")
               .output("z")
               .function([](Values v, Values) { return Product::value(v[0], v[1]); })
               .linear_view(&Product::linear_view, &Product::linear_in)
               .watch_signal_to_noise()
               .message<&Product::to_z, &Product::block_to_z>("dma", "z")
               .message<&Product::to_factor, &Product::block_to_factor>("dma", "x", from("y", "z"))
               .message<&Product::to_factor, &Product::block_to_factor>("dma", "y", from("x", "z"))
               .message<&ProductLinearised::to_z, &Product::block_to_z>("linearised", "z")
               .message<&ProductLinearised::to_factor>("linearised", "x", from("x", "y", "z"))
               .message<&ProductLinearised::to_factor>("linearised", "y", from("y", "x", "z"))
               .message<&ProductEp::to_z>("ep", "z", from("x", "y", "z"))
               .message<&ProductEp::to_factor>("ep", "x", from("x", "y", "z"))
               .message<&ProductEp::to_factor>("ep", "y", from("y", "x", "z"))
               .message<&ProductVmp::to_z>("vmp", "z")
               .message<&ProductVmp::to_factor>("vmp", "x", from("y", "z"))
               .message<&ProductVmp::to_factor>("vmp", "y", from("x", "z")))
      .add(kind("square", "y = x^2")
               .input("x")
               .output("y")
               .function([](Values v, Values) { return Square::value(v[0]); })
               .linear_view(&Square::linear_view)
               .message<&Square::to_y>(kLinearisedMethod, "y")
               .message<&Square::to_x>(kLinearisedMethod, "x", from("x", "y")))
      .add(kind("exponential", "y = exp(x)")
               .input("x")
               .output("y")
               .function([](Values v, Values) { return Exponential::value(v[0]); })
               .linear_view(&Exponential::linear_view)
               .message<&Exponential::to_y>(kLinearisedMethod, "y")
               .message<&Exponential::to_x>(kLinearisedMethod, "x", from("x", "y")))
      .add(kind("max", "y = max(x1, x2)")
               .input("x1")
               .input("x2")
               .output("y")
               .function([](Values v, Values) { return Max::value(v[0], v[1]); })
               .linear_view(&Max::linear_view)
               .message<&Max::to_y>(kLinearisedMethod, "y")
               .message<&Max::to_x>(kLinearisedMethod, "x1", from("x1", "x2", "y"))
               .message<&Max::to_x>(kLinearisedMethod, "x2", from("x2", "x1", "y")))
      .add(kind("affine", "y = a x + b")
               .input("x")
               .output("y")
               .parameter("a", finite())
               .optional_parameter("b", 0.0, finite())
               .function([](Values v, Values p) { return Affine::value(v[0], {p[0], p[1]}); })
               .linear_view(&Affine::linear_view, linear_in_all)
               .message<&Affine::to_y>(kExact, "y")
               .message<&Affine::to_x>(kExact, "x"))
      .add(kind("linear", "y = A x + b, A row after row")
               .variadic_input("x")
               .output("y")
               .per_term_parameter("A", 1.0, finite())
               .optional_parameter("b", 0.0, finite())
               .function([](Values v, Values p) { return Linear::value(v, p); })
               .linear_view(&Linear::linear_view, linear_in_all)
               .message<&Linear::to_y>(kExact, "y")
               .message<&Linear::to_x>(kExact, "x", from("x", "y")))
      .add(kind("sum", "total = sum of coefficient * term (of logarithms on log_normal variables)")
               .variadic_input("terms", std::nullopt)
               .output("total", std::nullopt)
               .per_term_parameter("coefficients", 1.0, finite())
               .function([](Values v, Values c) { return Sum::value(v, c); })
               .linear_view(&Sum::linear_view, linear_in_all)
               .message<&Sum::message_to_total, &Sum::block_to_total>(kExact, "total")
               .message<&Sum::message_to_terms, &Sum::block_to_terms>(kExact, "terms", from("terms", "total")))
      .add(kind("add", "z = x + y")
               .input("x")
               .input("y")
               .output("z")
               .function([](Values v, Values) { return Add::value(v[0], v[1]); })
               .linear_view(&Add::linear_view, linear_in_all)
               .message<&Add::to_z, &Add::block_to_z>(kExact, "z")
               .message<&Add::to_term, &Add::block_to_term>(kExact, "x", from("y", "z"))
               .message<&Add::to_term, &Add::block_to_term>(kExact, "y", from("x", "z")))
      .add(kind("copy", "all copies equal x")
               .input("x", std::nullopt)
               .variadic_output("copies", std::nullopt)
               .function([](Values v, Values) { return v[0]; })
               .linear_view(&Copy::linear_view, linear_in_all)
               .log_integral([](Messages m, Values) { return Copy::log_integral(m); })
               .message<&Copy::to_x, &Copy::block_to_x>(kExact, "x")
               .message<&Copy::to_copies, &Copy::block_to_copies>(kExact, "copies", from("x", "copies")))
      .add(kind("log_copy", "x = sign exp(log)")
               .input("log", "log_normal")
               .output("x")
               .optional_parameter("sign", 1.0, one_of({-1, 1}))
               .function([](Values v, Values p) { return LogCopy::value(v[0], {p[0]}); })
               .linear_view(&LogCopy::linear_view)
               .message<&LogCopy::to_x, &LogCopy::block_to_x>("dma", "x")
               .message<&LogCopy::to_log, &LogCopy::block_to_log>("dma", "log"))
      .add(kind("leaky_relu", "y = max(0, x) + slope min(0, x)")
               .input("x")
               .output("y")
               .parameter("slope", above(0), at_most(1),
                          advice("at slope 0 the message to x is improper (every x <= 0 gives y = 0); a small positive slope "
                                 "such as 0.01 is the way out"))
               .function([](Values v, Values p) { return LeakyRelu::value(v[0], {p[0]}); })
               .linear_view(&LeakyReluLinearised::linear_view)
               .message<&LeakyRelu::to_y, &LeakyRelu::block_to_y>("dma", "y")
               .message<&LeakyRelu::to_x, &LeakyRelu::block_to_x>("dma", "x")
               .message<&LeakyRelu::to_y, &LeakyRelu::block_to_y>("linearised", "y")
               .message<&LeakyReluLinearised::to_x>("linearised", "x", from("x", "y"))
               .message<&LeakyReluEp::to_y>("ep", "y", from("x", "y"))
               .message<&LeakyReluEp::to_x>("ep", "x", from("x", "y"))
               .message<&LeakyRelu::to_y, &LeakyRelu::block_to_y>("hybrid", "y")
               .message<&LeakyReluEp::to_x_or_linearised, &LeakyReluEp::block_to_x_or_linearised>("hybrid", "x",
                                                                                                  from("x", "y"))
               .message<&LeakyReluVmp::to_y>("vmp", "y")
               .message<&LeakyReluVmp::to_x>("vmp", "x"))
      .add(kind("probit", "y > 0 with probability Phi(x)")
               .input("x")
               .output("y")
               .log_density([](Values v, Values) { return Probit::log_density(v[0], v[1]); })
               .log_integral([](Messages m, Values) { return Probit::log_integral(Gaussian(m[0]), Gaussian(m[1])); })
               .observes("y", one_of({-1, 0, 1}))
               .message<&Probit::to_x>("ep", "x", from("x", "y"))
               .message<&Probit::to_y>("ep", "y", from("x", "y")))
      .add(kind("greater_than", "x > threshold")
               .input("x")
               .optional_parameter("threshold", 0.0, finite())
               .log_density([](Values v, Values p) { return GreaterThan::log_density(v[0], {p[0]}); })
               .log_integral([](Messages m, Values p) { return GreaterThan::log_integral(Gaussian(m[0]), {p[0]}); })
               .message<&GreaterThan::to_x>("ep", "x", from("x")))
      .add(kind("within", "|x| <= margin")
               .input("x")
               .parameter("margin", above(0), finite())
               .log_density([](Values v, Values p) { return Within::log_density(v[0], {p[0]}); })
               .log_integral([](Messages m, Values p) { return Within::log_integral(Gaussian(m[0]), {p[0]}); })
               .message<&Within::to_x>("ep", "x", from("x")))
      .add(likelihood_from_log_density("logistic", &Logistic::log_density, "y > 0 with probability 1 / (1 + exp(-x))")
               .observes("y", one_of({-1, 0, 1})))
      .add(likelihood_from_log_density("poisson", &Poisson::log_density, "y counts events of rate exposure exp(x)",
                                       {{"exposure", above(0) & finite(), 1.0}})
               .observes("y", at_least(0) & finite() & whole()))
      .add(kind("student_t_noise", "y = x + scale T, T of Student's distribution")
               .input("x")
               .output("y")
               .parameter("scale", above(0), finite())
               .parameter("degrees", above(0), finite())
               .log_density([](Values v, Values p) { return StudentTNoise::log_density(v[0], v[1], {p[0], p[1]}); })
               .log_integral([](Messages m, Values p) {
                 return StudentTNoise::log_integral(Gaussian(m[0]), Gaussian(m[1]), {p[0], p[1]});
               })
               .message<&StudentTNoise::to_x>("ep", "x", from("x", "y"))
               .message<&StudentTNoise::to_y>("ep", "y", from("x", "y")))
      .add(kind("inner_product", "total = sum of x y")
               .variadic_input("x")
               .variadic_input("y")
               .same_terms("x", "y")
               .output("total")
               .function([](Values v, Values) { return InnerProduct::value(v); })
               .linear_view(&InnerProduct::linear_view, &InnerProduct::linear_in)
               .watch_signal_to_noise()
               .kernel("dma", "total", from("x", "y"), &InnerProduct::to_total<false>, &InnerProduct::to_total<true>,
                       &InnerProduct::held_to_total)
               .kernel("dma", "x", from("x", "y", "total"), &InnerProduct::to_terms<kDirect, false, true, false>,
                       &InnerProduct::to_terms<kDirect, true, true, false>, &InnerProduct::held_to_terms<kDirect, false>)
               .kernel("dma", "y", from("x", "y", "total"), &InnerProduct::to_terms<kDirect, false, false, true>,
                       &InnerProduct::to_terms<kDirect, true, false, true>)
               .joint_kernel("dma", "x", "y", &InnerProduct::to_terms<kDirect, false, true, true>,
                             &InnerProduct::to_terms<kDirect, true, true, true>, &InnerProduct::held_to_terms<kDirect, true>)
               .kernel("linearised", "total", from("x", "y"), &InnerProduct::to_total<false>, &InnerProduct::to_total<true>,
                       &InnerProduct::held_to_total)
               .kernel("linearised", "x", from("x", "y", "total"), &InnerProduct::to_terms<kLinearised, false, true, false>,
                       &InnerProduct::to_terms<kLinearised, true, true, false>, &InnerProduct::held_to_terms<kLinearised, false>)
               .kernel("linearised", "y", from("x", "y", "total"), &InnerProduct::to_terms<kLinearised, false, false, true>,
                       &InnerProduct::to_terms<kLinearised, true, false, true>)
               .joint_kernel("linearised", "x", "y", &InnerProduct::to_terms<kLinearised, false, true, true>,
                             &InnerProduct::to_terms<kLinearised, true, true, true>, &InnerProduct::held_to_terms<kLinearised, true>))
      .fuse({.producer = "product", .via = "z", .consumer = "sum", .into = "terms", .fused = "inner_product"});
  return registry;
}

}  // namespace dma
