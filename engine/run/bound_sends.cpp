#include "engine/run/bound_sends.h"

#include <algorithm>

#include "engine/kinds/kind.h"

namespace dma {

namespace {

std::uint32_t most_terms(const PlanData& plan) {
  std::uint32_t most = 1;
  for (const Group& group : plan.groups)
    for (const Group::Port& port : group.ports) most = std::max(most, port.terms);
  return most;
}

Sink sink_at(const MessageArrays& messages, std::size_t slot, double damping) {
  return {messages.tau + slot, messages.rho + slot, damping};
}

}  // namespace

BoundSends::BoundSends(const PlanData& plan, const Memory& memory, const Parameters& parameters)
    : memory_(memory), uniform_(most_terms(plan)) {
  bind_parameters(plan, parameters);
  const bool iterates = plan.schedule.order != Schedule::Order::once;
  for (const Operation& op : plan.constants) constants_.push_back(bind(plan, std::get<Send>(op), false));
  for (const Operation& op : plan.operations)
    if (const Send* send = std::get_if<Send>(&op)) of_sweep_.push_back(bind(plan, *send, iterates));
    else if (const Walk* walk = std::get_if<Walk>(&op)) walks_.push_back(bind(plan, *walk));
  // Only now do the lists of views stay where they are.
  for (auto* list : {&constants_, &of_sweep_})
    for (BoundSend& bound : *list) {
      if (bound.sequence_kernel != nullptr) bound.sequence_reads = sequence_reads_.data() + bound.first_read;
      else bound.call.reads = port_views_.data() + bound.first_read;
      bound.call.parameters = parameter_views_.data() + bound.first_parameter;
    }
  const WalkSource* next_source = walk_sources_.data();
  for (WalkRead& read : walk_reads_) {
    read.sources = next_source;
    next_source += read.count;
  }
  for (BoundPart& part : parts_) {
    part.run.reads = walk_reads_.data() + part.first_read;
    part.send.call.parameters = parameter_views_.data() + part.send.first_parameter;
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
  for (const auto* list : {&constants_, &of_sweep_})
    for (const BoundSend& bound : *list)
      if (bound.group == group) {
        ParameterView& own = parameter_views_[bound.first_parameter + i];
        own = view;
        own.values += std::ptrdiff_t{bound.first} * view.column;
      }
  for (const BoundPart& part : parts_)
    if (part.send.group == group) parameter_views_[part.send.first_parameter + i] = view;
}

BoundSend BoundSends::bind_call(const PlanData& plan, std::uint32_t g, std::uint32_t p, double damping) const {
  const Group& group = plan.groups[g];
  const Group::Port& port = group.ports[p];
  BoundSend bound;
  bound.group = g, bound.port = p;
  bound.first_parameter = first_parameter_[g];
  Call& call = bound.call;
  call.sink = sink_at(memory_.messages, port.first_slot, damping);
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
  BoundSend bound = bind_call(plan, op.group, op.port, tracked ? plan.groups[op.group].damping : 0);
  bound.messages = std::uint64_t{op.count} * plan.groups[op.group].ports[op.port].terms;
  if (op.is_sequence) bind_sequence(plan, op, tracked, bound);
  else bind_plate(plan, op, tracked, bound);
  return bound;
}

BoundWalk BoundSends::bind(const PlanData& plan, const Walk& op) {
  BoundWalk bound;
  bound.is_beside_last = op.is_beside_last;
  const auto message_of = [&](const Walk::Part& part) { return plan.groups[part.group].ports[part.port].message; };
  if (op.is_beside_last && op.stretches[0].parts.size() == 1 && walks_.back().stretches[0].parts == 1) {
    const BoundPart& before = parts_[walks_.back().stretches[0].first_part];
    const MessageFunction &own = *message_of(op.stretches[0].parts[0]),
                          &other = *plan.groups[before.send.group].ports[before.send.port].message;
    const Kind& kind = *plan.groups[op.stretches[0].parts[0].group].kind;
    if (plan.groups[before.send.group].kind == &kind) {
      bound.pair = kind.find_walk_pair(other, own);
      bound.is_first_of_pair = bound.pair == nullptr && (bound.pair = kind.find_walk_pair(own, other)) != nullptr;
    }
  }
  for (const Walk::Stretch& stretch : op.stretches) {
    bound.stretches.push_back(
        {static_cast<std::uint32_t>(parts_.size()), static_cast<std::uint32_t>(stretch.parts.size()), stretch.count});
    for (const Walk::Part& part : stretch.parts) {
      BoundPart& to = parts_.emplace_back();
      to.send = bind_call(plan, part.group, part.port, 0);
      to.send.messages = stretch.count;
      to.kernel = plan.groups[part.group].ports[part.port].message->walk;
      to.run = {part.first, op.step, stretch.count, nullptr};
      to.first_read = static_cast<std::uint32_t>(walk_reads_.size());
      const Group::Port& port = plan.groups[part.group].ports[part.port];
      const std::int64_t sent_last = std::int64_t{port.first_slot} - op.step;
      for (std::size_t argument = 0; argument < part.reads.size(); ++argument) {
        const auto& sources = part.reads[argument];
        const std::uint32_t terms = plan.groups[part.group].ports[port.message->reads[argument]].terms;
        const auto add = [&](const Walk::Source& source) {
          const MessageArrays& from = source.is_arrival ? memory_.arrivals : memory_.messages;
          walk_sources_.push_back({from.tau, from.rho, static_cast<std::ptrdiff_t>(source.at)});
        };
        const auto own = std::ranges::find_if(sources, [&](const Walk::Source& s) {
          return part.remembers && !s.is_arrival && s.at == sent_last;
        });
        for (auto source = sources.begin(); source != sources.end(); ++source)
          if (source != own) add(*source);
        if (own != sources.end()) add(*own);
        walk_reads_.push_back({nullptr, sources.size(), own != sources.end(), terms});
      }
    }
  }
  return bound;
}

void BoundSends::bind_sequence(const PlanData& plan, const Send& op, bool tracked, BoundSend& bound) {
  const Group& group = plan.groups[op.group];
  const MessageFunction& message = *group.ports[op.port].message;
  bound.sequence_kernel = tracked ? message.sequence_tracked : message.sequence;
  bound.first_read = static_cast<std::uint32_t>(sequence_reads_.size());
  bound.at_hubs = op.at_hubs, bound.refresh = op.refresh;
  for (std::size_t i = 0; i < message.reads.size(); ++i) {
    const Group::Port& read = group.ports[message.reads[i]];
    sequence_reads_.push_back({read.first_slot, read.first_arrival, read.terms,
                               !op.at_hubs && op.refresh.has(message.reads[i]), op.keep.has(message.reads[i])});
  }
  bound.sequence = {op.first, op.step, op.count, memory_.incidence, memory_.messages, memory_.arrivals};
}

void BoundSends::bind_plate(const PlanData& plan, const Send& op, bool tracked, BoundSend& bound) {
  const Group& group = plan.groups[op.group];
  const Group::Port& port = group.ports[op.port];
  const MessageFunction& message = *port.message;
  Call& call = bound.call;
  bound.kernel = tracked ? message.plate_tracked : message.plate;
  bound.first = op.first;
  if (op.joint != nullptr) {
    bound.kernel = tracked ? op.joint->plate_tracked : op.joint->plate;
    call.second_sink = sink_at(memory_.messages, group.ports[op.joint->second].first_slot, call.sink.damping);
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
  // moves on even if what it is made of does not.
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
