// The models, and the engine below them (<dma.h>): #include <dma_models.h>, link dma::dma.
//
//   a table       Bnn, a neural network, and regression_settings; Classifier, class_scores_of; GraphModel, a graph of
//                 your own; TableModel, each of them with names of columns, as a file
//   linear        linear_regression, factorise
//   mixtures      gaussian_mixture, HiddenMarkov, switching and SwitchingFilter
//   series        StateSpace of random_walk, local_trend, motion, seasonal, autoregressive; SeriesChoice, SeriesFilter
//   games         rate_season, Rating, chances
//   decisions     decide, value_of_information
#pragma once

#include "models/decisions/decision.h"
#include "models/games/rating.h"
#include "models/linear/linear_models.h"
#include "models/mixtures/gaussian_mixture.h"
#include "models/mixtures/hidden_markov.h"
#include "models/mixtures/switching.h"
#include "models/network/bnn.h"
#include "models/network/classifier.h"
#include "models/predict/table_model.h"
#include "models/public/dma.h"
#include "models/series/series_choice.h"
#include "models/series/state_space.h"
