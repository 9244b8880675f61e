// Learning a table: the interface of graphs learned jointly (table_learner.h) and of networks learned by messages.
#pragma once

#include <Eigen/Core>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/graph/graph.h"
#include "engine/learn/gaussian/prediction.h"
#include "engine/learn/messages/learner.h"
#include "engine/messages/gaussian.h"
#include "models/table/scores.h"

namespace dma {

class Fields;

// One row per example, in the units of the data. A class is its number, counting from 0.
struct TableRows {
  Eigen::MatrixXd inputs, targets;
  Eigen::VectorXd weights = {};  // a row of weight w counts as w rows that are equal but independent; empty: 1 each

  TableRows some(const std::vector<Eigen::Index>& which) const;  // these rows, in this order
};

struct TableEpoch {
  std::size_t member = 0;  // counting from 0
  EpochRecord record;
  std::vector<double> noise;  // standard deviations after the epoch, in the units of the targets
};

struct TableFit {
  LearnOptions options = {};
  std::function<bool(const TableEpoch&)> on_epoch = {};  // false stops; what was learned so far stays
  // Asked between epochs of graphs that only judge, of which no callback is told; false: the fit ends as if its first
  // epoch were interrupted.
  std::function<bool()> keep_going = {};
  std::size_t rows_elsewhere = 0;  // that other processes learn
  // Time that is left, if it is limited: no more sizes, members and fits without far rows are tried than fit into it,
  // and results depend on it.
  std::function<double()> seconds_left = {};
};

// Effects of the values of a column that has many (level_effects.h).
struct LevelEffects {
  std::size_t column = 0;  // number of the input
  // Numbers of a column that name something, the most frequent first; empty: the column has the number of a value in
  // such an order.
  std::vector<double> values = {};
  // So many values have effects of their own. One more number stands for all others, and for those not seen yet: where
  // no row has it, its effects are what the prior says.
  std::size_t levels = 0;
  std::vector<std::size_t> slopes = {};  // columns whose slopes differ by value

  Eigen::VectorXd numbers_of(const Eigen::VectorXd& given) const;  // the effects of these rows, counting from 0
};
void list_fields(Fields& f, LevelEffects& effects);

// Scores of one output for the learned rows, each as if it had been left out.
struct LeftOut {
  Scores scores;
  double explained = 0;  // fraction of the target's variance
};

// Learned noise sets rows aside that lie further than this many robust standard deviations from what the others
// predict: at most a tenth of all, and only where that makes the log density of all rows better.
inline constexpr double kFarDeviations = 10;

struct TableReport {
  std::vector<LearnReport> members = {};
  std::vector<double> noise = {};  // standard deviation per output
  bool interrupted = false;
  std::string form = {};  // the form of learning, and the reason for it
  // Fractions of the mixture: of graphs beside the simple one, and, by output, of the nearest rows beside both; none:
  // there are none.
  double graphs = 1;
  std::vector<double> neighbours = {};
  double frequencies = 0;                            // class frequencies, beside all others
  std::vector<LeftOut> left_out = {};                // one per target; empty: it is a class
  std::optional<ClassScores> left_out_classes = {};  // scores for a class
  ClassScores of_frequencies = {};
  std::size_t copies = 0;                  // rows left aside because they repeat others (distinct_rows.h)
  std::vector<Eigen::Index> far = {};      // rows that were not learned, see kFarDeviations
  std::vector<LevelEffects> effects = {};  // columns of many values, and what they say
  std::string line() const;
};

// A learned variable of one member: beliefs of its elements and their priors' variances. A matrix has its elements row
// by row.
struct LearnedVariable {
  std::size_t member = 0;
  std::string name;
  std::size_t rows = 1, columns = 1;
  std::vector<Gaussian> beliefs;
  std::vector<double> prior_variance;
};

class TableMethod {
 public:
  virtual ~TableMethod() = default;

  // Called again with the same rows it goes on, after an interruption or with more epochs; an Error for other rows.
  virtual TableReport fit(const TableRows& rows, const TableFit& fit) = 0;
  // Learns more rows on top of a finished fit to `known` rows (or weights of rows, added up), which are not needed
  // again. False: something was still changing at the limit of steps.
  virtual bool update(const TableRows& more, double known) = 0;
  // Const members may be called by several threads at once.
  virtual Prediction predict(const Eigen::MatrixXd& inputs) const = 0;
  // The learned rows, each as if it had not been learned, where the method knows; after fit() only.
  virtual std::optional<Prediction> left_out() const = 0;
  // The graph of one row, in the units that it was learned in.
  virtual Graph graph(std::size_t member = 0) const = 0;
  virtual std::vector<LearnedVariable> variables() const = 0;  // names, beliefs and shapes of what was learned
  virtual std::vector<double> noise() const = 0;               // standard deviation per output
  virtual double products_per_row() const = 0;                 // that a prediction takes, about

  // As members of a file, to predict and update or, whole, to go on fitting; read_from() throws Error for numbers that
  // cannot be computed with.
  virtual void list(Fields& fields, bool whole) = 0;
  virtual void check() const = 0;  // an Error for numbers that a file cannot hold
};

}  // namespace dma
