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

namespace {

constexpr Kind (*kKinds[])() = {add_kind,
                                affine_kind,
                                argmax_kind,
                                bernoulli_draw_kind,
                                bernoulli_prior_kind,
                                beta_binomial_kind,
                                beta_prior_kind,
                                binomial_kind,
                                categorical_draw_kind,
                                categorical_prior_kind,
                                copy_kind,
                                dirichlet_prior_kind,
                                exponential_kind,
                                gamma_prior_kind,
                                gaussian_linear_kind,
                                gaussian_log_variance_kind,
                                gaussian_noise_kind,
                                gaussian_precision_kind,
                                gaussian_prior_kind,
                                greater_than_kind,
                                inner_product_kind,
                                interval_kind,
                                leaky_relu_kind,
                                learned_table_kind,
                                linear_kind,
                                log_copy_kind,
                                logistic_kind,
                                max_kind,
                                mixture_kind,
                                multinomial_kind,
                                negative_binomial_kind,
                                normal_mixture_kind,
                                ordered_kind,
                                poisson_draw_kind,
                                poisson_kind,
                                potential_kind,
                                probit_kind,
                                product_kind,
                                softmax_kind,
                                square_kind,
                                student_t_log_variance_kind,
                                student_t_noise_kind,
                                sum_kind,
                                table_kind,
                                weibull_kind,
                                within_kind};

}  // namespace

Registry standard_registry() {
  Registry registry;
  registry.add_family<LogNormalFamily>()
      .add_family<Gamma>()
      .add_family<Beta>()
      .add_family<Bernoulli>()
      .add_family<Categorical>()
      .add_family<Dirichlet>();
  for (Kind (*const make)() : kKinds) registry.add(make());
  registry.fuse({.producer = "product", .via = "z", .consumer = "sum", .into = "terms", .fused = "inner_product"});
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
