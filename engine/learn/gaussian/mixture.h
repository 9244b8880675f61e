// Graphs of one family and choice, learned from several starts, and the simple one beside them, mixed by how well each
// predicts left-out rows. Numbers of tables are in standardised units.
//
// With noise that depends on the inputs every member is learned twice over: with constant noise, then on with rows
// weighted by their own noise. The first has the smaller squared error where noise is large, the second is far sharper
// where it is small; with NoiseModel::choose the prediction of a row mixes them by its noise. Members and simple graph
// are mixed by the density of left-out rows and, where there are more scalars than rows, by their evidence, so that
// data without structure get the simple answer.
#pragma once

#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/learn/gaussian/family.h"
#include "engine/learn/gaussian/posterior.h"
#include "engine/learn/gaussian/solver_form.h"

namespace dma {

struct GraphMixtureOptions {
  std::vector<double> noise = {};  // variance per output where learning begins, or stays; empty: 0.3
  bool learn_noise = true, learn_scale = true;
  NoiseModel noise_model = NoiseModel::choose;  // model of learned noise
  double weight_exponent = 0.7;                 // for rows weighted by their noise, see SharedFitOptions
  bool tails = true, simple = true, doubt_extrapolation = true;
  bool by_evidence = false;               // members are mixed by their evidence; otherwise all alike
  bool grows = true;                      // many rows: first on subsets of them
  int epochs = 60, weighted_epochs = 40;  // limits
  double least_gain = 0.0003;             // see SharedFitOptions
  std::size_t members = 1;
  std::uint64_t seed = 1;
};

// Resources and callbacks of a fit. No result depends on them, unless time is limited.
struct LearnControl {
  std::size_t jobs = 1;
  std::shared_ptr<WorkerTeam> team = nullptr;  // see Curvature::use_threads(); the rows are those of all workers
  StageWatch on_stage = {};
  std::function<bool()> keep_going = {};      // asked in epochs of graphs that are learned to judge; false: no more
  std::function<double()> seconds_left = {};  // no more is tried than fits into it
  // All processes of the team ask, and hear the same.
  bool has_time_for(double seconds) const {
    if (!seconds_left) return true;
    const bool is_late = seconds > seconds_left();
    return !(team ? team->any(is_late) : is_late);
  }
};

struct GraphMixtureReport {
  SolverForm form = {};
  std::vector<int> epochs = {};    // by member, in this fit
  std::vector<bool> settled = {};  // by member: true if all its stages ended because nothing more was gained
  double fraction = 1;             // weight of the members beside the simple graph
  double score = 0;                // log density of the judged rows, each left out
  bool interrupted = false;
  std::vector<double> noise = {};  // variance on the learned rows, see GraphMixture::noise()
};

// Beliefs of graphs that have not learned these rows, in place of those by leverage.
struct HeldOut {
  std::vector<Index> rows = {};                       // empty: there are none
  std::vector<RowBeliefs> plain = {}, weighted = {};  // by member
  RowBeliefs simple = {};
};

class GraphMixture {
 public:
  struct Member {
    SharedState plain, weighted;  // states to go on from
    bool plain_done = false;
    std::optional<SharedPosterior> plain_posterior, weighted_posterior;
    double plain_evidence = 0;  // evidence with constant noise
    double fraction = 1;        // weight among the members
    double effective_scalars = 0;
    Vector determined = {};  // by group of scalars that share a precision
    int since = 0;           // the epoch at which this fit began
    const SharedPosterior& last() const { return weighted_posterior ? *weighted_posterior : *plain_posterior; }
  };
  struct Memory {
    GraphChoice choice = {};
    bool first_at_mean = false;
    std::vector<Member> members = {};
    std::optional<SharedPosterior> simple = {};
    double fraction = 1;                           // weight of the members beside the simple graph
    Eigen::RowVectorXd lowest = {}, highest = {};  // range of every column of the learned rows
  };

  struct Progress {
    std::size_t member = 0;
    SharedEpoch epoch;
    std::vector<double> noise;  // geometric mean of the variance over rows, per output
  };
  using OnEpoch = std::function<bool(const Progress&)>;  // false stops; what was learned so far stays

  GraphMixture(std::shared_ptr<const GraphFamily> family, GraphMixtureOptions options);

  void choose(GraphChoice choice);  // before anything is learned
  void set_members(std::size_t members, NoiseModel noise_model, bool simple);
  void set_grows(bool grows) { options_.grows = grows; }
  void set_limits(int epochs, int weighted_epochs, double least_gain);  // for the next fit; a gain of 0 changes nothing
  void start_from(std::vector<SharedState> states) { starts_ = std::move(states); }  // states of the first members

  // Goes on where an interrupted fit stopped. All members are learned with constant noise, then those that the simple
  // graph has not beaten with weighted rows; with several jobs at the same time. on_epoch is called by one of them at a
  // time, and memory() then has every member as its last epoch left it.
  GraphMixtureReport fit(RowData data, const LearnControl& control = {}, const OnEpoch& on_epoch = {},
                         HeldOut held = {});
  // The next fit takes other rows, from where the last one ended.
  void begin_again();
  // Learns more rows on top of what `known` rows taught, without those: every Gaussian is the prior of its update. The
  // level of the noise, unless it was given, and the fractions follow the new rows too; how noise depends on inputs,
  // and its tails, stay. False: something was still changing at the limit of steps. An Error before any fit, or where a
  // matrix over all scalars would be too large.
  bool update(const RowData& more, Index known);

  std::vector<PredictionComponent> predict(const Matrix& rows) const;
  // Beliefs of every member about rows, by constant noise and then by weighted rows; no numbers where there are none.
  std::vector<RowBeliefs> beliefs(const Matrix& rows) const;
  RowBeliefs beliefs_of_simple(const Matrix& rows) const;
  // Geometric mean of the noise variance of these rows, per output; tails count as if they had 4 degrees of freedom or
  // more.
  std::vector<double> noise(const Matrix& rows) const;
  // The learned rows, each as if it had not been learned; after fit() only. Those of judged() by graphs that have not
  // learned it, others by leverage; empty: all are of one kind.
  const std::vector<PredictionComponent>& left_out() const { return left_out_; }
  const std::vector<Index>& judged() const { return judged_; }
  void scale_noise(Index output, double factor);  // in all graphs and in left_out()

  bool is_fitted() const { return !memory_.members.empty() && memory_.members[0].plain_posterior.has_value(); }
  bool has_begun(int epochs) const;  // true if a member has learned more epochs than these
  SharedPrior prior_of(std::size_t member) const;
  // Mean and variance of every scalar of a member.
  struct Marginals {
    Vector mean, variance;
  };
  Marginals marginals(std::size_t member) const;
  SharedState first_state(std::size_t member, const RowData& data) const;

  const GraphFamily& family() const { return *family_; }
  const SharedModel& model() const { return model_; }
  const SharedModel* simple() const { return simple_ ? &*simple_ : nullptr; }
  const GraphMixtureOptions& options() const { return options_; }
  const Memory& memory() const { return memory_; }
  void restore(Memory memory);

 private:
  struct Fitting;
  void decide_first_start(const RowData& data);
  bool learns_noise(const RowData& data) const { return options_.learn_noise && data.has_gaussians(); }
  bool noise_by_inputs(const RowData& data) const {
    return learns_noise(data) && options_.noise_model != NoiseModel::constant;
  }
  void fit_simple(Fitting& fitting);
  void fit_plain(Fitting& fitting, std::size_t index);
  void fit_weighted(Fitting& fitting, std::size_t index);
  SharedFitOptions fit_options(Fitting& fitting, std::size_t index, SharedState Member::*stage,
                               const SharedState& state);
  void judge(const Fitting& fitting, const RowBeliefs& held, SharedSolution& found) const;
  double score_judged(const std::vector<PredictionComponent>& components, const RowData& data) const;
  double nats_ahead(const Fitting& fitting, double score, std::size_t members) const;
  std::vector<double> fit_noise(std::vector<PredictionComponent>& components, const RowData& data) const;
  void widen_to_cover(const RowData& data);
  void share_among_members();
  void add_member(const Member& member, RowBeliefs& plain, RowBeliefs* weighted, double fraction,
                  std::vector<PredictionComponent>& all) const;
  const SharedPosterior& told_of(double fraction) const;
  std::vector<double> noise_before_tails(const Matrix& rows, double fraction) const;
  std::vector<double> with_tails(std::vector<double> noise) const;
  void doubt_extrapolation(const SharedPosterior& posterior, const Matrix& rows, RowBeliefs& beliefs) const;

  std::shared_ptr<const GraphFamily> family_;
  GraphMixtureOptions options_;
  SharedModel model_;
  std::optional<SharedModel> simple_;
  Memory memory_ = {};
  std::vector<SharedState> starts_;
  std::vector<PredictionComponent> left_out_;
  std::vector<Index> judged_;
};

// The benefit of the doubt of a simpler model, in nats: ten to one. Ten rows cannot tell, and then the simpler is
// safer.
inline constexpr double kBenefitOfDoubt = 2.3;
// Probability of a model against the simpler one if it is so many nats ahead, the benefit of the doubt taken off.
double fraction_of_model(double nats_ahead);

}  // namespace dma
