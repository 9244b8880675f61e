// The part of Learner for several workers: rounds, and the stored messages of all of them.
#include <algorithm>

#include "engine/compile/plan_data.h"
#include "engine/learn/messages/learner_impl.h"
#include "engine/support/text.h"

namespace dma {

// tau of all shared scalars, then rho.
void Learner::Impl::sum_stored(std::span<double> total) const {
  const std::size_t each = total.size();
  std::vector<double> parts(team_->local() * each);
  pool_->run(local_batches_.size(), [&](std::size_t w) {  // there are none before the first fit
    const MessageArrays part{parts.data() + w * each, parts.data() + w * each + scalars_};
    stored_.sum_stored({0, scalars_}, local_batches_[w].begin, local_batches_[w].end, part);
  });
  team_->sum(parts, total);
}

// Mini-batches of one round all correct the same error. With steps of 1 / workers the belief gains the mean of their
// changes, and no measured network diverges; with longer steps deep networks do
// (tools/experiments/results/SCALING.md).
double Learner::Impl::step_of_batch() const {
  const double step = memory().epochs.empty() ? 1 : options_.step;
  return std::min(step, 1 / static_cast<double>(team_->size()));
}

// In a round every worker learns one of its mini-batches from the current cavities, which then gain the changes of all
// workers, added in their order. Stored precisions are not negative, so the products stay proper.
void Learner::Impl::learn_in_rounds(const Data& data, EpochRecord& record) {
  const std::size_t each = 2 * std::size_t{scalars_}, local = team_->local();
  std::vector<double> changes(local * each), total(each);
  std::vector<std::unique_ptr<Worker>> workers(local);
  pool_->run(local, [&](std::size_t w) { workers[w] = std::make_unique<Worker>(state_->copy()); });
  for (std::size_t round = 0; round < partition_.rounds(); ++round) {
    tell(round, partition_.rounds());
    pool_->run(local, [&](std::size_t w) {
      const auto [first, last] = partition_.batches(w);
      const std::span<double> change(changes.data() + w * each, each);
      std::ranges::fill(change, 0.0);
      if (first + round < last && stored_.is_active(first + round))
        learn_from_cavities(data, first + round, *workers[w], change);
    });
    team_->sum(changes, total);
    for (const auto& [id, scalars, is_frozen] : shared_) {
      const MessageArrays cavity = state_->cavity(id);
      for (std::uint32_t i = 0; i < scalars.size; ++i) {
        cavity.tau[i] += total[scalars.first + i];
        cavity.rho[i] += total[scalars_ + scalars.first + i];
      }
    }
  }
  std::vector<double> counts;
  for (const auto& worker : workers)
    for (const std::uint64_t count : {worker->record.faults, worker->record.replaced, worker->record.unfinished})
      counts.push_back(static_cast<double>(count));
  double all[3];
  team_->sum(counts, all);
  record.faults = static_cast<std::uint64_t>(all[0]);
  record.replaced = static_cast<std::uint64_t>(all[1]);
  record.unfinished = static_cast<std::uint64_t>(all[2]);
}

void Learner::Impl::learn_from_cavities(const Data& data, std::size_t batch, Worker& worker, std::span<double> change) {
  for (const auto& [id, scalars, is_frozen] : shared_) {
    const MessageArrays from = state_->cavity(id), to = worker.state.cavity(id);
    std::copy_n(from.tau, scalars.size, to.tau);
    std::copy_n(from.rho, scalars.size, to.rho);
  }
  worker.has_points = has_points_;
  learn_batch(data, batch, worker);
  for (const auto& [id, scalars, is_frozen] : shared_) {
    const MessageArrays before = state_->cavity(id), after = worker.state.cavity(id);
    for (std::uint32_t i = 0; i < scalars.size; ++i) {
      if (before.rho[i] == kInfinity) continue;  // a point mass stays
      if (after.rho[i] == kInfinity)
        fail("an example tells shared variable '{}' exactly, which only one worker can learn; use workers = 1",
             plan_->variable(id).name);
      change[scalars.first + i] = after.tau[i] - before.tau[i];
      change[scalars_ + scalars.first + i] = after.rho[i] - before.rho[i];
    }
  }
}

LearnMemory Learner::condensed_memory() const {
  Impl& m = *impl_;
  if (m.team_->size() == 1) return m.stored_.condensed();
  std::vector<double> total(2 * std::size_t{m.scalars_});
  m.sum_stored(total);
  return m.stored_.condensed_of({total.data(), total.data() + m.scalars_});
}

LearnMemory Learner::whole_memory() const {
  Impl& m = *impl_;
  if (m.team_->is_whole()) return m.memory();
  const Memory& own = m.memory();
  std::vector<double> flat;  // per mini-batch: whether it is active, tau, rho
  for (std::size_t b = 0; b < own.tau.size(); ++b) {
    flat.push_back(own.active[b] ? 1.0 : 0.0);
    flat.insert(flat.end(), own.tau[b].begin(), own.tau[b].end());
    flat.insert(flat.end(), own.rho[b].begin(), own.rho[b].end());
  }
  const std::vector<double> all = m.team_->gather(flat);
  Memory whole;
  whole.added_tau = own.added_tau;
  whole.added_rho = own.added_rho;
  whole.epochs = own.epochs;
  for (auto at = all.begin(); at != all.end();) {
    whole.active.push_back(*at++ != 0);
    whole.tau.emplace_back(at, at + m.scalars_);
    at += m.scalars_;
    whole.rho.emplace_back(at, at + m.scalars_);
    at += m.scalars_;
  }
  return whole;
}

// Sets the mini-batches of each local worker; removes those of other processes from the memory.
void Learner::Impl::divide_batches(std::size_t all, Memory* memory) {
  local_batches_.clear();
  if (all < team_->size()) return;
  const std::size_t first = Partition::batches_of(team_->first(), team_->size(), all).begin;
  for (std::size_t w = team_->first(); w < team_->first() + team_->local(); ++w) {
    const auto [begin, end] = Partition::batches_of(w, team_->size(), all);
    local_batches_.push_back({begin - first, end - first});
  }
  if (memory == nullptr || team_->is_whole()) return;
  const auto keep = [&](auto& of_batches) {
    const auto begin = of_batches.begin() + static_cast<std::ptrdiff_t>(first);
    of_batches = {begin, begin + static_cast<std::ptrdiff_t>(local_batches_.back().end)};
  };
  keep(memory->tau), keep(memory->rho), keep(memory->active);
}

}  // namespace dma
