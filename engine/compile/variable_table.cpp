#include "engine/compile/variable_table.h"

#include <algorithm>

namespace dma {

namespace {

constexpr std::size_t kRecentSteps = 256, kRecentSorts = 8;

}  // namespace

VariableTable::Variable VariableTable::operator[](std::size_t i) const {
  const Record& record = records_[i];
  const Sort& sort = sorts_[record.sort];
  Variable variable{names_->name(static_cast<std::uint32_t>(i)),
                    record.first_element,
                    sort.size,
                    sort.family,
                    sort.observed,
                    sort.shared,
                    sort.cuts,
                    false,
                    record.first_slot,
                    {}};
  const List& list = lists_[record.ends];
  variable.eliminated = list.size == 0;
  variable.ends = std::span(ends_).subspan(list.first, list.size);
  return variable;
}

std::size_t VariableTable::index_at(std::uint32_t element) const {
  const auto after = std::ranges::upper_bound(records_, element, {}, &Record::first_element);
  return static_cast<std::size_t>(after - records_.begin()) - 1;
}

VariableTable::Variable VariableTable::at_element(std::uint32_t element) const { return (*this)[index_at(element)]; }

std::string VariableTable::value_text(std::uint32_t element, std::uint32_t value) const {
  const auto found = names_->categories.find(static_cast<std::uint32_t>(index_at(element)));
  return found == names_->categories.end() ? std::to_string(value) : found->second[value];
}

VariableTableBuilder::VariableTableBuilder(VariableTable& table, std::size_t variables,
                                           std::shared_ptr<const GivenNames> names)
    : table_(table), nodes_{{0, {}}}, recent_(kRecentSteps) {
  table_.records_.reserve(variables);
  table_.names_ = std::move(names);
  table_.lists_ = {{0, 0}};
}

void VariableTableBuilder::add(const VariableTable::Variable& v) {
  const VariableTable::Sort sort{v.size, v.family, v.observed, v.shared, v.cuts};
  auto& sorts = table_.sorts_;
  std::size_t i = sorts.size();
  while (i > 0 && sorts.size() - i < kRecentSorts && !(sorts[i - 1] == sort)) --i;
  const bool is_known = i > 0 && sorts[i - 1] == sort;
  if (!is_known) sorts.push_back(sort);
  table_.records_.push_back(
      {v.first_element, v.first_slot, static_cast<std::uint32_t>(is_known ? i - 1 : sorts.size() - 1), 0});
}

void VariableTableBuilder::add_end(std::uint32_t variable, const VariableTable::End& end) {
  std::uint32_t& list = table_.records_[variable].ends;
  for (std::uint32_t node = list; node != 0; node = nodes_[node].before)
    if (nodes_[node].end.group == end.group && nodes_[node].end.port == end.port) return;
  list = extended(list, end);
}

std::uint32_t VariableTableBuilder::extended(std::uint32_t list, const VariableTable::End& end) {
  Step& step = recent_[(list * 31 + end.group * 7 + end.port) % kRecentSteps];
  if (step.to != 0 && step.from == list && step.end == end) return step.to;
  const auto [found, is_new] = extensions_.try_emplace({list, end}, static_cast<std::uint32_t>(nodes_.size()));
  if (is_new) nodes_.push_back({list, end});
  return (step = {list, found->second, end}).to;
}

void VariableTableBuilder::finish() {
  std::vector<std::uint32_t> list_of(nodes_.size());  // node -> the list that ends with it, once a variable has it
  for (auto& record : table_.records_) {
    const std::uint32_t node = record.ends;
    if (node != 0 && list_of[node] == 0) {
      list_of[node] = static_cast<std::uint32_t>(table_.lists_.size());
      const auto first = table_.ends_.size();
      for (std::uint32_t n = node; n != 0; n = nodes_[n].before) table_.ends_.push_back(nodes_[n].end);
      std::reverse(table_.ends_.begin() + static_cast<std::ptrdiff_t>(first), table_.ends_.end());
      table_.lists_.push_back(
          {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(table_.ends_.size() - first)});
    }
    record.ends = list_of[node];
  }
}

}  // namespace dma
