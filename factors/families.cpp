#include "factors/families.h"

#include "factors/families/bernoulli.h"
#include "factors/families/beta.h"
#include "factors/families/categorical.h"
#include "factors/families/dirichlet.h"
#include "factors/families/gamma.h"
#include "factors/families/log_normal.h"
#include "factors/likelihoods/argmax.h"
#include "factors/likelihoods/draws.h"
#include "factors/likelihoods/gaussian_precision.h"
#include "factors/likelihoods/mixture.h"
#include "factors/likelihoods/priors.h"
#include "factors/likelihoods/table.h"

namespace dma {

void add_families(Registry& registry) {
  registry.add_family<LogNormalFamily>()
      .add_family<Gamma>()
      .add_family<Beta>()
      .add_family<Bernoulli>()
      .add_family<Categorical>()
      .add_family<Dirichlet>();
}

void add_kinds_of_families(Registry& registry) {
  registry
      .add(kind("gaussian_precision", "N(value; mean, 1 / precision)")
               .input("mean")
               .input("precision", "gamma")
               .output("value")
               .log_density([](std::span<const double> v, std::span<const double>) { return GaussianPrecision::log_density(v[0], v[1], v[2]); })
               .log_integral([](Lanes m, std::span<const double>) { return GaussianPrecision::log_integral(m); })
               .expected_log([](Lanes q, std::span<const double>) { return GaussianPrecision::expected_log(q); })
               .message<&GaussianPrecision::Ep::to_value>("ep", "value", from("mean", "precision", "value"))
               .message<&GaussianPrecision::Ep::to_mean>("ep", "mean", from("mean", "precision", "value"))
               .message<&GaussianPrecision::Ep::to_precision>("ep", "precision", from("mean", "precision", "value"))
               .message<&GaussianPrecision::Vmp::to_value>("vmp", "value", from("mean", "precision", "value"))
               .message<&GaussianPrecision::Vmp::to_mean>("vmp", "mean", from("mean", "precision", "value"))
               .message<&GaussianPrecision::Vmp::to_precision>("vmp", "precision", from("mean", "precision", "value")))
      .add(kind("gamma_prior", "gamma(x; shape, rate)")
               .output("x", "gamma")
               .parameter("shape", above(0), finite())
               .parameter("rate", above(0), finite())
               .message<&GammaPrior::to_x>(kExact, "x"))
      .add(kind("beta_prior", "beta(x; a, b)")
               .output("x", "beta")
               .parameter("a", above(0), finite())
               .parameter("b", above(0), finite())
               .message<&BetaPrior::to_x>(kExact, "x"))
      .add(kind("bernoulli_prior", "x = 1 with the probability")
               .output("x", "bernoulli")
               .parameter("probability", at_least(0), at_most(1))
               .message<&BernoulliPrior::to_x>(kExact, "x"))
      .add(kind("dirichlet_prior", "dirichlet(x; concentration)")
               .output("x", "dirichlet")
               .table_parameter("concentration", &DirichletPrior::prepare, above(0) & finite())
               .message<&DirichletPrior::to_x>(kExact, "x"))
      .add(kind("categorical_prior", "x = k with probability k")
               .output("x", "categorical")
               .table_parameter("probability", &CategoricalPrior::prepare, at_least(0))
               .message<&CategoricalPrior::to_x>(kExact, "x"))
      .add(kind("categorical_draw", "the outcome is category k with probability k, which is unknown")
               .input("probabilities", "dirichlet")
               .output("outcome", "categorical")
               .same_terms("probabilities", "outcome")
               .log_integral([](Lanes m, std::span<const double>) { return CategoricalDraw::log_integral(m); })
               .expected_log([](Lanes q, std::span<const double>) { return CategoricalDraw::expected_log(q); })
               .message<&CategoricalDraw::to_outcome>(kExact, "outcome")
               .message<&CategoricalDraw::to_probabilities>(kExact, "probabilities")
               .only_if_observed("outcome")
               .message<&CategoricalDraw::Ep::to_probabilities>("ep", "probabilities", from("probabilities", "outcome"))
               .message<&CategoricalDraw::Vmp::to_outcome>("vmp", "outcome", from("probabilities", "outcome"))
               .message<&CategoricalDraw::Vmp::to_probabilities>("vmp", "probabilities", from("probabilities", "outcome")))
      .add(kind("bernoulli_draw", "the outcome is 1 with the probability, which is unknown")
               .input("probability", "beta")
               .output("outcome", "bernoulli")
               .log_integral([](Lanes m, std::span<const double>) { return BernoulliDraw::log_integral(m); })
               .expected_log([](Lanes q, std::span<const double>) { return BernoulliDraw::expected_log(q); })
               .message<&BernoulliDraw::to_outcome>(kExact, "outcome")
               .message<&BernoulliDraw::to_probability>(kExact, "probability")
               .only_if_observed("outcome")
               .message<&BernoulliDraw::Ep::to_probability>("ep", "probability", from("probability", "outcome"))
               .message<&BernoulliDraw::Vmp::to_outcome>("vmp", "outcome", from("probability", "outcome"))
               .message<&BernoulliDraw::Vmp::to_probability>("vmp", "probability", from("probability", "outcome")))
      .add(kind("table", "P(child | parents), the child's categories innermost")
               .variadic_input("parents", "categorical")
               .output("child", "categorical")
               .table_parameter("probability", &Table::prepare, at_least(0))
               .log_integral([](Lanes m, std::span<const double> p) { return Table::log_integral(m, {p}); })
               .message<&Table::to_child>(kExact, "child")
               .message<&Table::to_parents>(kExact, "parents", from("parents", "child")))
      .add(kind("mixture", "N(y; mean k, variance k), k the selector's category")
               .input("selector", "categorical")
               .variadic_input("means")
               .same_terms("selector", "means")
               .output("y")
               .per_term_parameter("variance", 1.0, above(0), finite())
               .log_integral([](Lanes m, std::span<const double> p) { return Mixture::log_integral(m, {p}); })
               .message<&Mixture::to_selector>("ep", "selector", from("means", "y"))
               .message<&Mixture::to_means>("ep", "means", from("selector", "means", "y"))
               .message<&Mixture::to_y>("ep", "y", from("selector", "means", "y")))
      .add(kind("argmax", "the class is the largest of score + N(0, noise)")
               .variadic_input("scores")
               .output("class", "categorical")
               .same_terms("scores", "class")
               .optional_parameter("noise", 1.0, above(0), finite())
               .log_integral([](Lanes m, std::span<const double> p) { return Argmax::log_integral(m, {p[0]}); })
               .message<&Argmax::to_class>("ep", "class", from("scores"))
               .message<&Argmax::to_scores>("ep", "scores", from("scores", "class")));
}

}  // namespace dma
