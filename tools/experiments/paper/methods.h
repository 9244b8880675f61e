// Every method of the comparison behind one interface: a task and a seed in, a predictive out. Nobody else knows how a
// method is called; a new one is one line in the table of methods.cpp.
#pragma once

#include <string>
#include <vector>

#include "tools/experiments/paper/task.h"
#include "tools/experiments/paper/units.h"

namespace dma::reproduce {

struct Fitted {
  std::function<Prediction(const Eigen::MatrixXd& features)> predict;
  // Mean negative log density of the training targets after each epoch; of joint learning minus the log evidence per
  // row.
  std::vector<double> curve = {};
  bool finite = true;          // false: it left the numbers and predicts nothing
  Json more = Json::object();  // facts that only this method has: refused messages, R-hat, ...
};

// Limits on the work of the slow ones.
struct Effort {
  int hmc_chains = 4, hmc_warm_up = 1500, hmc_samples = 4000, hmc_longest = 96;
  int posterior_samples = 1000;  // for Laplace and IVON
  int ivon_epochs = 500;
  int epochs = 200;  // limit for the default method
  std::string text() const;
};

struct Method {
  std::string name;   // in file names and tables of units
  std::string title;  // for people
  std::function<Fitted(const Task&, std::uint64_t seed, const Effort&)> fit;
};

// All of them; by name, an Error if there is none.
const std::vector<Method>& methods();
const Method& method(const std::string& name);

// In a picture of training curves: joint learning reports its evidence instead of the training NLL.
std::string curve_title(const std::string& name);

// dma, what `dma fit` does by default, and joint where the library has it.
const std::vector<std::string>& own_methods();

// The unit that fits `method` to `task` of this seed and scores it; with `curves` the training curve and a picture are
// kept too.
Unit fit_unit(const std::string& task, const std::string& method, std::uint64_t seed, const Effort& effort,
              bool curves);
std::string fit_name(const std::string& task, const std::string& method, std::uint64_t seed);

}  // namespace dma::reproduce
