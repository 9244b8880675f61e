// Learned models of every kind that a file may hold, small and quick.
#pragma once

#include <string>
#include <vector>

#include "engine/support/json.h"
#include "models/network/message_network.h"
#include "models/predict/table_model.h"

namespace dma::oracle {

struct LearnedModel {
  TableModel model;
  TableRows rows;
  TableFit fit;
};

// sin x and 100 x^2 by two networks of four hidden units.
LearnedModel learned_by_messages();
// A noisy sine of the first of two columns, by two networks: of fewer weights than rows, whose posterior is kept as a
// factor, or of more, whose posterior is kept as rows.
LearnedModel learned_jointly(std::size_t hidden, const Eigen::VectorXd& weights = {});
LearnedModel learned_classes(const std::vector<std::string>& names);
// Twelve rows of thirty columns: they are reduced to directions.
LearnedModel learned_directions();
// A slope and an intercept per group; then counts; then a class.
LearnedModel learned_groups();
LearnedModel learned_counts();
// Counts, by a network.
LearnedModel learned_tally();
LearnedModel learned_scores();
// A network whose size and smoothing the file leaves open, learned as a table.
LearnedModel learned_choices();

TableModel read_again(const std::string& text);
// The message for a file that cannot be read, one line that begins with its name; "none" if it can.
std::string refusal_of(std::string_view text);
// The same of a file with another value there.
std::string refusal_with(std::string_view text, const std::string& pointer, Json value);

}  // namespace dma::oracle
