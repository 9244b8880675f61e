// The graph of `dma infer`: read, solved, and its answer as text and as JSON.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "engine/support/json.h"
#include "models/graphs/expressions.h"
#include "models/graphs/graph_file.h"
#include "models/graphs/model.h"

namespace dma {

struct InferRequest {
  std::filesystem::path graph, dot, plot, report, poses;
  std::string command_line, method, schedule, loss, memory = "1GB";
  std::vector<std::string> observed;  // "HR=LOW"
  bool evidence = false, json = false, verbose = false;
};

// Reads a graph file; `limit` bounds the memory of what is read. `poses` are those of a g2o file.
GraphFile read_graph(const InferRequest& request, double limit, std::optional<PoseGraph>& poses);
// An Error says which observations contradict each other, or that the graph would take more memory than the limit.
Answer solve_file(const InferRequest& request, const GraphFile& file, double limit, SolveOptions& options);

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
