#include "models/network/solver_form.h"

#include <doctest/doctest.h>

#include "models/network/regression.h"

using namespace dma;

TEST_CASE("solver form: rows, weights and memory decide, and the reason says so") {
  using Form = SolverForm::Form;
  CHECK(choose_form(455, 1, 751).form == Form::dual);
  CHECK(choose_form(1000, 1, 42201).form == Form::dual);
  CHECK(choose_form(1439, 1, 651).form == Form::primal);
  CHECK(choose_form(100'000, 1, 601).form == Form::growing);
  CHECK(choose_form(100'000, 1, 42201).form == Form::none);
  CHECK(choose_form(1000, 1, 500, 1e6).form == Form::none);
  CHECK(choose_form(1000, 1, 500, 1e6).reason.find("0.0 GB") != std::string::npos);
  CHECK(choose_form(455, 1, 751).reason.find("dual") != std::string::npos);
}

TEST_CASE("solver form: beyond it messages are swept, untempered") {
  const RegressionSettings large = regression_settings(50, {1000, 1000}, 1, 200'000);
  CHECK(large.network.method == "hybrid");
  CHECK(large.fit.evidence_weight == 1);
  CHECK(large.reason.find("message sweeps") != std::string::npos);
  const RegressionSettings small = regression_settings(5, {50}, 1, 300);
  CHECK(small.network.method == "joint");
  CHECK(regression_settings(5, {50}, 1, 300, "dma").network.method == "dma");
}
