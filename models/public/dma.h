// All that a program needs: #include <dma.h>, link dma::dma.
//
//   a model       Graph, and product, sum, leaky_relu, ... (expressions.h) or Graph::factor; parse_graph, graph_text: as a file
//   to run it     compile, State, run, Report; forward_backward, flooding, sequential, residual; joint, JointPosterior, compare_with_joint
//   its kinds     standard_registry, factor_from_function, likelihood_from_log_density, kind
//   to learn      Learner; Bnn, a neural network, and regression_settings; Classifier, class_scores_of
//   models        linear_regression, HiddenMarkov, gaussian_mixture, factorise
//   series        StateSpace of random_walk, local_trend, motion, seasonal, autoregressive; SeriesFilter
//   games         rate_season, Rating, chances
//   to look       explain, to_dot, describe; log_evidence, evidence
//   its families  gaussian, log_normal, gamma, beta, bernoulli, categorical(K), dirichlet(K), or your own
#pragma once

#include "engine/compile/compile.h"
#include "engine/inspect/dot.h"
#include "engine/inspect/explain.h"
#include "engine/joint/joint.h"
#include "engine/learn/learn.h"
#include "engine/run/evidence.h"
#include "engine/run/run.h"
#include "engine/support/error.h"
#include "factors/authoring/from_function.h"
#include "factors/authoring/from_log_density.h"
#include "factors/standard_registry.h"
#include "models/classifier/classifier.h"
#include "models/games/rating.h"
#include "models/graphs/expressions.h"
#include "models/graphs/graph_file.h"
#include "models/linear/linear_regression.h"
#include "models/linear/matrix_factorisation.h"
#include "models/mixtures/gaussian_mixture.h"
#include "models/mixtures/hidden_markov.h"
#include "models/network/bnn.h"
#include "models/network/regression.h"
#include "models/series/series_filter.h"
#include "models/series/state_space.h"
#include "schedules/flooding.h"
#include "schedules/forward_backward.h"
#include "schedules/residual.h"
#include "schedules/sequential.h"
