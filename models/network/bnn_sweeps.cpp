// A Bnn whose weights are learned by sweeps of messages.
#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <numeric>

#include "engine/support/shuffle.h"
#include "models/network/bnn_member.h"
#include "models/table/noise.h"

namespace dma {

namespace {

// Noise may not change by more than this factor in one epoch: it must not outrun the network it is estimated with.
constexpr double kLargestNoiseStep = 4;
// Nor may the factor on a layer's prior variances.
constexpr double kLargestPriorStep = 2;
// Learned noise variances, in units of the target's variance.
constexpr double kSmallestNoiseVariance = 1e-8, kLargestNoiseVariance = 10;

// Members that are learned at the same time, and a caller who is told of their epochs and may look at all of them.
class MemberGate {
 public:
  // Somebody was told to stop: nobody else should begin.
  bool is_closed() {
    const std::lock_guard lock(mutex_);
    return closed_;
  }
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }

  // Held by a member while it learns.
  class Pass {
   public:
    explicit Pass(MemberGate& gate) : gate_(gate) {
      std::unique_lock lock(gate_.mutex_);
      gate_.enter(lock);
    }
    ~Pass() {
      const std::lock_guard lock(gate_.mutex_);
      gate_.leave();
    }
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;

    // The question is asked while nobody learns. After one no, every answer is no.
    bool ask(const std::function<bool()>& question) {
      std::unique_lock lock(gate_.mutex_);
      gate_.leave();
      ++gate_.waiting_;
      gate_.changed_.wait(lock,
                          [&] { return gate_.learning_ == 0; });  // the question is asked under the lock: one at a time
      --gate_.waiting_;
      bool yes = false;
      try {
        yes = question() && !gate_.closed_;
      } catch (...) {
        gate_.closed_ = true;
        ++gate_.learning_;  // the pass is given back by whoever holds it
        gate_.changed_.notify_all();
        throw;
      }
      if (!yes) gate_.closed_ = true;
      gate_.changed_.notify_all();
      gate_.enter(lock);
      return yes;
    }

   private:
    MemberGate& gate_;
  };

 private:
  // Whoever would go on lets those ask first that are waiting for it. Members then begin their epochs together; if each
  // went on at once, the next question would wait for a whole epoch of it, and one member at a time would learn.
  void enter(std::unique_lock<std::mutex>& lock) {
    changed_.wait(lock, [&] { return waiting_ == 0; });
    ++learning_;
  }
  void leave() {
    --learning_;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t learning_ = 0, waiting_ = 0;
  bool closed_ = false;
};

// For Data::order, in half the memory.
std::vector<std::uint32_t> as_places(const std::vector<Eigen::Index>& rows) { return {rows.begin(), rows.end()}; }

}  // namespace

void Bnn::fit_members(const RowMajor& x, const RowMajor& y, const TeamSum& sum, const LearnOptions& options,
                      const BnnCallback& on_epoch) {
  // Processes of a team meet in every round, in one order: one member after the other.
  const std::size_t at_once = sum.team().is_whole() ? std::min(options.jobs, members_.size()) : 1;
  LearnOptions own = options;
  own.jobs = std::max<std::size_t>(1, options.jobs / at_once);
  std::vector<std::optional<LearnReport>> reports(members_.size());
  MemberGate gate;
  parallel_for(members_.size(), at_once, [&](std::size_t k) {
    MemberGate::Pass learning(gate);
    if (gate.is_closed()) return;
    if (!members_[k]->is_fitted()) {
      members_[k]->noise_variance.clear();
      make_member(k, own);
    }
    reports[k] = fit_member(k, x, y, sum, own, [&](const BnnEpoch& epoch) {
      return on_epoch ? learning.ask([&] { return on_epoch(epoch); }) : !gate.is_closed();
    });
    if (reports[k]->stop == LearnReport::Stop::interrupted) gate.close();
  });
  for (const auto& report : reports) {
    if (!report) break;
    report_.members.push_back(*report);
    report_.interrupted = report_.interrupted || report->stop == LearnReport::Stop::interrupted;
  }
}

std::vector<Eigen::Index> Bnn::learning_order(std::size_t member, const std::vector<Partition::Range>& parts,
                                              std::size_t first_worker) const {
  std::vector<Eigen::Index> order;
  for (std::size_t w = 0; w < parts.size(); ++w) {
    constexpr std::uint64_t kOrder = 2, kNextWorker = 256;
    std::vector<Eigen::Index> rows(parts[w].size());
    if (options_.shuffle)
      rows = random_order(std::ssize(rows), seed_of(options_.seed, member, kOrder + kNextWorker * (first_worker + w)));
    else
      std::iota(rows.begin(), rows.end(), Eigen::Index{0});
    for (const Eigen::Index row : rows) order.push_back(row + static_cast<Eigen::Index>(parts[w].begin));
  }
  return order;
}

LearnReport Bnn::fit_member(std::size_t index, const RowMajor& x, const RowMajor& y, const TeamSum& sum,
                            const LearnOptions& options, const BnnCallback& on_epoch) {
  Member& member = *members_[index];
  member.learner->set_stopping(options);
  if (const auto stop = member.learner->finished()) return {*stop, member.learner->memory().epochs, 0};
  const auto rows = as_places(learning_order(index, sum.rows(), sum.team().first()));
  const RowMajor own_y = y(rows, Eigen::all);
  const std::span<const double> y_values(own_y.data(), static_cast<std::size_t>(own_y.size()));
  Data data{{member.net.inputs, {x.data(), static_cast<std::size_t>(x.size())}},
            {member.net.outputs, {y.data(), static_cast<std::size_t>(y.size())}}};
  data.order = rows;
  return member.learner->fit(data, [&](const EpochRecord& record) {
    if (options_.learn_noise) update_noise(member, y_values);
    if (options_.learn_prior) update_priors(member);
    std::vector<double> sds;
    for (std::size_t j = 0; j < member.noise_variance.size(); ++j)
      sds.push_back(std::sqrt(member.noise_variance[j]) * target_standardiser_.scale(static_cast<Eigen::Index>(j)));
    return !on_epoch || on_epoch({index, record, std::move(sds)});
  });
}

void Bnn::update_noise(Member& member, std::span<const double> targets) {
  const auto means = member.learner->fitted_means(), variances = member.learner->fitted_variances();
  const std::size_t outputs = member.noise_variance.size(), rows = targets.size() / outputs;
  std::vector<double> observed(rows);
  const TeamSum sum = member.learner->sum_over_examples();
  ComponentPredictions predicted{std::vector<double>(rows), std::vector<double>(rows)};
  for (std::size_t j = 0; j < outputs; ++j) {
    double& noise = member.noise_variance[j];
    for (std::size_t n = 0; n < rows; ++n) {
      const std::size_t k = n * outputs + j;
      observed[n] = targets[k];
      predicted.means[n] = means[k];
      predicted.variances[n] = std::max(0.0, variances[k] - noise);
    }
    noise = most_likely_noise({&predicted, 1}, observed, std::max(kSmallestNoiseVariance, noise / kLargestNoiseStep),
                              std::max(kSmallestNoiseVariance, noise * kLargestNoiseStep), &sum);
  }
  member.learner->set_parameter(member.net.noise, "variance", member.noise_variance);
}

// Expectation maximisation: with beliefs N(m, v) of weights with priors N(m0, v0), the expected log prior is largest
// for the factor mean of ((m - m0)^2 + v) / v0 on the prior variances of a layer. Weights known exactly, or without a
// prior, have no say.
void Bnn::update_priors(Member& member) {
  for (std::size_t l = 0; l < member.priors.size(); ++l) {
    LayerPrior& prior = member.priors[l];
    double sum = 0, count = 0;
    std::size_t i = 0;
    for (const auto& [variable, factor] : member.net.learned(l)) {
      const Belief belief = member.learner->belief(variable);
      for (std::size_t e = 0; e < belief.size(); ++e, ++i) {
        if (!(prior.variance[i] > 0 && prior.variance[i] < kInfinity)) continue;
        const double off = belief[e].mean() - prior.mean[i];
        sum += (off * off + belief[e].variance()) / prior.variance[i];
        ++count;
      }
    }
    if (count == 0) continue;
    const double ratio = std::clamp(sum / count, 1 / kLargestPriorStep, kLargestPriorStep);
    for (double& variance : prior.variance) variance *= ratio;
    i = 0;
    for (const auto& [variable, factor] : member.net.learned(l)) {
      const std::size_t size = member.net.graph[variable].size;
      member.learner->set_parameter(factor, "variance", std::span(prior.variance).subspan(i, size));
      i += size;
    }
  }
}

std::vector<PredictionComponent> Bnn::left_out_of_members(const RowMajor& x, const TeamSum& sum) const {
  const auto outputs = static_cast<Eigen::Index>(options_.layers.back());
  std::vector<PredictionComponent> all;
  for (std::size_t k = 0; k < members_.size(); ++k) {
    const Member& member = *members_[k];
    if (!member.is_fitted()) continue;
    const auto order = as_places(learning_order(k, sum.rows(), sum.team().first()));
    Data data{{member.net.inputs, {x.data(), static_cast<std::size_t>(x.size())}}};
    data.order = order;
    RowMajor means(x.rows(), outputs), variances(x.rows(), outputs);
    const auto size = static_cast<std::size_t>(means.size());
    member.learner->predict_left_out(data, {means.data(), size}, {variances.data(), size});
    const Eigen::RowVectorXd own_noise = Eigen::Map<const Eigen::RowVectorXd>(member.noise_variance.data(), outputs);
    PredictionComponent& component = all.emplace_back();
    component.mean.resize(x.rows(), outputs);
    component.epistemic_sd.resize(x.rows(), outputs);
    component.mean(order, Eigen::all) = means;
    component.epistemic_sd(order, Eigen::all) = (variances.rowwise() - own_noise).cwiseMax(0.0).cwiseSqrt();
  }
  return all;
}

void Bnn::choose_prediction_noise(const std::vector<PredictionComponent>& left_out, const RowMajor& y,
                                  const TeamSum& sum) {
  const auto rows = static_cast<std::size_t>(y.rows());
  for (Eigen::Index j = 0; j < y.cols(); ++j) {
    std::vector<ComponentPredictions> components;
    for (const PredictionComponent& own : left_out) {
      const Eigen::VectorXd mean = own.mean.col(j), variance = own.epistemic_sd.col(j).cwiseAbs2();
      components.push_back({{mean.begin(), mean.end()}, {variance.begin(), variance.end()}});
    }
    const Eigen::VectorXd targets = y.col(j);
    noise_variance_[static_cast<std::size_t>(j)] =
        most_likely_noise(components, {targets.data(), rows}, kSmallestNoiseVariance, kLargestNoiseVariance, &sum);
  }
}

}  // namespace dma
