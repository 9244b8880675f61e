#include "engine/learn/joint/class_learner.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "engine/learn/joint/joint_learner_impl.h"
#include "engine/support/error.h"

namespace dma {

ClassLearner::ClassLearner(const Graph& graph, const Registry& registry, VariableId logits, ClassLearnOptions options)
    : graph_(graph), logits_(logits), program_(graph, registry, {logits}), options_(std::move(options)) {
  check_size(program_);
  if (!program_.prior().group.empty())
    fail(
        "class learning: a shared variable has an unknown precision; give it a gaussian_prior, whose scale is learned");
  if (graph[logits].observed || graph[logits].shared)
    fail("classes: '{}' is {}; a computed variable with an element for each class is expected", graph[logits].name,
         graph[logits].shared ? "shared" : "observed");
  if (options_.starts < 1) fail("classes: 0 starts are given; at least 1 is expected");
  if (options_.epochs < 1) fail("classes: {} epochs are given; at least 1 is expected", options_.epochs);
}

JointLearnReport ClassLearner::fit(const Data& inputs, std::span<const Index> classes) {
  const Index count = classes_of(program_.outputs());
  ClassData data{gather_rows(graph_, program_.inputs(), program_.tables(), inputs, "fit"),
                 {classes.begin(), classes.end()}};
  if (classes.empty()) fail("fit: there are no examples");
  if (data.rows.rows() != static_cast<Index>(classes.size()))
    fail("fit: {} examples of inputs but {} classes", data.rows.rows(), classes.size());
  for (const Index own : classes)
    if (own < 0 || own >= count) fail("fit: class {} is given; 0 to {} are possible", own, count - 1);
  const SharedPrior& given = program_.prior();
  const auto each = [&](const std::vector<VariableId>& variables, const auto& use) {
    for (const VariableId v : variables) use(program_.first_scalar(v), static_cast<Index>(graph_[v].size));
  };
  starts_.clear();
  JointLearnReport report;
  std::vector<Index> all(static_cast<std::size_t>(program_.scalars()));
  std::iota(all.begin(), all.end(), Index{0});
  const bool is_dead = has_dead_scalar(program_, data.rows, options_.seed, all);
  for (std::size_t k = 0; k < options_.starts && !report.interrupted; ++k) {
    ClassPrior prior{given.mean, given.precision, Vector::Zero(program_.scalars())};
    const Vector start = k > 0 || is_dead ? draw(given, options_.seed + k) : given.mean;
    each(options_.anchored, [&](Index i, Index n) { prior.mean.segment(i, n) = start.segment(i, n); });
    each(options_.unscaled, [&](Index i, Index n) {
      prior.fixed.segment(i, n) = prior.precision.segment(i, n);
      prior.precision.segment(i, n).setZero();
    });
    ClassFitOptions fit{.epochs = options_.epochs, .learn_scale = options_.learn_scale, .jobs = options_.jobs};
    if (options_.on_epoch) fit.on_epoch = [&](const ClassEpoch& epoch) { return options_.on_epoch(k, epoch); };
    const ClassSolution& found = starts_.emplace_back(solve_classes(program_, data, prior, start, fit));
    if (!(std::isfinite(found.log_evidence) && found.mean.allFinite() && found.left_out.allFinite())) {
      starts_.clear();
      fail("the examples overflow: use other units, or leave out values that are far from all others");
    }
    report.starts.push_back({found.epochs, found.settled, found.log_evidence, 1});
    report.interrupted = found.interrupted;
  }
  left_out_ = Matrix::Zero(data.rows.rows(), count);
  const double fraction = 1 / static_cast<double>(starts_.size());
  const ClassSolution& best = *std::ranges::max_element(starts_, {}, &ClassSolution::log_evidence);
  report.log_evidence = best.log_evidence, report.effective_scalars = best.effective_scalars;
  for (ClassSolution& start : starts_) left_out_ += fraction * std::exchange(start.left_out, {});
  for (auto& start : report.starts) start.weight = fraction;
  return report;
}

void ClassLearner::check_fitted(std::string_view what) const {
  if (starts_.empty()) fail("{}: nothing has been learned yet; call fit first", what);
}

Matrix ClassLearner::predict(const Data& inputs) const {
  check_fitted("predict");
  const Matrix rows = gather_rows(graph_, program_.inputs(), program_.tables(), inputs, "predict");
  Matrix p = Matrix::Zero(rows.rows(), classes_of(program_.outputs()));
  for (const ClassSolution& start : starts_) p += start.predict(program_, rows) / static_cast<double>(starts_.size());
  return p;
}

std::vector<Gaussian> ClassLearner::belief(VariableId shared) const {
  check_fitted("belief");
  const Index first = program_.first_scalar(shared), size = graph_[shared].size;
  const double fraction = 1 / static_cast<double>(starts_.size());
  Vector mean = Vector::Zero(size), variance = mean;
  for (const ClassSolution& start : starts_) mean += fraction * start.mean.segment(first, size);
  for (const ClassSolution& start : starts_)
    variance += fraction * (start.factor.variances().segment(first, size) +
                            (start.mean.segment(first, size) - mean).cwiseAbs2());
  std::vector<Gaussian> all;
  for (Index i = 0; i < size; ++i) all.push_back(Gaussian::from_moments(mean(i), variance(i)));
  return all;
}

}  // namespace dma
