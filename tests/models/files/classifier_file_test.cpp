#include "models/files/classifier_file.h"

#include <doctest/doctest.h>

#include <functional>
#include <limits>

#include "engine/support/error.h"
#include "models/files/bnn_file.h"
#include "tests/oracles/random_matrices.h"

namespace {

using namespace dma;

SavedClassifier saved_example(std::vector<std::string> names = {"a", "b", "c"}) {
  const Eigen::MatrixXd x = oracle::random_matrix(60, 2, 1);
  std::vector<std::string> labels;
  for (Eigen::Index n = 0; n < 60; ++n)
    labels.push_back(names[x(n, 0) * x(n, 1) > 0.2 ? 0 : static_cast<std::size_t>(n) % names.size()]);
  Classifier net({.hidden = std::vector<std::size_t>{4}, .members = 2, .seed = 3});
  SavedClassifier saved{.features = {"u", "v"}, .target = "kind", .options = net.options(), .memory = {}};
  saved.training.report = net.fit(x, labels);
  saved.memory = net.memory();
  saved.training.rows = 60;
  saved.training.counts = ClassLabels::of(labels).counts();
  return saved;
}

}  // namespace

TEST_CASE("classifier file: what is read is what was written, to the last bit") {
  for (const auto& names : {std::vector<std::string>{"a", "b", "c"}, std::vector<std::string>{"no", "yes"}}) {
    SavedClassifier saved = saved_example(names);
    saved.training.held_out = saved.training.report.left_out;
    saved.training.held_out_rows = 6;
    const std::string text = classifier_to_text(saved);
    CHECK(model_kind(text) == model_kinds::kClassifier);
    const SavedClassifier read = classifier_from_text(text, "model.json");
    CHECK(classifier_to_text(read) == text);
    const Eigen::MatrixXd rows = oracle::random_matrix(20, 2, 2);
    CHECK(make_classifier(read).predict(rows) == make_classifier(saved).predict(rows));
    CHECK(read.memory.classes == names);
    CHECK(read.training.report.epochs == saved.training.report.epochs);
  }
}

TEST_CASE("classifier file: directions of many columns are kept") {
  const Eigen::MatrixXd x = oracle::random_matrix(12, 30, 4);
  std::vector<std::string> labels;
  for (Eigen::Index n = 0; n < 12; ++n) labels.push_back(n % 2 == 0 ? "a" : "b");
  Classifier net;
  SavedClassifier saved{
      .features = std::vector<std::string>(30, "x"), .target = "kind", .options = net.options(), .memory = {}};
  saved.training.report = net.fit(x, labels);
  saved.memory = net.memory();
  saved.training.counts = {6, 6};
  REQUIRE(saved.memory.directions.used());
  const SavedClassifier read = classifier_from_text(classifier_to_text(saved), "model.json");
  CHECK(make_classifier(read).predict(x) == net.predict(x));
  saved.memory.directions.basis.conservativeResize(29, Eigen::NoChange);
  CHECK_THROWS_WITH_AS(check_saved(saved), doctest::Contains("directions"), Error);
}

TEST_CASE("classifier file: damaged text is an error of one line, never a crash and never another classifier") {
  const std::string text = classifier_to_text(saved_example());
  for (std::size_t at = 0; at < text.size(); at += 37) {
    std::string changed = text;
    changed[at] = changed[at] == '1' ? '2' : '1';
    CHECK_THROWS_AS(classifier_from_text(changed, "model.json"), Error);
  }
  for (std::size_t size = 0; size < text.size(); size += 499) {
    try {
      classifier_from_text(text.substr(0, size), "model.json");
      FAIL_CHECK("read a file cut short");
    } catch (const Error& e) {
      CHECK(std::string(e.what()).starts_with("'model.json'"));
      CHECK(std::string(e.what()).find('\n') == std::string::npos);
    }
  }
  CHECK_THROWS_WITH_AS(bnn_from_text(text, "model.json"), doctest::Contains("is a classifier"), Error);
}

TEST_CASE("classifier file: every field is checked") {
  const SavedClassifier good = saved_example();
  CHECK_NOTHROW(check_saved(good));
  const std::vector<std::function<void(SavedClassifier&)>> damages = {
      [](SavedClassifier& s) { s.features.pop_back(); },
      [](SavedClassifier& s) { s.features[0] = "a\nb"; },
      [](SavedClassifier& s) { s.target = "\x1b"; },
      [](SavedClassifier& s) { s.options.slope = 2; },
      [](SavedClassifier& s) { s.memory.classes[1] = s.memory.classes[0]; },
      [](SavedClassifier& s) { s.memory.classes.pop_back(); },
      [](SavedClassifier& s) { s.memory.inputs.scale(0) = 0; },
      [](SavedClassifier& s) { s.memory.inputs.log_from = Eigen::RowVectorXd::Ones(1); },
      [](SavedClassifier& s) { s.memory.inputs.log_from = -Eigen::RowVectorXd::Ones(s.memory.inputs.shift.size()); },
      [](SavedClassifier& s) { s.memory.frequencies(0) += 0.1; },
      [](SavedClassifier& s) { s.memory.frequencies_fraction = -0.1; },
      [](SavedClassifier& s) { s.memory.parts[0].fraction += 0.1; },
      [](SavedClassifier& s) { s.memory.parts[0].posterior.state.scale(0) = 0; },
      [](SavedClassifier& s) { s.memory.parts[0].posterior.stretch[0] = std::numeric_limits<double>::infinity(); },
      [](SavedClassifier& s) { s.memory.parts[0].posterior.state.mean(0) = std::numeric_limits<double>::quiet_NaN(); },
      [](SavedClassifier& s) { s.memory.parts[0].hidden.push_back(3); },
      [](SavedClassifier& s) { s.memory.parts[0].hidden = {1'000'000}; },
      [](SavedClassifier& s) { s.memory.parts[0].posterior.factor(0, 0) = -1; },
      [](SavedClassifier& s) { s.memory.parts[0].posterior.factor.conservativeResize(3, 3); },
      [](SavedClassifier& s) { s.training.counts.pop_back(); },
      [](SavedClassifier& s) { s.training.report.left_out.accuracy = 1.5; },
      [](SavedClassifier& s) { s.training.report.settled.push_back(true); },
      [](SavedClassifier& s) { s.training.report.reason = "\n"; },
      [](SavedClassifier& s) { s.training.report.network_fraction = 2; },
  };
  REQUIRE(!good.memory.parts.empty());
  for (std::size_t i = 0; i < damages.size(); ++i) {
    CAPTURE(i);
    SavedClassifier damaged = good;
    damages[i](damaged);
    CHECK_THROWS_AS(check_saved(damaged), Error);
  }
}
