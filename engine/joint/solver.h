// Gauss-Newton steps with Levenberg-Marquardt damping, and refreshes of sites between them.
#pragma once

#include <boost/random/mersenne_twister.hpp>
#include <limits>

#include "engine/compile/plan_data.h"
#include "engine/joint/joint.h"
#include "engine/joint/sites.h"
#include "engine/run/solver.h"
#include "engine/run/watch.h"

namespace dma::joint_system {

class Memory;
struct FitCheck;

// Beliefs at points of the hypers, and the weight of each point. Means of points on manifolds are the first point's
// origin plus the step from there.
struct HyperPoints {
  void add(const State& state, const Memory& memory, std::span<const double> at, double log_weight);
  void weigh(const Memory& memory, double log_cell);
  double mean(std::size_t element) const;
  double place(std::size_t element) const { return mean(element) + turned[element]; }
  Gaussian marginal_of(std::size_t element) const;
  double quantile(std::size_t element, double probability) const;

  std::vector<std::vector<double>> values;  // by point of the hypers
  std::vector<double> weights;              // by point
  std::vector<double> means, variances;     // by point and element
  std::vector<double> turned;               // by element: destination of the mean step, minus the sum
  std::size_t elements = 0;
  double log_evidence = 0, step = 0;
};

class Memory : public SolverMemory {
 public:
  explicit Memory(std::shared_ptr<const System> of);
  ~Memory() override;
  // Switches to another system of the same plan; the roots keep their values.
  void change(std::shared_ptr<const System> to);

  std::shared_ptr<const System> system;  // the plan's, or this state's own if missing observations are inferred
  Numbers numbers;
  Sites sites;
  std::vector<double> start;  // by element, NaN: none; empty: no starts
  // True if nothing determines this sum over unknowns.
  bool is_open(const Numbers::Sparse& row) const;
  bool is_singular() const { return !is_undetermined.empty(); }

  bool is_solved = false;
  std::vector<std::uint8_t> is_undetermined;    // by unknown; empty: all are determined
  std::vector<std::vector<double>> directions;  // null directions, by unknown
  bool has_all_directions = true;
  double objective = 0;          // cost of rows that are neither cavities nor sites
  const Watch* watch = nullptr;  // the current run's; may be null
  std::unique_ptr<HyperPoints> hypers;
  int most_solves = std::numeric_limits<int>::max();  // for one set of sites, if the options allow more
  double loosest = 0;  // steps and sites end at this tolerance, if that of the options is smaller
  // A run renews one of so many parts of the check by draws; what it reports is of the last `check_parts` runs.
  int check_parts = 1;
  std::unique_ptr<FitCheck> check;  // null: not yet made
  // Buffers of the search for a way down from a saddle.
  std::vector<double> basis, here, next, lowest;
};

class JointSolver : public Solver {
 public:
  JointSolver(std::shared_ptr<const System> system, JointOptions options, std::vector<double> starts)
      : system_(std::move(system)), options_(std::move(options)), starts_(std::move(starts)) {}

  std::unique_ptr<SolverMemory> make_memory(const PlanData& plan) const override;
  Report run(State& state, const RunOptions& options) const override;
  Belief belief(const State& state, VariableId variable) const override;
  double log_evidence(const State& state) const override;
  std::string_view evidence_method(const State& state) const override;

  const System& system() const { return *system_; }
  const JointOptions& options() const { return options_; }
  // Visits a copy of a state that was run with hypers, solved at every point of them.
  void for_points(const State& state,
                  const std::function<void(const State&, const Memory&, std::size_t point)>& visit) const;
  Report integrate(State& state, bool is_warm) const;
  // Solves in a memory of its own, from a draw of the priors; false if it does not converge, or has no covariance.
  bool solve_elsewhere(const State& state, Memory& other, std::uint64_t seed) const;

 private:
  enum class End { converged, limit, interrupted };
  enum class Step { moved, arrived, stuck, interrupted };

  Report solve(State& state, bool is_warm, bool is_checked) const;
  End settle(const State& state, Memory& memory, Report& report, bool is_fresh) const;
  bool complete(Memory& memory) const;
  void set_hypers(State& state, std::span<const double> values) const;
  void read(const State& state, Memory& memory) const;
  void begin(Memory& memory, std::uint64_t seed) const;
  End leave_saddle(Memory& memory, JointReport& report) const;
  Step step(Memory& memory, JointReport& report, double& damping, int& solves) const;
  End step_to_the_end(Memory& memory, JointReport& report) const;
  End solve_linear(Memory& memory, JointReport& report) const;
  void find_open(const State& state, Memory& memory, Report& report) const;
  void find_isolated_sites(const State& state, Memory& memory, Report& report) const;
  void name_open(const State& state, const Memory& memory, Report& report) const;
  void name_unpredicted(const State& state, const Memory& memory, Report& report) const;
  void finish(const State& state, Memory& memory, Report& report, bool is_checked) const;
  void check_fit(const State& state, Memory& memory, Report& report) const;
  void check_computed(const State& state, const Memory& memory, JointReport::Fit& fit) const;
  void check_steps(const State& state, Memory& memory, double most_gradients, JointReport::Fit& fit) const;
  void check_starts(const State& state, Memory& memory, const JointReport& own, JointReport::Fit& fit) const;
  bool goes_on(const Memory& memory, const JointReport& report) const;

  std::shared_ptr<const System> system_;
  JointOptions options_;
  std::vector<double> starts_;  // by hyper, on the free scale
};

// Code that only hypers need (Hyper::integral).
struct HyperIntegral {
  // Throws an Error for invalid hypers and names those without a name. Returns their starting values on the free scale.
  std::vector<double> (*check)(const Graph& graph, const Registry& registry, JointOptions& options);
  Report (JointSolver::*integrate)(State& state, bool is_warm) const;
};

// Reads moments of states of one plan, solved without hypers. Reused, it allocates nothing.
class MomentReader {
 public:
  explicit MomentReader(const Memory& memory)
      : reader_(memory.numbers), solved_(memory.numbers.x.size()), room_(solved_.size()) {}

  // The belief of every element of a variable.
  void read(const State& state, VariableId variable, std::vector<Natural>& belief);
  // Means of the elements of some variables side by side, and their covariance row by row.
  void read(const State& state, std::span<const VariableId> variables, std::vector<double>& means,
            std::vector<double>& covariance);

 private:
  Numbers::Reader reader_;
  Numbers::Sparse row_;
  std::vector<Numbers::Sparse> rows_;
  std::vector<double> solved_, room_;
};

// Memory of a state that joint has run; an Error for any other.
const Memory& solved_memory(const State& state);
const JointSolver& solver_of(const State& state);
double log_evidence_of(const State& state, const Memory& memory);  // given the hypers
// Throws an Error if that many numbers exceed the memory limit.
void check_memory(const State& state, std::string_view what, std::size_t rows, std::size_t columns,
                  std::string_view way_out);
// Computes all elements of a draw with its roots at x: deterministic elements by their functions, missing ones with
// noise, NaN for those that nothing predicts.
void complete_draw(Numbers& work, std::span<const double> x, boost::random::mt19937_64& random, double* out);
// Mean and variance of one element; variance inf if nothing determines it or no Gaussian predicts it.
Gaussian marginal(const State& state, const Memory& memory, std::uint32_t element, Numbers::Reader& reader,
                  Numbers::Sparse& row);

}  // namespace dma::joint_system
