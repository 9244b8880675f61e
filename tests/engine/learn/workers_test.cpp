#include <thread>

#include "tests/oracles/learned_line.h"
#include "tests/oracles/meeting_team.h"
#include "tests/oracles/plain_matrix.h"

namespace {

using oracle::LearnedLine, oracle::LineExamples;

constexpr double kLineNoise = LearnedLine::kNoise;
constexpr std::size_t kLineInputs = 3;

bool same_bytes(const LearnMemory& a, const LearnMemory& b) {
  for (std::size_t e = 0; e < std::min(a.epochs.size(), b.epochs.size()); ++e)
    if (a.epochs[e].log_likelihood != b.epochs[e].log_likelihood) return false;
  return a.tau == b.tau && a.rho == b.rho && a.active == b.active && a.epochs.size() == b.epochs.size();
}

}  // namespace

TEST_CASE("workers: the means are those of one worker, and exact, for any number of them") {
  const LearnedLine model(kLineInputs);
  const LineExamples rows(60, kLineInputs);
  oracle::PlainMatrix x(60, kLineInputs);
  for (std::size_t i = 0; i < rows.x.size(); ++i) x[i] = rows.x[i];
  const auto precision = x.transpose() * x + kLineNoise / 2 * oracle::PlainMatrix::identity(kLineInputs);
  const oracle::PlainMatrix prior(kLineInputs, 1, kLineNoise / 2 * LearnedLine::kPriorMean);
  const oracle::PlainMatrix mean = precision.solve(x.transpose() * oracle::PlainMatrix::column(rows.y) + prior);
  for (const std::size_t workers : {1u, 2u, 3u, 7u, 20u}) {
    CAPTURE(workers);
    Learner learner = model.learner({.batches = 60, .epochs = 400, .tolerance = 0, .workers = workers});
    learner.fit(rows.data(model));
    const Belief w = learner.belief(model.w);
    for (std::size_t j = 0; j < kLineInputs; ++j) CHECK(w[j].mean() == oracle::relative(mean[j], 1e-6));
  }
}

TEST_CASE("workers: no byte depends on the number of threads, nor changes from run to run") {
  const LearnedLine model(kLineInputs);
  const LineExamples rows(50, kLineInputs);
  for (const std::size_t workers : {1u, 2u, 5u})
    for (const auto likelihood : {LearnOptions::Likelihood::after_epoch, LearnOptions::Likelihood::while_sweeping}) {
      CAPTURE(workers);
      const LearnOptions options{
          .batches = 10, .epochs = 4, .tolerance = 0, .likelihood = likelihood, .workers = workers};
      Learner first = model.learner(options);
      first.fit(rows.data(model));
      for (const std::size_t jobs : {1u, 2u, 4u, 4u}) {
        LearnOptions own = options;
        own.jobs = jobs;
        Learner again = model.learner(own);
        again.fit(rows.data(model));
        CHECK(same_bytes(first.memory(), again.memory()));
        CHECK(first.belief(model.w).mean() == again.belief(model.w).mean());
      }
    }
}

TEST_CASE("workers: restored memory goes on with the same bytes") {
  const LearnedLine model(kLineInputs);
  const LineExamples rows(41, kLineInputs);
  LearnOptions options{.batch_size = 3, .epochs = 6, .tolerance = 0, .workers = 3};
  Learner whole = model.learner(options);
  whole.fit(rows.data(model));
  options.epochs = 2;
  Learner begun = model.learner(options);
  begun.fit(rows.data(model));
  options.epochs = 6;
  Learner resumed = model.learner(options);
  resumed.restore(begun.memory());
  CHECK(resumed.belief(model.w).mean() == begun.belief(model.w).mean());
  resumed.fit(rows.data(model));
  CHECK(same_bytes(whole.memory(), resumed.memory()));
}

TEST_CASE("workers: a team of processes learns what as many workers of one process do, byte for byte") {
  const LearnedLine model(kLineInputs);
  const LineExamples rows(31, kLineInputs);
  constexpr std::size_t kWorkers = 3;
  const LearnOptions options{.batches = 9, .epochs = 5, .tolerance = 0, .workers = kWorkers};
  Learner together = model.learner(options);
  together.fit(rows.data(model));
  std::vector<double> left_out(31), ignored(31), means(31);
  together.predict_left_out(rows.data(model), left_out, ignored);

  oracle::MeetingTeam::Place place(kWorkers);
  std::vector<LearnMemory> whole(kWorkers), condensed(kWorkers);
  {
    std::vector<std::jthread> processes;
    for (std::size_t rank = 0; rank < kWorkers; ++rank)
      processes.emplace_back([&, rank] {
        std::size_t first = 0;
        for (std::size_t w = 0; w < rank; ++w) first += Partition::count_examples(w, kWorkers, 31);
        const std::size_t count = Partition::count_examples(rank, kWorkers, 31);
        LearnOptions own = options;
        own.team = std::make_shared<oracle::MeetingTeam>(place, rank);
        Learner learner = model.learner(own);
        const std::span<const double> x = std::span(rows.x).subspan(first * kLineInputs, count * kLineInputs),
                                      y = std::span(rows.y).subspan(first, count);
        learner.fit({{model.x, x}, {model.y, y}});
        std::vector<double> variances(count);
        learner.predict_left_out({{model.x, x}}, std::span(means).subspan(first, count), variances);
        whole[rank] = learner.whole_memory();
        condensed[rank] = learner.condensed_memory();
        Learner resumed = model.learner(own);
        resumed.restore(together.memory());  // all of it, of which it keeps its own
        CHECK(resumed.memory().tau == learner.memory().tau);
      });
  }
  CHECK(same_bytes(whole[0], together.memory()));
  for (const LearnMemory& memory : condensed) CHECK(memory.tau == together.condensed_memory().tau);
  CHECK(means == left_out);
}

TEST_CASE("workers: a weight that the prior knows exactly stays what it is; the others learn") {
  Graph g;
  const VariableId w = g.shared("w", 2), x = g.observed("x", 2), y = g.observed("y"), p = g.variable("p", 2),
                   z = g.variable("z");
  g.factor("gaussian_prior", {w}, {{"mean", {1.0, 0.0}}, {"variance", {0.0, 1.0}}});
  g.factor("product", {w, x, p});
  g.factor("sum", {p, z});
  g.factor("gaussian_noise", {z, y}, {{"variance", kLineNoise}});
  const std::vector<double> inputs = {1, 1, 1, 2, 1, 3, 1, 4}, outputs = {3, 5, 7, 9};  // y = 1 + 2 x
  for (const std::size_t workers : {1u, 2u}) {
    Learner learner(g, standard_registry(), forward_backward(), forward(),
                    {.targets = {y}, .batches = 4, .epochs = 300, .tolerance = 0, .workers = workers});
    learner.fit({{x, inputs}, {y, outputs}});
    CHECK(learner.belief(w)[0] == Gaussian::point(1));
    CHECK(learner.belief(w)[1].mean() == oracle::relative(60 / kLineNoise / (30 / kLineNoise + 1), 1e-6));
  }
}

TEST_CASE("workers: what cannot be is refused with a clear line") {
  const LearnedLine model(kLineInputs);
  const LineExamples rows(10, kLineInputs);
  CHECK_THROWS_WITH_AS(model.learner({.workers = 0}), doctest::Contains("number of workers is 0"), Error);
  CHECK_THROWS_WITH_AS(model.learner({.jobs = 0}), doctest::Contains("jobs is 0"), Error);
  CHECK_THROWS_WITH_AS(model.learner({.batches = 2, .workers = 3}).fit(rows.data(model)),
                       doctest::Contains("2 batches for 3 workers"), Error);
  CHECK_THROWS_WITH_AS(model.learner({.workers = 3, .team = local_team(2)}), doctest::Contains("the team has 2"),
                       Error);
}
