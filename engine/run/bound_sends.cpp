#include "engine/run/bound_sends.h"

#include <algorithm>

namespace dma {

namespace {

std::uint32_t most_terms(const PlanData& plan) {
  std::uint32_t most = 1;
  for (const Group& group : plan.groups)
    for (const Group::Port& port : group.ports) most = std::max(most, port.terms);
  return most;
}

Sink sink_at(const MessageArrays& messages, std::size_t slot, double damping, bool tracked) {
  return {messages.tau + slot, messages.rho + slot, damping, tracked};
}

}  // namespace

BoundSends::BoundSends(const PlanData& plan, const Memory& memory, const Parameters& parameters)
    : memory_(memory),
      keeps_widening_(std::ranges::none_of(plan.variables, [](const PlanData::Variable& v) { return v.shared; })),
      table_{memory.incidence, memory.messages, memory.arrivals},
      uniform_(most_terms(plan)) {
  bind_parameters(plan, parameters);
  const bool iterates = plan.schedule.order != Schedule::Order::once;
  for (const Operation& op : plan.constants) constants_.push_back(bind(plan, std::get<Send>(op), false));
  for (const Operation& op : plan.operations)
    if (const Send* send = std::get_if<Send>(&op)) of_sweep_.push_back(bind(plan, *send, iterates));
    else if (const ChainSend* chain = std::get_if<ChainSend>(&op)) chains_.push_back(bind(plan, *chain));
  // From here on the lists of views do not move.
  const ChainSource* next_source = chain_sources_.data();
  for (ChainRead& read : chain_reads_) {
    read.sources = next_source;
    next_source += read.count;
  }
  for (auto* list : {&constants_, &of_sweep_, &of_chains_})
    for (BoundSend& bound : *list) {
      if (bound.segment.table != nullptr) bound.segment.table_reads = table_reads_.data() + bound.first_read;
      else if (bound.chain_kernel != nullptr) bound.segment.reads = chain_reads_.data() + bound.first_read;
      else bound.call.reads = port_views_.data() + bound.first_read;
      bound.call.parameters = parameter_views_.data() + bound.first_parameter;
    }
}

void BoundSends::bind_parameters(const PlanData& plan, const Parameters& parameters) {
  for (std::uint32_t g = 0; g < plan.groups.size(); ++g) {
    first_parameter_.push_back(static_cast<std::uint32_t>(parameter_views_.size()));
    for (std::size_t i = 0; i < plan.groups[g].parameters.size(); ++i)
      parameter_views_.push_back(parameters.view(g, i));
  }
}

void BoundSends::rebind(std::uint32_t group, std::size_t i, const ParameterView& view) {
  for (const auto* list : {&constants_, &of_sweep_, &of_chains_})
    for (const BoundSend& bound : *list)
      if (bound.group == group) {
        ParameterView& own = parameter_views_[bound.first_parameter + i];
        own = view;
        own.values += std::ptrdiff_t{bound.first} * view.column;
      }
}

BoundSend BoundSends::bind_call(const PlanData& plan, std::uint32_t g, std::uint32_t p, bool tracked) const {
  const Group& group = plan.groups[g];
  const Group::Port& port = group.ports[p];
  BoundSend bound;
  bound.group = g;
  bound.port = p;
  bound.first_parameter = first_parameter_[g];
  Call& call = bound.call;
  call.sink = sink_at(memory_.messages, port.first_slot, tracked ? group.damping : 0, tracked);
  const MessageFunction& message = *port.message;
  call.sink.keeps_widening = keeps_widening_ && message.method != kExact && message.method != kVariational &&
                             std::ranges::find(message.reads, p) != message.reads.end() && port.terms > 0 &&
                             plan.variables.at_element(port.elements(0)).family->is_like_gaussian;
  call.out_terms = port.terms;
  call.out_column = port.terms;
  call.out_row = std::ptrdiff_t{group.columns} * port.terms;
  call.scratch = memory_.scratch;
  call.callable = port.message->callable.get();
  call.memory_size = group.kind->memory();
  call.memory = memory_.memory + group.first_memory;
  return bound;
}

BoundSend BoundSends::bind(const PlanData& plan, const Send& op, bool tracked) {
  BoundSend bound = bind_call(plan, op.group, op.port, tracked);
  bound.messages = std::uint64_t{op.count} * plan.groups[op.group].ports[op.port].terms;
  if (op.is_chain) bind_segment(plan, op, bound);
  else bind_plate(plan, op, bound);
  return bound;
}

BoundChain BoundSends::bind(const PlanData& plan, const ChainSend& op) {
  BoundChain bound;
  find_pair(plan, op, bound);
  for (const ChainSend::Segment& segment : op.segments) {
    bound.segments.push_back({static_cast<std::uint32_t>(of_chains_.size()),
                              static_cast<std::uint32_t>(segment.messages.size()), segment.count});
    for (const ChainSend::Message& message : segment.messages)
      of_chains_.push_back(bind(plan, message, segment.count, op.step));
  }
  return bound;
}

void BoundSends::find_pair(const PlanData& plan, const ChainSend& op, BoundChain& bound) const {
  if (!op.is_beside_last || op.segments[0].messages.size() != 1 || chains_.back().segments[0].sends != 1) return;
  const ChainSend::Message& own = op.segments[0].messages[0];
  const BoundSend& before = of_chains_[chains_.back().segments[0].first_send];
  const Kind& kind = *plan.groups[own.group].kind;
  if (plan.groups[before.group].kind != &kind) return;
  const MessageFunction &to_own = *plan.groups[own.group].ports[own.port].message,
                        &to_other = *plan.groups[before.group].ports[before.port].message;
  bound.pair = kind.find_chain_pair(to_other, to_own);
  bound.is_first_of_pair = bound.pair == nullptr && (bound.pair = kind.find_chain_pair(to_own, to_other)) != nullptr;
}

// Binds a send at constant strides.
BoundSend BoundSends::bind(const PlanData& plan, const ChainSend::Message& message, std::uint32_t count, int step) {
  const Group& group = plan.groups[message.group];
  const Group::Port& port = group.ports[message.port];
  BoundSend bound = bind_call(plan, message.group, message.port, false);
  bound.messages = count;
  bound.chain_kernel = port.message->chain;
  bound.segment = {message.first, step, count};
  bound.first_read = static_cast<std::uint32_t>(chain_reads_.size());
  const std::int64_t sent_last = std::int64_t{port.first_slot} - step;
  for (std::size_t argument = 0; argument < message.reads.size(); ++argument) {
    const auto& sources = message.reads[argument];
    const auto add = [&](const ChainSend::Source& source) {
      const MessageArrays& from = source.is_arrival ? memory_.arrivals : memory_.messages;
      chain_sources_.push_back({from.tau, from.rho, static_cast<std::ptrdiff_t>(source.at)});
    };
    const auto own = std::ranges::find_if(sources, [&](const ChainSend::Source& s) {
      return message.remembers && !s.is_arrival && s.at == sent_last;
    });
    for (auto source = sources.begin(); source != sources.end(); ++source)
      if (source != own) add(*source);
    if (own != sources.end()) add(*own);
    chain_reads_.push_back({nullptr, sources.size(), own != sources.end(),
                            group.ports[port.message->reads[argument]].terms});
  }
  return bound;
}

// Binds a send by the table.
void BoundSends::bind_segment(const PlanData& plan, const Send& op, BoundSend& bound) {
  const Group& group = plan.groups[op.group];
  const MessageFunction& message = *group.ports[op.port].message;
  bound.chain_kernel = message.chain;
  bound.first_read = static_cast<std::uint32_t>(table_reads_.size());
  bound.at_hubs = op.at_hubs;
  bound.refresh = op.refresh;
  for (const std::size_t r : message.reads) {
    const Group::Port& read = group.ports[r];
    table_reads_.push_back({.first_slot = read.first_slot,
                            .first_arrival = read.first_arrival,
                            .terms = read.terms,
                            .is_looked_up = !op.at_hubs && op.refresh.has(r),
                            .is_kept = op.keep.has(r)});
  }
  bound.segment = {op.first, op.step, op.count, nullptr, nullptr, &table_};
}

void BoundSends::bind_plate(const PlanData& plan, const Send& op, BoundSend& bound) {
  const Group& group = plan.groups[op.group];
  const Group::Port& port = group.ports[op.port];
  const MessageFunction& message = *port.message;
  Call& call = bound.call;
  bound.kernel = op.pair == nullptr ? message.plate : op.pair->plate;
  bound.first = op.first;
  if (op.pair != nullptr) {
    call.second_sink = sink_at(memory_.messages, group.ports[op.pair->second].first_slot, call.sink.damping,
                               call.sink.is_tracked);
    bound.messages *= 2;
  }
  const bool whole = op.count == group.slots;
  call.rows = whole ? group.slots / group.columns : 1;
  call.columns = whole ? group.columns : op.count;
  call.memory += op.first * call.memory_size;
  call.sink.tau += std::size_t{op.first} * port.terms;
  call.sink.rho += std::size_t{op.first} * port.terms;
  if (op.first > 0) bound.first_parameter = parameters_from(group, bound.first_parameter, op.first);
  bound.first_read = static_cast<std::uint32_t>(port_views_.size());
  for (std::size_t i = 0; i < op.reads.size(); ++i)
    port_views_.push_back(view(op.reads[i], group.ports[message.reads[i]].terms, op.first));
  // The slots before the first message hold observed values and cavities, which no sweep changes. A damped message
  // changes even if its inputs do not.
  bound.reads_given_alone =
      call.sink.damping == 0 && !op.reads.empty() && std::ranges::all_of(op.reads, [&](const ReadView& read) {
        return read.from == ReadView::From::messages && read.first < plan.first_message;
      });
}

std::uint32_t BoundSends::parameters_from(const Group& group, std::uint32_t first_parameter, std::uint32_t slot) {
  const auto first = static_cast<std::uint32_t>(parameter_views_.size());
  for (std::size_t i = 0; i < group.parameters.size(); ++i) {
    ParameterView moved = parameter_views_[first_parameter + i];
    moved.values += std::ptrdiff_t{slot} * moved.column;
    parameter_views_.push_back(moved);
  }
  return first;
}

PortView BoundSends::view(const ReadView& read, std::uint32_t terms, std::uint32_t first_slot) const {
  if (read.from == ReadView::From::uniform) return {uniform_.data(), uniform_.data(), read.row, read.column, terms};
  const MessageArrays from = (read.from == ReadView::From::messages ? memory_.messages : memory_.arrivals)
                                 .from(read.first + std::size_t{first_slot} * read.column);
  return {from.tau, from.rho, read.row, read.column, terms};
}

}  // namespace dma
