// Parts of a GaussianLearner that models of tables share: examples as rows of numbers, its options and reports as those
// of a mixture.
#pragma once

#include <string_view>
#include <vector>

#include "engine/learn/gaussian/ensemble.h"
#include "engine/learn/gaussian/learner.h"
#include "engine/learn/gaussian/program/row_program.h"

namespace dma {

// The columns of `variables`, one example per row, then those of `tables`. `what` is the call that errors name.
Matrix gather_rows(const Graph& graph, const std::vector<VariableId>& variables,
                   const std::vector<RowProgram::Table>& tables, const Data& data, std::string_view what);

// Reports of the members of a mixture.
GaussianLearnReport report_of(const GraphMixture& mixture, const GraphMixtureReport& fitted);

// The same options for an ensemble.
EnsembleOptions ensemble_options(const GaussianLearnOptions& options, const RowProgram& program);
// The graph of a program as a family knows it.
SharedModel shared_model(std::shared_ptr<const RowProgram> program, const GaussianLearnOptions& options,
                         const Graph& graph);
// The moments of some scalars of a mixture, from `first` on.
std::vector<Gaussian> beliefs_of(const GraphMixture& mixture, Index first, Index size);
// Targets as learning takes them: a class as 0 or 1 for each of its outputs. An Error, after `what`, for a value that
// its likelihood cannot have made.
Matrix coded_targets(const Matrix& values, const OutputLikelihoods& likelihoods, Index outputs, std::string_view what);

}  // namespace dma
