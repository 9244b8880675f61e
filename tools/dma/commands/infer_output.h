// The answer of a solved graph, as text and as JSON.
#pragma once

#include <optional>
#include <string>

#include "engine/support/json.h"
#include "models/graphs/graph_file.h"
#include "models/graphs/poses.h"
#include "models/graphs/solve.h"

namespace dma {

// The value, "log evidence -3.21, exact" and its parts; or why there is none.
struct FoundEvidence {
  std::optional<double> value;
  std::string line, parts, why;  // why: it is approximate; empty: exact
};
FoundEvidence evidence_of(const Answer& solved);

struct SolvedFile {
  const GraphFile& file;
  const std::optional<PoseGraph>& poses;  // poses of a g2o file, which people know by their vertices
  const JointOptions& options;            // with the hypers of the file
  const Answer& answer;
  FoundEvidence evidence = evidence_of(answer);
};

Json json_of(const SolvedFile& solved);
// `by_factor`: the evidence factor by factor. `verbose`: everything the report says.
void print_solved(const SolvedFile& solved, bool by_factor, bool verbose);
// Observed variables without a value, beside shared ones, are columns of a table: the command that learns them.
void print_columns(const GraphFile& file, const std::string& name);

}  // namespace dma
