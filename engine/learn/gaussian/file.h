// Learned states as members of a file (engine/support/fields.h), and checks that they can be computed with: the file
// may be damaged.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/learn/gaussian/mixture.h"
#include "engine/learn/gaussian/program/row_program.h"
#include "engine/support/fields.h"

namespace dma {

void list_fields(Fields& f, StudentTails& tails);
void list_fields(Fields& f, SharedPosterior& posterior);
void list_fields(Fields& f, GraphChoice& choice);
void list_fields(Fields& f, GraphMixture::Member& member);
void list_fields(Fields& f, GraphMixture::Memory& memory);

// Each throws Error unless sizes fit and all numbers can be computed with (engine/support/usable.h).
void check_tails(const StudentTails& tails);
void check_row_weights(const Vector& weights, Index rows);
// Sizes that a mixture must fit: `scalars` of its graph, and of the simple one if there is one.
struct MixtureSizes {
  MixtureSizes(const SharedModel& model, const SharedModel* simple, Index scalars, Index inputs);
  Index scalars, simple = 0, inputs = 0;
  Index scales = 1, scales_of_simple = 1;  // factors on the prior's precisions
  std::size_t outputs = 1;
  bool is_gaussian = true;  // true if the noise of all targets is; otherwise there is always a factor of the precision
};
void check_mixture(const GraphMixture::Memory& memory, const MixtureSizes& sizes);

// All that a GaussianLearner knows.
struct SavedLearner {
  std::string shape = {};  // names and sizes in the graph, which must be the same
  std::size_t examples = 0;
  std::vector<bool> frozen = {};  // by scalar
  Vector held = {};
  GraphMixture::Memory mixture = {};
};
std::string shape_of(const Graph& graph, const RowProgram& program, const std::vector<VariableId>& targets);
std::string learned_text(SavedLearner learner);
SavedLearner learned_from(std::string_view bytes, std::string_view shape);

}  // namespace dma
