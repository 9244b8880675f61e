// A table learned by graphs of one family (engine/learn/gaussian/ensemble.h) and by its nearest rows, mixed by how well
// each predicts left-out rows; for numbers, counts, classes, and several targets at once.
//
//   rows  -> standardised, on logarithmic scales, without copies, in principal directions where there are many columns
//         -> graphs, judged by rows held out
//         -> nearest rows (models/neighbours), and of classes their frequencies
//         -> once more with effects for the values of columns that have many, without rows that lie far from what all
//            others predict, by logarithms of targets, and as counts, each where left-out rows gain by it (attempts.h)
#pragma once

#include <functional>
#include <memory>

#include "engine/learn/gaussian/ensemble.h"
#include "models/learn/counts.h"
#include "models/learn/table_method.h"
#include "models/neighbours/class_neighbours.h"
#include "models/neighbours/neighbours.h"
#include "models/table/feature_map.h"
#include "models/table/principal_directions.h"
#include "models/table/standardiser.h"

namespace dma {

// Columns of prepared rows: numbers, then one for each column of values that the graphs read.
struct PreparedColumns {
  std::size_t numbers = 0;
  std::vector<LevelEffects> levels = {};  // slopes are those of numbers here
};

struct TableLearnOptions {
  std::function<GraphFamily(const PreparedColumns& columns)> family;
  // Called once, before anything is learned: what depends on the size of the table. Returns the reason, one line.
  std::function<std::string(TableLearnOptions& options, std::size_t rows, std::size_t numbers)> for_size = {};
  std::size_t inputs = 0, outputs = 1;
  // By input: how many values a column of values has (LevelEffects), 0 for numbers; empty: all are numbers. Such
  // columns stay as they are. Learning finds their effects, or the graphs read all of them.
  std::vector<std::size_t> levels = {};
  bool finds_effects = false;
  std::size_t classes = 0;         // classes of the target; 0: it is a number
  std::string features = "none";   // a fixed map of the standardised inputs, by name (feature_map.h)
  std::size_t directions = 0;      // principal directions in place of the inputs; 0: the inputs
  bool standardise = true;         // inputs and targets, undone in predictions
  bool log_inputs = true;          // standardised inputs on a logarithmic scale where that suits them
  bool log_target = false;         // the same of targets whose noise is learned: their logarithms are tried
  bool count_target = false;       // whole numbers whose noise is learned are tried as counts
  bool neighbours = true;          // the nearest rows, where all is standardised
  bool far_rows = true;            // are set aside, where noise is learned
  bool copies = true;              // equal rows are learned once
  bool frequencies = true;         // class frequencies are the simplest model
  std::vector<double> noise = {};  // standard deviation per output where it is given
  EnsembleOptions ensemble = {};
  std::uint64_t seed = 1;
};

class TableLearner : public TableMethod {
 public:
  explicit TableLearner(TableLearnOptions options);

  TableReport fit(const TableRows& rows, const TableFit& fit) override;
  bool update(const TableRows& more, double known) override;
  // A class: one column per class, of its probability.
  Prediction predict(const Eigen::MatrixXd& inputs) const override;
  std::optional<Prediction> left_out() const override;
  Graph graph(std::size_t member = 0) const override { return graph_of_ ? graph_of_(*this, member) : Graph(); }
  std::vector<LearnedVariable> variables() const override;
  std::vector<double> noise() const override;
  double products_per_row() const override;
  void list(Fields& fields, bool whole) override;
  void check() const override;

  PreparedColumns columns() const;
  // Before anything is learned: these effects of values. If there are none, those that the evidence proposes.
  void learn_effects(std::vector<LevelEffects> effects) { effects_ = std::move(effects); }
  std::vector<LevelEffects> find_effects(const TableRows& rows) const;
  const std::vector<LevelEffects>& effects() const { return effects_; }
  // Before anything is learned: targets are counts, and the smoothing is given.
  void learn_counts(std::vector<CountNoise> noise, double smoothing);
  const std::vector<CountNoise>& counts() const { return counts_; }  // by output; empty: targets are no counts
  // The counts of the last fit, with the shapes that make left-out rows most probable.
  std::vector<CountNoise> likeliest_counts(const TableRows& rows) const;
  // Mean of log_mass_of_counts() over the learned rows that judge, each left out.
  double left_out_log_mass(const TableRows& rows) const;

  // One fit of rows without those that are far, of which nothing is learned.
  static LearnControl control_of(const TableFit& fit);
  void fit_near(const TableRows& rows, std::vector<Index> far, const TableFit& fit);
  // A learner of nothing yet, with the same options; with the sizes that this one has chosen, or to choose them again.
  // Targets with a `log_from` above 0 are learned by their logarithms.
  TableLearner anew(bool keeps_sizes, Eigen::RowVectorXd log_from = {}) const;
  void replace_by(TableLearner other);  // but for what identifies its rows
  TableReport& report() { return report_; }
  const GraphMixtureReport& mixture_report() const { return mixture_report_; }  // the last fit
  // Factors on the prior variances of weights by input, see models/table/relevance.h; empty: inputs are alike.
  Vector relevance() const;
  // Names a value of the graph that is not a finite number at the prior's mean; empty: there is none.
  std::string first_fault(const Eigen::MatrixXd& inputs) const;
  const std::vector<Index>& far() const { return far_; }
  // Residuals of the learned rows, each left out, and in standard deviations.
  const Eigen::MatrixXd& left_out_residuals() const { return left_out_residuals_; }
  const Eigen::MatrixXd& left_out_deviations() const { return left_out_deviations_; }

  const TableLearnOptions& options() const { return options_; }
  bool is_fitted() const { return graphs_ && graphs_->mixture().is_fitted(); }
  const Ensemble& graphs() const { return *graphs_; }
  const std::optional<Neighbours>& neighbours() const { return neighbours_; }
  const std::shared_ptr<const ClassNeighbours>& class_neighbours() const { return class_neighbours_; }
  const Standardiser& input_units() const { return inputs_; }
  const Standardiser& target_units() const { return targets_; }
  const PrincipalDirections& directions() const { return directions_; }
  const std::vector<std::vector<EpochRecord>>& epochs() const { return epochs_; }  // by member

  // The graph of a member, with what was learned of its priors and its noise.
  using GraphOf = std::function<Graph(const TableLearner&, std::size_t member)>;
  void describe_by(GraphOf graph_of) { graph_of_ = std::move(graph_of); }

 private:
  Eigen::MatrixXd prepared(const Eigen::MatrixXd& inputs, const Eigen::MatrixXd& standardised) const;
  // The inputs that are numbers; where there are none, and learning finds effects, a column of 0.
  std::vector<Index> number_columns() const;
  Index number_count() const { return std::max<Index>(options_.finds_effects ? 1 : 0, std::ssize(number_columns())); }
  Eigen::MatrixXd numbers_of(const Eigen::MatrixXd& inputs) const;
  Matrix without_levels(const Matrix& prepared) const {
    return prepared.leftCols(prepared.cols() - std::ssize(effects_));
  }
  void standardise(const TableRows& rows);
  void make_graphs();
  RowData data_of(const TableRows& rows) const;
  bool is_gaussian() const;  // all targets have Gaussian noise, or their logarithms
  Prediction in_units_before(Prediction learned) const;
  std::vector<PredictionComponent> components(const Matrix& prepared, const Eigen::MatrixXd& standardised) const;
  std::vector<PredictionComponent> mixed_left_out() const;
  std::vector<double> mix_with_neighbours(RowData data, const LearnOptions& options);
  void mix_classes(const TableRows& rows, double score, const LearnOptions& options);
  void set_noise(std::vector<double> of_graphs);
  void report_left_out(const TableRows& rows);
  // Predictions of the rows that judge, each left out; `rows` is left with their targets and weights.
  std::vector<PredictionComponent> judged_left_out(TableRows& rows) const;
  Eigen::VectorXd class_numbers(const TableRows& rows) const;
  void check_effects() const;

  TableLearnOptions options_;
  FeatureMap features_;
  Standardiser inputs_, targets_;
  PrincipalDirections directions_;
  std::vector<LevelEffects> effects_;
  std::vector<CountNoise> counts_;
  std::optional<Ensemble> graphs_;
  std::optional<Neighbours> neighbours_;
  std::shared_ptr<const ClassNeighbours> class_neighbours_;
  Eigen::VectorXd frequencies_;         // one per class
  double frequencies_fraction_ = 0;     // weight in the mixture
  std::vector<double> noise_variance_;  // standardised
  std::vector<std::vector<EpochRecord>> epochs_;
  std::string reason_;  // for the size of the graphs
  GraphOf graph_of_;
  Eigen::RowVectorXd log_from_;  // the targets' (Standardiser), before anything is learned

  TableReport report_;
  GraphMixtureReport mixture_report_;
  std::vector<Index> far_;
  PredictionComponent neighbours_left_out_, frequencies_left_out_;
  std::vector<Index> judged_;      // distinct rows that no part of the mixture was chosen by; empty: all judge
  std::vector<Index> learned_as_;  // the distinct row that each row repeats; empty: none does
  Eigen::MatrixXd left_out_residuals_, left_out_deviations_;
  std::optional<std::uint64_t> learned_rows_;  // their checksum; none: nothing is learned, or it was restored
};

}  // namespace dma
