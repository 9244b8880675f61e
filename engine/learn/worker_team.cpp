#include "engine/learn/worker_team.h"

#include <algorithm>

#include "engine/support/text.h"

namespace dma {

namespace {

class LocalTeam final : public WorkerTeam {
 public:
  explicit LocalTeam(std::size_t workers) : workers_(workers) {}
  std::size_t size() const override { return workers_; }
  std::size_t first() const override { return 0; }
  std::size_t local() const override { return workers_; }
  void sum(std::span<const double> parts, std::span<double> total) override {
    std::ranges::copy(parts.first(total.size()), total.begin());
    for (std::size_t w = 1; w < workers_; ++w)
      for (std::size_t i = 0; i < total.size(); ++i) total[i] += parts[w * total.size() + i];
  }
  void largest(std::span<double>) override {}
  std::vector<double> gather(std::span<const double> own) override { return {own.begin(), own.end()}; }

 private:
  std::size_t workers_;
};

}  // namespace

bool WorkerTeam::any(bool here) {
  if (is_whole()) return here;
  double count = 0;
  sum(std::vector<double>(local(), here ? 1.0 : 0.0), {&count, 1});
  return count > 0;
}

std::shared_ptr<WorkerTeam> local_team(std::size_t workers) { return std::make_shared<LocalTeam>(workers); }

Partition::Range Partition::batches_of(std::size_t worker, std::size_t workers, std::size_t batches) {
  const std::size_t begin =
      worker * (batches / workers) + std::min(worker, batches % workers);  // as examples are split
  return {begin, begin + count_examples(worker, workers, batches)};
}

std::size_t Partition::count_examples(std::size_t worker, std::size_t workers, std::size_t examples) {
  return examples / workers + (worker < examples % workers ? 1 : 0);
}

namespace {

std::size_t examples_of_team(WorkerTeam& team, std::size_t here) {
  if (team.is_whole()) return here;
  std::vector<double> counts(team.local(), 0.0);
  counts[0] = static_cast<double>(here);
  double total = 0;
  team.sum(counts, {&total, 1});
  return static_cast<std::size_t>(total);
}

}  // namespace

std::vector<Partition::Range> Partition::split(WorkerTeam& team, std::size_t examples) {
  const std::size_t all = examples_of_team(team, examples);
  std::vector<Range> own;
  std::size_t first = 0;
  for (std::size_t w = team.first(); w < team.first() + team.local(); ++w) {
    const std::size_t count = count_examples(w, team.size(), all);
    own.push_back({first, first + count});
    first += count;
  }
  if (first != examples)
    fail(
        "this process has {} of {} examples, but its part is {}: workers have as many as each other, the first "
        "ones one more",
        examples, all, first);
  return own;
}

Partition::Partition(WorkerTeam& team, const std::function<std::size_t(std::size_t)>& batches_for, std::size_t examples)
    : examples_(split(team, examples)) {
  const std::size_t all = examples_of_team(team, examples);
  const std::size_t batches = all_batches_ = batches_for(all);
  if (batches < team.size())
    fail("there are {} batches for {} workers; give every worker at least one", batches, team.size());
  std::size_t first_batch = 0;
  for (std::size_t w = 0; w < team.size(); ++w) {
    const std::size_t own = count_examples(w, team.size(), all);
    const std::size_t own_batches = batches_of(w, team.size(), batches).size();
    if (own < own_batches)
      fail("a worker has {} examples for {} batches; use fewer workers, or fewer batches", own, own_batches);
    rounds_ = std::max(rounds_, own_batches);
    if (w < team.first() || w >= team.first() + team.local()) continue;
    batches_.push_back({first_batch, first_batch + own_batches});
    first_batch += own_batches;
  }
}

Partition::Range Partition::examples_of_batch(std::size_t batch) const {
  std::size_t w = 0;
  while (batch >= batches_[w].end) ++w;
  const std::size_t k = batch - batches_[w].begin, of = batches_[w].size(), first = examples_[w].begin,
                    count = examples_[w].size();
  return {first + k * count / of, first + (k + 1) * count / of};
}

double TeamSum::operator()(const std::function<double(std::size_t, std::size_t)>& part) const {
  std::vector<double> parts;
  for (const Partition::Range& own : rows_) parts.push_back(part(own.begin, own.end));
  if (parts.size() == 1 && team_->is_whole()) return parts[0];
  double total = 0;
  team_->sum(parts, {&total, 1});
  return total;
}

}  // namespace dma
