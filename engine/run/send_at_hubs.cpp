// The part of Executor that concerns elements where very many messages meet: see hubs.h.
#include "engine/run/executor.h"

namespace dma {

// After all its messages have been sent.
void Executor::update_hubs(const BoundSend& op) {
  std::int64_t first = 0;
  if (const ChainSegment& s = op.segment; op.chain_kernel != nullptr)
    first = s.step > 0 ? s.first : s.first - (static_cast<std::int64_t>(s.count) - 1);
  const std::size_t count = op.messages / (op.call.second_sink.tau == nullptr ? 1 : 2);
  for (const Sink* const sink : {&op.call.sink, &op.call.second_sink})
    if (sink->tau != nullptr) update_hubs(*sink, first * op.call.out_column, count);
}

// What arrives at one slot, put where its kernel reads it.
void Executor::gather_at_hubs(const BoundSend& op, std::int64_t slot) {
  const auto& reads = plan_.groups[op.group].ports[op.port].message->reads;
  for (std::size_t i = 0; i < reads.size(); ++i) {
    const TableRead& read = op.segment.table_reads[i];
    const auto first = static_cast<std::uint32_t>(slot) * read.terms;
    for (std::uint32_t q = first; op.refresh.has(reads[i]) && q < first + read.terms; ++q)
      store_.arrivals().set(read.first_arrival + q,
                               memory_.hubs.all_but(state_.incidence(), store_.messages(), read.first_slot + q));
  }
}

void Executor::update_hubs(const Sink& sink, std::ptrdiff_t first, std::size_t count) {
  const auto begin = static_cast<std::uint32_t>(sink.tau - store_.tau.data() + first);
  for (std::uint32_t slot = begin; slot < begin + count; ++slot)
    memory_.hubs.update(state_.incidence(), store_.messages(), slot);
}

// Slot by slot, as each may read what the one before it wrote.
void Executor::send_at_hubs(const BoundSend& op, Total& total) {
  Outcome outcome;
  for (std::uint64_t step = 0; step < op.segment.count; ++step) {
    const ChainSegment one = op.segment.part(step, 1);
    gather_at_hubs(op, one.first);
    compute(op, one, outcome);
    update_hubs(op.call.sink, one.first * op.call.out_column, op.call.out_terms);
  }
  total.messages += op.messages;
  note(op, outcome, total);
}

}  // namespace dma
