// Graphs of one family, which differ in sizes, in smoothing and in the inputs they read; learning chooses among them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/learn/gaussian/curvature/targets.h"

namespace dma {

struct GraphChoice {
  std::vector<std::size_t> sizes = {};  // such as the widths of hidden layers
  double smoothing = 0;                 // standard deviation of the noise that smooths functions
  // Factors on the prior variances of the weights of every input; empty: inputs are alike.
  Vector relevance = {};
};

// One graph as learning sees it.
struct SharedModel {
  std::shared_ptr<const RowModel> rows = {};
  std::vector<Index> columns = {};  // columns of the rows that it reads; empty: all
  // Its shared variables, in the order of the scalars; a matrix has its elements row by row.
  struct Variable {
    std::string name;
    std::size_t rows = 1, columns = 1;
  };
  std::vector<Variable> variables = {};
  OutputLikelihoods likelihoods = {};  // likelihoods of targets that are not Gaussian; empty: all are
  SharedPrior prior = {};
  // Members start at the prior's mean plus a draw of this, which is about 0.
  SharedPrior spread = {};
  bool first_at_mean = false;  // the first member starts at the prior's mean, where the rows can move it from there
  // Scalars whose prior mean is where a member starts: hidden units that the rows do not need stay as they were drawn,
  // and with them the uncertainty where there are no rows.
  std::vector<Index> anchored = {};
};

struct GraphFamily {
  std::function<SharedModel(const GraphChoice&)> model;
  // The simplest graph, which is mixed in unless the others predict left-out rows better; none: there is none.
  std::function<SharedModel(const Vector& relevance)> simple = {};
  GraphChoice first = {};  // the choice to begin with, or the only one
  // Sizes to try, each while those before it gain; then deeper ones, each where the first size is as large at least.
  std::vector<std::vector<std::size_t>> sizes = {}, deeper = {};
  std::function<std::vector<double>(const GraphChoice&)> smoothings = {};  // to try; none: the first stays
  std::function<Vector(const RowData&)> relevance = {};                    // none: inputs are alike
  std::function<std::string(const std::vector<std::size_t>&)> text = {};   // sizes in words: "20 hidden units"
};

// A family of one graph.
GraphFamily single_graph(SharedModel model);

}  // namespace dma
