// A fitted network as the bytes of a model file (model_file.h), and back: every double keeps all its bits. Nothing here
// depends on the clock, so the same fit gives the same bytes.
//
//   write_file("model.json", bnn_to_text({.features = {"x"}, .targets = {"y"}, .options = net.options(),
//                                         .memory = net.memory(true)}));
//   Bnn net = make_bnn(bnn_from_text(text, "model.json"));
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/support/json.h"
#include "models/network/bnn.h"
#include "models/table/column_coding.h"
#include "models/table/scores.h"

namespace dma {

class Fields;

// What is worth knowing later about how a model came to be.
struct TrainingRecord {
  std::size_t rows = 0, held_out_rows = 0;
  double weight = 0;  // of all rows together, where they have weights
  LearnOptions options = {};
  std::vector<LearnReport::Stop> stops = {};  // why each member stopped; empty in a checkpoint
  std::vector<Scores> held_out = {};          // per output
  std::string form = {};                      // how all weights were learned jointly, and why so
  std::vector<LeftOut> left_out = {};         // per output
  std::vector<Eigen::Index> far = {};         // see FitReport: places among `rows` and these together
};

struct SavedBnn {
  std::vector<std::string> features, targets;  // names of the columns
  BnnOptions options;
  Bnn::Memory memory;
  TrainingRecord training = {};
  ColumnCoding coding = {};  // how columns of a table become the features
  // Set in a checkpoint, a file to go on fitting from: what identifies the data it belongs to.
  std::string data_fingerprint = {};
  std::string source = {};  // the file it was read from
  bool is_checkpoint() const { return !data_fingerprint.empty(); }
};

std::string bnn_to_text(const SavedBnn& saved);

// An Error of one line, beginning with `source`, for what read_model() refuses.
SavedBnn bnn_from_text(std::string_view text, std::string_view source);

// Every size and sign that Bnn would otherwise trust: a damaged file must not become a crash or silent nonsense.
void check_saved(const SavedBnn& saved);

// The network, ready to predict; from a checkpoint, ready to go on fitting the same data.
Bnn make_bnn(SavedBnn saved);

std::string_view name_of(LearnReport::Stop stop);

// The options as they stand in the file; also how a checkpoint and a command line are compared.
Json to_json(const BnnOptions& options);
Json to_json(const LearnOptions& options);
Json to_json(const Scores& scores);
void list_fields(Fields& f, Scores& scores);
void list_fields(Fields& f, Standardiser& standardiser);
void check_scores(const Scores& scores);  // an Error for what cannot be scores

}  // namespace dma
