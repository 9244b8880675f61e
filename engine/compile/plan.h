// A Plan is compiled from a graph, a schedule and a registry: the places of all messages, and the operations of one
// sweep. It is immutable and a shared handle: cheap to copy, and it keeps its contents alive.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace dma {

struct PlanData;  // private: plan_data.h

class Plan {
 public:
  Plan();  // the plan of an empty graph
  explicit Plan(std::shared_ptr<const PlanData> data) : data_(std::move(data)) {}
  Plan(const Plan&) = default;  // not movable: a handle always has a plan
  Plan& operator=(const Plan&) = default;

  const PlanData& operator*() const { return *data_; }
  const PlanData* operator->() const { return data_.get(); }
  const std::shared_ptr<const PlanData>& data() const { return data_; }  // shared by all handles
  friend bool operator==(const Plan&, const Plan&) = default;            // true for handles from the same compile()

  std::size_t bytes() const;               // size of a State and of the index tables it reads
  std::size_t messages_per_sweep() const;  // number of messages that a sweep computes
  std::string schedule_text() const;       // the schedule in words

 private:
  std::shared_ptr<const PlanData> data_;
};

// Sizes, variables, operations in order.
std::string describe(const Plan& plan);

}  // namespace dma
