// The belief of the shared scalars, in parts: their prior, and for every mini-batch the message that it taught them.
//
//   product = prior * product over mini-batches b of message_b * added
//
// A mini-batch is learned anew from its cavity: the product without what it taught. Products are sums of natural
// parameters in every family, so messages are added and subtracted whatever it is. Those of Gaussians are products of
// messages of factors: their precisions are not negative and every cavity is as proper as the prior.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/learn/messages/learner.h"
#include "engine/messages/gaussian.h"

namespace dma {

// The whole result of learning: a restored learner continues with the same bytes as one that never stopped.
struct LearnMemory {
  std::vector<std::vector<double>> tau, rho;  // mini-batch, shared scalar
  std::vector<bool> active;                   // mini-batch
  // By shared scalar: product of the messages of examples that were not kept (Learner::add); empty: there were none.
  std::vector<double> added_tau = {}, added_rho = {};
  std::vector<EpochRecord> epochs;
};
void list_fields(Fields& f, LearnMemory& memory);  // all but added_tau and added_rho

class StoredMessages {
 public:
  StoredMessages() = default;
  // any_sign: scalars of a family whose second number may be negative; a precision may not.
  explicit StoredMessages(std::uint32_t scalars, std::vector<bool> any_sign = {});

  const LearnMemory& memory() const { return memory_; }
  std::size_t batches() const { return memory_.tau.size(); }
  bool is_active(std::size_t batch) const { return memory_.active[batch]; }
  void add_epoch(const EpochRecord& record) { memory_.epochs.push_back(record); }

  void start(std::size_t batches);  // with uniform messages
  // Throws Error, and changes nothing, if the memory has another number of scalars, or numbers that are no message.
  void restore(LearnMemory memory);
  void forget(std::size_t batch);
  void add(std::uint32_t scalar, const Natural& said);       // multiplies the message of added examples
  LearnMemory condensed() const;                             // all messages as that of one mini-batch
  LearnMemory condensed_of(const MessageArrays& sum) const;  // the same from sums over all workers, see sum_stored()

  MessageArrays message(std::size_t batch) { return {memory_.tau[batch].data(), memory_.rho[batch].data()}; }
  MessageArrays prior() { return {prior_tau_.data(), prior_rho_.data()}; }

  // Below, a range of scalars is that of one shared variable.
  struct Range {
    std::uint32_t first = 0, size = 0;
  };
  // The product of all messages, and the cavity: that product without one mini-batch's message.
  void form_product(Range range, const MessageArrays& product) const;
  void form_cavity(Range range, std::size_t without_batch, const MessageArrays& product,
                   const MessageArrays& cavity) const;
  // The sum of the messages of the mini-batches [first, last), and the product from the sum of all of them.
  void sum_stored(Range range, std::size_t first, std::size_t last, const MessageArrays& sum) const;
  void form_product_of(Range range, const MessageArrays& sum, const MessageArrays& product) const;
  // Divides the message of a mini-batch out of the product, and copies the result to `cavity`.
  void take_out(Range range, std::size_t batch, const MessageArrays& product, const MessageArrays& cavity,
                bool has_points);
  // Learning has turned the cavity into `product`: their quotient is the new message. The stored message moves `step`
  // of the way to it, and the product follows. `said` is the new message itself, used where the cavity is a point mass.
  // Several threads may take out and put back different mini-batches at once.
  void put_back(Range range, std::size_t batch, double step, const MessageArrays& product, const MessageArrays& cavity,
                const MessageArrays& said, bool has_points);

 private:
  Natural site_at(std::size_t batch, std::size_t scalar) const {
    return {memory_.tau[batch][scalar], memory_.rho[batch][scalar]};
  }
  Natural added_at(std::size_t scalar) const {
    return memory_.added_tau.empty() ? Natural() : Natural{memory_.added_tau[scalar], memory_.added_rho[scalar]};
  }
  void multiply_stored(Range range, const MessageArrays& out) const;
  Natural product_of(std::size_t scalar, Natural product, std::optional<std::size_t> without = {}) const;

  bool may_be(std::size_t scalar, const Natural& message) const;

  std::uint32_t scalars_ = 0;
  LearnMemory memory_;
  std::vector<double> prior_tau_, prior_rho_;
  std::vector<bool> any_sign_;
};

}  // namespace dma
