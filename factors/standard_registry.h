// The built-in families and kinds. Each kind is defined at the end of its own .cpp (arithmetic/product.cpp).
#pragma once

#include "engine/kinds/registry.h"

namespace dma {

// A fresh copy of the registry of built-in kinds; add your own kinds to it.
Registry standard_registry();

// Four kinds without messages, for joint() and growing graphs, which need them: gaussian_prior, gaussian_noise,
// gaussian_linear and linear. A small program adds functions of its own, or some of the kinds below, and is linked
// without the others.
Registry joint_registry();
// Adds points on manifolds and the kinds among them.
Registry& add_poses(Registry& registry);

Kind add_kind();
Kind affine_kind();
Kind argmax_kind();
Kind bernoulli_draw_kind();
Kind bernoulli_prior_kind();
Kind beta_binomial_kind();
Kind beta_prior_kind();
Kind binomial_kind();
Kind categorical_draw_kind();
Kind categorical_prior_kind();
Kind copy_kind();
Kind dirichlet_prior_kind();
Kind exponential_kind();
Kind gamma_prior_kind();
Kind gaussian_linear_kind();
Kind gaussian_log_variance_kind();
Kind gaussian_noise_kind();
Kind gaussian_precision_kind();
Kind gaussian_prior_kind();
Kind greater_than_kind();
Kind inner_product_kind();
Kind interval_kind();
Kind leaky_relu_kind();
Kind learned_table_kind();
Kind linear_kind();
Kind log_copy_kind();
Kind logistic_kind();
Kind max_kind();
Kind mixture_kind();
Kind multinomial_kind();
Kind negative_binomial_kind();
Kind normal_mixture_kind();
Kind ordered_kind();
Kind poisson_draw_kind();
Kind poisson_kind();
Kind potential_kind();
Kind probit_kind();
Kind product_kind();
Kind softmax_kind();
Kind square_kind();
Kind student_t_log_variance_kind();
Kind student_t_noise_kind();
Kind sum_kind();
Kind table_kind();
Kind weibull_kind();
Kind within_kind();

}  // namespace dma
