#include "tests/models/predict/model_examples.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <boost/random/mersenne_twister.hpp>
#include <boost/random/poisson_distribution.hpp>
#include <cmath>

#include "engine/support/text.h"
#include "factors/standard_registry.h"
#include "models/network/message_network.h"
#include "tests/oracles/files.h"
#include "tests/oracles/model_files.h"
#include "tests/oracles/random_matrices.h"
#include "tests/oracles/scores.h"

namespace dma::oracle {

namespace {

LearnedModel learned(TableModel model, TableRows rows, const LearnOptions& options) {
  LearnedModel all{std::move(model), std::move(rows), {.options = options}};
  all.model.fit(all.rows, all.fit);
  return all;
}

GraphModel graph_model(const std::string& text, const std::string& target, const GraphModelOptions& options) {
  return GraphModel(parse_graph(text), standard_registry(), {target}, options);
}

}  // namespace

LearnedModel learned_by_messages() {
  const Eigen::MatrixXd x = Eigen::VectorXd::LinSpaced(30, -2, 2),
                        y = filled(30, 2, [&](Eigen::Index n, Eigen::Index j) {
                          return j == 0 ? std::sin(x(n)) : 100 * (x(n) * x(n));
                        });
  return learned(TableModel::network({.layers = {1, 4, 2}, .method = "dma", .members = 2, .seed = 7}, {"x"},
                                     {"a \"quoted\" name", "größe"}),
                 {x, y}, {.batches = 3, .epochs = 4, .tolerance = 0});
}

LearnedModel learned_jointly(std::size_t hidden, const Eigen::VectorXd& weights) {
  const Eigen::MatrixXd x = random_matrix(40, 2, 1);
  const Eigen::MatrixXd y = x.col(0).array().sin() + 0.1 * random_matrix(40, 1, 2).array();
  return learned(TableModel::network({.layers = {2, hidden, 1}, .members = 2, .seed = 3}, {"a", "b"}, {"y"}),
                 {x, y, weights}, {.epochs = 12});
}

LearnedModel learned_classes(const std::vector<std::string>& names) {
  const Eigen::MatrixXd x = random_matrix(60, 2, 1),
                        numbers = filled(60, [&](Eigen::Index n) {
                          return x(n, 0) * x(n, 1) > 0.2 ? 0 : static_cast<double>(n % std::ssize(names));
                        });
  return learned(TableModel::classifier({.hidden = std::vector<std::size_t>{4}, .members = 2, .seed = 3}, {"u", "v"},
                                        "kind", names),
                 {x, numbers}, class_fit({}).options);
}

LearnedModel learned_directions() {
  std::vector<std::string> columns;
  for (int j = 0; j < 30; ++j) columns.push_back(fmt::format("x{}", j));
  return learned(TableModel::classifier({}, columns, "kind", {"a", "b"}),
                 {random_matrix(12, 30, 4), filled(12, [](Eigen::Index n) { return static_cast<double>(n % 2); })},
                 class_fit({}).options);
}

LearnedModel learned_groups() {
  const Eigen::MatrixXd drawn = random_matrix(40, 2, 5);
  const Eigen::MatrixXd x = filled(40, 2, [&](auto n, auto j) { return j == 0 ? drawn(n, 0) : double(n % 3); });
  const Eigen::MatrixXd y = filled(40, [&](auto n) { return x(n, 0) + 0.5 * x(n, 1) + 0.3 * drawn(n, 1); });
  return learned(
      TableModel::graph_of(graph_model(graph_file("groups.json"), "y", {{.learn_noise = true, .tails = true}})), {x, y},
      {});
}

LearnedModel learned_counts() {
  const Eigen::MatrixXd x = random_matrix(40, 1, 6);
  return learned(TableModel::graph_of(graph_model(graph_file("counts.json"), "n", {})),
                 {x, filled(40, [&](auto n) { return std::floor(std::exp(0.9 * x(n)) + 0.4); })}, {});
}

LearnedModel learned_tally() {
  boost::random::mt19937_64 random(7);
  const Eigen::MatrixXd x = random_matrix(150, 1, 9);
  LearnedModel all = learned(
      TableModel::network({.layers = {1, 3, 1}, .members = 1, .seed = 3}, {"x"}, {"n"}),
      {x, filled(150,
                 [&](auto n) {
                   return static_cast<double>(boost::random::poisson_distribution<int>(std::exp(0.5 + x(n)))(random));
                 })},
      {.epochs = 12});
  REQUIRE(all.model.jointly()->counts().size() == 1);
  return all;
}

LearnedModel learned_scores() {
  const Eigen::MatrixXd x = random_matrix(60, 1, 3), luck = random_matrix(60, 1, 4);
  return learned(TableModel::graph_of(graph_model(graph_file("scores.json"), "c", {})),
                 {x, filled(60, [&](auto n) { return x(n) + luck(n) > 0 ? 1.0 : 0.0; })}, {});
}

LearnedModel learned_choices() {
  const Eigen::MatrixXd x = random_matrix(120, 1, 7), noise = random_matrix(120, 1, 8);
  return learned(TableModel::graph_of(graph_model(network_file(1, "2, 4", "0.5, 0.2"), "y",
                                                  {{.learn_noise = true, .starts = 2, .seed = 3}, true})),
                 {x, filled(120, [&](auto n) { return std::sin(2 * x(n)) + 0.1 * noise(n); })}, {.epochs = 15});
}

TableModel read_again(const std::string& text) { return TableModel::from_text(text, "m.dma", standard_registry()); }

std::string refusal_of(std::string_view text) {
  try {
    (void)TableModel::from_text(text, "m.dma", standard_registry());
  } catch (const Error& e) {
    const std::string line = e.what();
    CHECK(line.find('\n') == line.npos);
    CHECK(line.starts_with("'m.dma'"));
    return line;
  }
  return "none";
}

std::string refusal_with(std::string_view text, const std::string& pointer, Json value) {
  return refusal_of(changed_model(text, pointer, std::move(value)));
}

}  // namespace dma::oracle
