// A Plan is made by compile from a graph, a schedule and a registry: where every message lives, and the operations of
// one sweep. Immutable; a State holds the bytes, run() walks the list. A Plan is a handle to it: cheap to copy, and
// whoever holds one keeps what it points to alive.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace dma {

struct PlanData;  // private: plan_data.h

class Plan {
 public:
  Plan();  // of an empty graph
  explicit Plan(std::shared_ptr<const PlanData> data) : data_(std::move(data)) {}
  Plan(const Plan&) = default;  // and no moving: a handle is never without a plan
  Plan& operator=(const Plan&) = default;

  const PlanData& operator*() const { return *data_; }
  const PlanData* operator->() const { return data_.get(); }
  const std::shared_ptr<const PlanData>& data() const { return data_; }
  friend bool operator==(const Plan&, const Plan&) = default;  // handles to what the same compile() made

  std::size_t bytes() const;               // of a State and of the index tables it reads
  std::size_t messages_per_sweep() const;  // number of messages that a sweep computes
  std::string schedule_text() const;       // the schedule in words

 private:
  std::shared_ptr<const PlanData> data_;
};

// Sizes, variables, operations in order.
std::string describe(const Plan& plan);

}  // namespace dma
