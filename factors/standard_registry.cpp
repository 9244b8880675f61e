#include "factors/standard_registry.h"

#include "factors/arithmetic/linear.h"
#include "factors/arithmetic/poses.h"
#include "factors/families/bernoulli.h"
#include "factors/families/beta.h"
#include "factors/families/categorical.h"
#include "factors/families/charts.h"
#include "factors/families/dirichlet.h"
#include "factors/families/gamma.h"
#include "factors/families/log_normal.h"
#include "factors/likelihoods/gaussian_linear.h"
#include "factors/likelihoods/gaussian_noise.h"
#include "factors/likelihoods/gaussian_prior.h"

namespace dma {

Registry standard_registry() {
  Registry registry;
  registry.add_family<LogNormalFamily>()
      .add_family<Gamma>()
      .add_family<Beta>()
      .add_family<Bernoulli>()
      .add_family<Categorical>()
      .add_family<Dirichlet>();
  registry.add(add_kind())
      .add(affine_kind())
      .add(copy_kind())
      .add(exponential_kind())
      .add(inner_product_kind())
      .add(leaky_relu_kind())
      .add(linear_kind())
      .add(log_copy_kind())
      .add(max_kind())
      .add(product_kind())
      .add(square_kind())
      .add(sum_kind())
      .fuse({.producer = "product", .via = "z", .consumer = "sum", .into = "terms", .fused = "inner_product"});
  registry.add(argmax_kind())
      .add(bernoulli_draw_kind())
      .add(categorical_draw_kind())
      .add(bernoulli_prior_kind())
      .add(beta_binomial_kind())
      .add(beta_prior_kind())
      .add(binomial_kind())
      .add(categorical_prior_kind())
      .add(dirichlet_prior_kind())
      .add(gamma_prior_kind())
      .add(gaussian_linear_kind())
      .add(gaussian_log_variance_kind())
      .add(gaussian_noise_kind())
      .add(gaussian_precision_kind())
      .add(gaussian_prior_kind())
      .add(greater_than_kind())
      .add(interval_kind())
      .add(learned_table_kind())
      .add(logistic_kind())
      .add(mixture_kind())
      .add(multinomial_kind())
      .add(negative_binomial_kind())
      .add(normal_mixture_kind())
      .add(ordered_kind())
      .add(poisson_kind())
      .add(poisson_draw_kind())
      .add(potential_kind())
      .add(probit_kind())
      .add(softmax_kind())
      .add(student_t_noise_kind())
      .add(student_t_log_variance_kind())
      .add(table_kind())
      .add(weibull_kind())
      .add(within_kind());
  return add_poses(registry);
}

Registry joint_registry() {
  Registry registry;
  registry.add(gaussian_linear_density())
      .add(gaussian_noise_density())
      .add(gaussian_prior_density())
      .add(linear_function());
  return registry;
}

Registry& add_poses(Registry& registry) {
  registry.add_family<AnglePoint>().add_family<RotationPoint>().add_family<Pose2Point>().add_family<Pose3Point>();
  for (Kind& each : pose_kinds()) registry.add(std::move(each));
  return registry;
}

}  // namespace dma
