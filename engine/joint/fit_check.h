// Memory of the check whether the Gaussian fits (check.cpp, check_steps.cpp). A state keeps it, so that a check that is
// repeated allocates nothing.
#pragma once

#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/uniform_01.hpp>
#include <memory>
#include <vector>

#include "engine/joint/solver.h"

namespace dma::joint_system {

// log p(x, observed), up to a constant, and its derivative, which is numbers.gradient.
class GraphDensity {
 public:
  explicit GraphDensity(const Memory& memory) : numbers(*memory.system) {}
  GraphDensity(const State& state, const Memory& memory) : GraphDensity(memory) { read(state, memory); }

  void read(const State& state, const Memory& memory);
  double operator()(const std::vector<double>& x);

  Numbers numbers;

 private:
  double look_at(const SitePlate& plate);

  const State* state_ = nullptr;
  SiteReader reader_;
};

// v' Q v with the information matrix Q of the solution.
double energy(const Numbers& n, const std::vector<double>& v);

// One chain of the graph's density and one of the Gaussian, with the same initial draw, velocities, steps and random
// numbers. Equal densities give equal chains, so their difference has little noise. For the Gaussian, positions and
// velocities are stored as the standard normal numbers that generate them.
class CoupledChains {
 public:
  explicit CoupledChains(std::size_t unknowns) : z_(unknowns), w_(unknowns), room_(unknowns) {}

  void begin(const Numbers& solution, GraphDensity& density, boost::random::mt19937_64& random);
  struct Accepted {
    double probability = 0, of_gaussian = 0;  // sums
  };
  void move(int leaps, double longest_step, Accepted& accepted);
  // Distances of both chains from the solution.
  void read(std::vector<double>& off, std::vector<double>& off_of_gaussian);

 private:
  void draw(std::vector<double>& out);
  void colour(const std::vector<double>& z, std::vector<double>& out) { out = z, n_->fronts.solve_upper(out, room_); }
  void look();
  void push(double by);

  const Numbers* n_ = nullptr;
  GraphDensity* density_ = nullptr;
  boost::random::mt19937_64* random_ = nullptr;
  boost::random::normal_distribution<double> normal_;
  boost::random::uniform_01<double> uniform_;
  std::vector<double> z_, w_, room_, x_, v_, gradient_, pushed_, old_x_, old_z_, old_gradient_;
  double height_ = 0;
};

struct FitCheck {
  explicit FitCheck(const Memory& memory)
      : density(memory), pair(memory.numbers.x.size()), sums(memory.numbers.x.size()), reader(memory.numbers) {}

  // Forgets all draws.
  void restart();

  boost::random::mt19937_64 random;
  boost::random::normal_distribution<double> normal;
  std::vector<double> logs;                             // weights of draws
  std::size_t next = 0;                                 // the draw to be renewed
  std::vector<double> sorted, excesses, grid, heights;  // buffers

  boost::random::mt19937_64 random_of_chains;
  GraphDensity density;
  CoupledChains pair;
  struct Sums {
    double first = 0, second = 0, of_gaussian = 0, square_of_gaussian = 0, beyond = 0;
  };
  std::vector<Sums> sums;  // by unknown, over the states of all chains
  double states = 0;
  CoupledChains::Accepted accepted;
  std::vector<double> sds, off, off_of_gaussian;

  struct Computed {
    std::uint32_t element;
    Gaussian belief;
    double first = 0, second = 0;  // sums of its distance from the belief's mean, in standard deviations
    double outside = 0;            // draws that have no such distance
  };
  std::vector<Computed> computed;  // elements that functions give

  std::unique_ptr<Memory> other;  // solved from another start
  std::vector<Gaussian> here, there;
  std::uint64_t start = 0;  // seed of the last start
  double elsewhere = 0;     // the last mass found elsewhere
  int since = 0;            // checks since then

  Numbers::Reader reader;
  Numbers::Sparse row;
};

}  // namespace dma::joint_system
