#include <doctest/doctest.h>

#include <cmath>

#include "engine/learn/gaussian/choice.h"
#include "models/learn/table_learner.h"
#include "models/network/bnn.h"
#include "tests/oracles/random_matrices.h"
#include "tests/oracles/saved_network.h"

using namespace dma;

namespace {

double chosen(const Matrix& x, const Matrix& y) {
  const auto family = std::make_shared<const GraphFamily>(
      network_family({.shape = {.layers = {static_cast<std::size_t>(x.cols()), 50, 1}, .slopes = {0.1}}}));
  return choose_smoothing(GraphMixture(family, {}), {x, y}, 1);
}

}  // namespace

TEST_CASE(
    "smoothing: a steep function of one input gets less, a product of two among many more, what is too small to tell "
    "its own") {
  const Matrix line = Vector::LinSpaced(50, -1.7, 1.7);
  const Matrix wave = (3.5 * line.array()).sin() + 0.03 * oracle::random_matrix(50, 1, 1).array();
  CHECK(chosen(line, wave) < 0.5);
  const Matrix many = oracle::random_matrix(300, 8, 2);
  const Matrix product = many.col(0).cwiseProduct(many.col(1)) + 0.1 * oracle::random_matrix(300, 1, 3);
  CHECK(chosen(many, product) == 1);
  CHECK(chosen(line.topRows(20), wave.topRows(20)) == 0.5);
}

TEST_CASE("smoothing: a graph whose family has none to try keeps its own") {
  SharedModel model = linear_model(2, 1);
  const auto family = std::make_shared<const GraphFamily>(single_graph(std::move(model)));
  const Matrix x = oracle::random_matrix(60, 2, 5);
  CHECK(choose_smoothing(GraphMixture(family, {}), {x, x.leftCols(1)}, 1) == 0);
}

TEST_CASE(
    "smoothing: fifty rows of a sine are learned, and the model that is put back predicts as the one that learned") {
  const Eigen::MatrixXd x = Eigen::VectorXd::LinSpaced(50, -2, 2), noise = oracle::random_matrix(50, 1, 4);
  const Eigen::MatrixXd y = (3 * x.array()).sin() + 0.03 * noise.array();
  Bnn net({.layers = {1, 50, 1}, .members = 1});
  net.fit(x, y);
  const Eigen::MatrixXd fresh = Eigen::VectorXd::LinSpaced(37, -1.9, 1.9), truth = (3 * fresh.array()).sin();
  CHECK(std::sqrt((net.predict(fresh).mean - truth).array().square().mean()) < 0.1);
  CHECK(net.jointly()->graphs().mixture().memory().choice.smoothing < 0.5);
  CHECK(oracle::read_again(net).predict(fresh).mean == net.predict(fresh).mean);
}
