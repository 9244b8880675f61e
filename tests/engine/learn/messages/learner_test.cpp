#include "tests/oracles/learned_line.h"

namespace {

using oracle::LearnedLine, oracle::LineExamples;

constexpr double kNoise = LearnedLine::kNoise, kPriorVariance = LearnedLine::kPriorVariance;

}  // namespace

TEST_CASE("learn: a forgotten batch leaves exactly the prior times the other stored messages") {
  const LearnedLine model(2);
  const LineExamples sample(30, 2);
  Learner learner = model.learner({.batches = 5, .epochs = 4, .tolerance = 0});
  learner.fit(sample.data(model));
  const Learner::Memory before = learner.memory();
  learner.forget(2);
  const Belief w = learner.belief(model.w);
  for (std::size_t j = 0; j < 2; ++j) {
    double tau = 0, rho = 0;
    for (const std::size_t b : {0u, 1u, 3u, 4u}) tau += before.tau[b][j], rho += before.rho[b][j];
    CHECK(w[j].tau == oracle::relative(tau + 0.5 / kPriorVariance, 1e-14));
    CHECK(w[j].rho == oracle::relative(rho + 1 / kPriorVariance, 1e-14));
  }
  // Further epochs refine the belief without it: that of a learner that never saw those rows.
  learner.set_stopping({.epochs = 200, .tolerance = 0});
  learner.fit(sample.data(model));
  LineExamples rest = sample;
  rest.x.erase(rest.x.begin() + 24, rest.x.begin() + 36);
  rest.y.erase(rest.y.begin() + 12, rest.y.begin() + 18);
  Learner other = model.learner({.batches = 4, .epochs = 200, .tolerance = 0});
  other.fit(rest.data(model));
  for (std::size_t j = 0; j < 2; ++j)
    CHECK(learner.belief(model.w).mean(j) == oracle::relative(other.belief(model.w).mean(j), 1e-9));
  CHECK_THROWS_AS(learner.forget(5), Error);
}

TEST_CASE("learn: another prior, given later, takes the place of the first") {
  const LearnedLine model(2);
  const LineExamples sample(40, 2);
  Learner learner = model.learner({.batches = 4, .epochs = 3, .tolerance = 0});
  CHECK(learner.belief(model.w)[0].variance() == doctest::Approx(kPriorVariance));
  learner.fit(sample.data(model));
  const double learned = learner.belief(model.w)[0].rho - 1 / kPriorVariance;
  const double variance = 0.25;
  learner.set_parameter(FactorId{0}, "variance", std::span(&variance, 1));
  CHECK(learner.belief(model.w)[0].rho == oracle::relative(learned + 1 / variance, 1e-12));
}

TEST_CASE("learn: left-out predictions are those of a learner without the batch") {
  const LearnedLine model(1);
  const LineExamples sample(12, 1);
  Learner learner = model.learner({.batches = 3, .epochs = 2, .tolerance = 0});
  learner.fit(sample.data(model));
  std::vector<double> means(12), variances(12), other_means(12), other_variances(12);
  learner.predict_left_out(sample.data(model), means, variances);
  Learner without = model.learner({.batches = 3, .epochs = 2, .tolerance = 0});
  without.fit(sample.data(model));
  without.forget(1);
  without.predict(sample.data(model), other_means, other_variances);
  for (std::size_t n = 4; n < 8; ++n) {
    CHECK(means[n] == oracle::relative(other_means[n], 1e-12));
    CHECK(variances[n] == oracle::relative(other_variances[n], 1e-12));
  }
}

TEST_CASE("learn: each rule for stopping fires and is named") {
  const LearnedLine model(2);
  const LineExamples sample(30, 2);
  const auto fit = [&](LearnOptions options, const Learner::Callback& callback = {}) {
    Learner learner = model.learner(std::move(options));
    return learner.fit(sample.data(model), callback);
  };
  CHECK(fit({.batches = 5, .epochs = 100, .tolerance = 0.5}).stop == LearnReport::Stop::tolerance);
  CHECK(fit({.batches = 5, .epochs = 500, .tolerance = 0, .patience = 3}).stop == LearnReport::Stop::patience);
  CHECK(fit({.batches = 5, .epochs = 2, .tolerance = 0}).stop == LearnReport::Stop::limit);
  const LearnReport settled = fit({.batches = 5, .epochs = 500, .tolerance = 0, .least_gain = 1e-3});
  CHECK(settled.stop == LearnReport::Stop::least_gain);
  CHECK(settled.line().find("hardly rose") != std::string::npos);
  const auto gain = [&](std::size_t epoch) {  // over the ten epochs up to it
    return settled.epochs[epoch].log_likelihood - settled.epochs[epoch - 10].log_likelihood;
  };
  CHECK(gain(settled.epochs.size() - 1) < 10 * 1e-3);
  for (std::size_t epoch = 10; epoch + 1 < settled.epochs.size(); ++epoch) CHECK(gain(epoch) >= 10 * 1e-3);
  int calls = 0;
  const LearnReport interrupted = fit({.batches = 5, .tolerance = 0}, [&](const EpochRecord& record) {
    CHECK(record.epoch == ++calls);
    return calls < 2;
  });
  CHECK(interrupted.stop == LearnReport::Stop::interrupted);
  CHECK(interrupted.epochs.size() == 2);
  CHECK(interrupted.line().find("interrupted") != std::string::npos);
}

TEST_CASE("learn: a log-likelihood that is not a number is never called settled") {
  std::vector<EpochRecord> epochs(12);
  for (EpochRecord& record : epochs) record.log_likelihood = std::nan("");
  for (const LearnOptions& options :
       {LearnOptions{.patience = 3}, LearnOptions{.tolerance = 1}, LearnOptions{.least_gain = 1}})
    CHECK(stop_reason(options, epochs) == LearnReport::Stop::diverged);
  LearnReport report{LearnReport::Stop::diverged, epochs};
  CHECK(report.line().find("because the log-likelihood is not a number") != std::string::npos);
}

TEST_CASE("learn: predictions while sweeping are made before their example is learned") {
  const LearnedLine model(1);
  const LineExamples sample(10, 1);
  Learner learner = model.learner({.batches = 10, .epochs = 1, .likelihood = LearnOptions::Likelihood::while_sweeping});
  learner.fit(sample.data(model));
  // The first example is predicted from the prior alone.
  CHECK(learner.fitted_means()[0] == doctest::Approx(0.5 * sample.x[0]));
  CHECK(learner.fitted_variances()[0] == doctest::Approx(kPriorVariance * sample.x[0] * sample.x[0] + kNoise));
}

TEST_CASE("learn: wrong data and options are refused with a clear line") {
  const LearnedLine model(2);
  const LineExamples sample(6, 2);
  CHECK(oracle::error_of([&] { model.learner({.batches = 7}).fit(sample.data(model)); }) ==
        "there are 6 examples but 7 batches; give at most one batch per example");
  CHECK(oracle::error_of([&] {
          model.learner({.batches = 2}).fit({{model.x, sample.x}});
        }).find("'y' has no value") != std::string::npos);
  const std::vector<double> five(5);
  CHECK(oracle::error_of([&] {
          model.learner({.batches = 2}).fit({{model.x, five}, {model.y, sample.y}});
        }) == "variable 'x' has 2 elements, which do not divide the 5 values given");
  CHECK(oracle::error_of([&] {
          model.learner({.batches = 2}).fit({{model.x, sample.x}, {model.y, five}});
        }) == "'x' has values for 6 examples but 'y' for 5");
  CHECK(oracle::error_of([&] { model.learner({.step = 0}); }).find("(0, 1]") != std::string::npos);
}

TEST_CASE("learn: a frozen variable stays as it is known, and the other learns as if it were given that way") {
  // y = a + b + noise, two shared offsets; a is frozen at its prior N(0.5, 2).
  Graph g;
  const auto a = g.shared("a"), b = g.shared("b"), z = g.variable("z"), y = g.observed("y");
  for (const auto& v : {a, b}) g.factor("gaussian_prior", {v}, {{"mean", 0.5}, {"variance", kPriorVariance}});
  g.factor("sum", {Connection("terms", a), Connection("terms", b), Connection("total", z)});
  g.factor("gaussian_noise", {z, y}, {{"variance", kNoise}});
  LearnOptions options{.targets = {y}, .batches = 1, .epochs = 1};
  Learner learner(g, standard_registry(), forward_backward(), forward(), options);
  learner.freeze(a);
  const std::vector<double> seen{3.0, 4.0, 5.5};
  learner.fit({{y, seen}});
  learner.add({{y, std::vector<double>{4.5}}});
  CHECK(learner.belief(a).mean() == doctest::Approx(0.5));
  CHECK(learner.belief(a).variance() == doctest::Approx(kPriorVariance));
  // Each example tells b: y - N(0.5, 2) +- noise.
  const double each = 1 / (kPriorVariance + kNoise), precision = 1 / kPriorVariance + 4 * each;
  CHECK(learner.belief(b).variance() == doctest::Approx(1 / precision));
  CHECK(learner.belief(b).mean() ==
        doctest::Approx((0.5 / kPriorVariance + each * (3 + 4 + 5.5 + 4.5 - 4 * 0.5)) / precision));
  learner.thaw(a);
  learner.add({{y, std::vector<double>{4.5}}});
  CHECK(learner.belief(a).variance() < kPriorVariance);
  CHECK_THROWS_WITH_AS(learner.freeze(z), doctest::Contains("is not shared"), Error);
}
