#include "engine/learn/gaussian/solver_form.h"

#include <doctest/doctest.h>

using namespace dma;

TEST_CASE("solver form: rows, weights and memory decide, and the reason says so") {
  using Form = SolverForm::Form;
  CHECK(choose_form(455, 1, 751).form == Form::dual);
  CHECK(choose_form(1000, 1, 42201).form == Form::dual);
  CHECK(choose_form(1439, 1, 651).form == Form::primal);
  CHECK(choose_form(100'000, 1, 601).form == Form::growing);
  CHECK(choose_form(100'000, 1, 601, false).form == Form::primal);
  CHECK(choose_form(100'000, 1, 42201).form == Form::none);
  CHECK(choose_form(1000, 1, 500, true, 1e6).form == Form::none);
  CHECK(choose_form(1000, 1, 500, true, 1e6).reason.find("0.0 GB") != std::string::npos);
  CHECK(choose_form(455, 1, 751).reason.find("dual") != std::string::npos);
  // Classes have no matrix over rows.
  CHECK(choose_form(455, 1, 751, true, kMostGaussianBytes, false).form == Form::primal);
  CHECK(choose_form(455, 1, 751, true, kMostGaussianBytes, false).reason.find("dual") == std::string::npos);
  CHECK(choose_form(3, 2, 20000, true, kMostGaussianBytes, false).form == Form::none);
}
