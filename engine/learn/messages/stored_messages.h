// What is known of the shared scalars, in parts: their prior, and for every mini-batch the message that it taught them.
//
//   product = prior * product over mini-batches b of message_b ^ weight * added ^ weight
//
// A mini-batch is learned anew from its cavity: the product without what it taught. Products are sums of natural
// parameters in every family, so messages are added and subtracted whatever it is. Those of Gaussians are products of
// messages of factors: their precisions are not negative and every cavity is as proper as the prior.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/learn/messages/report.h"
#include "engine/messages/arrays.h"

namespace dma {

// All that learning is: restoring it and fitting on gives the same bytes as never having stopped.
struct LearnMemory {
  std::vector<std::vector<double>> tau, rho;  // mini-batch, shared scalar
  std::vector<bool> active;                   // mini-batch
  // Shared scalar: what examples taught that were learned once and not kept (Learner::add). Empty: there were none.
  std::vector<double> added_tau = {}, added_rho = {};
  std::vector<EpochRecord> epochs;
};
void list_fields(Fields& f, LearnMemory& memory);  // but for what was added

class StoredMessages {
 public:
  StoredMessages() = default;
  // any_sign: which scalars are of a family whose second number may be negative, as a precision may not.
  StoredMessages(std::uint32_t scalars, double weight, std::vector<bool> any_sign = {});

  const LearnMemory& memory() const { return memory_; }
  std::size_t batches() const { return memory_.tau.size(); }
  bool is_active(std::size_t batch) const { return memory_.active[batch]; }
  void add_epoch(const EpochRecord& record) { memory_.epochs.push_back(record); }

  void start(std::size_t batches);  // with uniform messages
  // Throws Error, and changes nothing, if the memory is not that of this many scalars, or holds what is no message.
  void restore(LearnMemory memory);
  void forget(std::size_t batch);
  void add(std::uint32_t scalar, const Natural& said);  // to what was added
  LearnMemory condensed() const;                        // all messages as the one of a single mini-batch of weight 1
  LearnMemory condensed_of(const MessageArrays& sum) const;  // ... of which this is the sum, see sum_stored()

  MessageArrays message(std::size_t batch) { return {memory_.tau[batch].data(), memory_.rho[batch].data()}; }
  MessageArrays prior() { return {prior_tau_.data(), prior_rho_.data()}; }

  // Below, a range of scalars is that of one shared variable.
  struct Range {
    std::uint32_t first = 0, size = 0;
  };
  // The product, or without one mini-batch, or this fraction of it, the cavity of that.
  void form_product(Range range, const MessageArrays& product) const;
  void form_cavity(Range range, std::size_t without_batch, double fraction, const MessageArrays& product,
                   const MessageArrays& cavity) const;
  // The messages of the mini-batches [first, last) alone, as often as they count, and the product made of such sums
  // over all.
  void sum_stored(Range range, std::size_t first, std::size_t last, const MessageArrays& sum) const;
  void form_product_of(Range range, const MessageArrays& sum, const MessageArrays& product) const;
  // A mini-batch in parts: the fraction of the message that each of them stands for. The message is then uniform, and
  // gains what put_back() says of them.
  void begin_parts(Range range, std::size_t batch, std::size_t parts, const MessageArrays& fraction);
  // What is learned anew: a mini-batch, by its message, or one of its parts, by its fraction. Of the scalars of a
  // range.
  struct Learned {
    std::size_t batch = 0;
    MessageArrays old;
    bool is_part = false;
  };
  // A copy of the old message leaves the product, which then is the cavity, kept to be compared with later.
  void take_out(Range range, const Learned& learned, const MessageArrays& product, const MessageArrays& cavity,
                bool has_points);
  // The cavity has become `product` by what is said now. The old message goes `step` of the way there, and the product
  // follows. `said` is the same by itself, for what the cavity knew exactly and nothing can be compared with. Different
  // mini-batches may be taken out of different cavities, and put back, at the same time.
  void put_back(Range range, const Learned& learned, double step, const MessageArrays& product,
                const MessageArrays& cavity, const MessageArrays& said, bool has_points);

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
  double weight_ = 1;
  double copies_ = 1;  // of a message that its mini-batch takes out of the product
  LearnMemory memory_;
  std::vector<double> prior_tau_, prior_rho_;
  std::vector<bool> any_sign_;
};

}  // namespace dma
