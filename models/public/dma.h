// The engine: #include <dma.h>, link dma::dma. <dma_models.h> has the models too.
//
//   a model       Graph, and product, sum, leaky_relu, ... (expressions.h), gaussian_vector_prior,
//                 between or Graph::factor; parse_graph, graph_text, parse_g2o: as a file
//   or shorter    Model, expressions of its arrays, and solve, which chooses the solver and says why: Answer
//   to run it     compile, State, run, Report; forward_backward, flooding, sequential, residual; joint, hyper,
//                 JointPosterior, draw_posterior, compare_with_joint; exact, ExactPosterior, compare_with_exact;
//                 tree_reweighted, evidence_bounds; gates, around any of them; GrowingGraph
//   its kinds     standard_registry, factor_from_function, factor_from_vector_function, likelihood_from_log_density,
//                 kind
//   to learn      Learner, by messages; GaussianLearner, by one Gaussian over all shared variables
//   to look       explain, to_dot, describe; log_evidence, evidence
//   to judge      certify: of a kind; certificate: of a run; version
//   its families  gaussian, log_normal, gamma, beta, bernoulli, categorical(K), dirichlet(K), or your own;
//                 angle, rotation, pose2, pose3, for joint
#pragma once

#include "engine/certify/certify.h"
#include "engine/compile/compile.h"
#include "engine/compile/schedule.h"
#include "engine/exact/exact.h"
#include "engine/gates/gates.h"
#include "engine/inspect/inspect.h"
#include "engine/joint/joint.h"
#include "engine/learn/gaussian/learner.h"
#include "engine/learn/messages/learner.h"
#include "engine/run/run.h"
#include "engine/support/text.h"
#include "engine/support/version.h"
#include "factors/authoring/from_function.h"
#include "factors/standard_registry.h"
#include "models/graphs/expressions.h"
#include "models/graphs/graph_file.h"
#include "models/graphs/growing.h"
#include "models/graphs/model.h"
#include "schedules/schedules.h"
