#include "engine/learn/messages/stored_messages.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "engine/support/fields.h"
#include "engine/support/independent.h"
#include "engine/support/text.h"

namespace dma {

namespace {

// One stored message under names that explain it: rho is a precision, tau the precision times the mean.
struct NamedMessage {
  bool active = false;
  std::vector<double> rho, tau;
};

void list_fields(Fields& f, NamedMessage& m) {
  f("active", m.active);
  f.packed("precision", m.rho);
  f.packed("precision_times_mean", m.tau);
}

}  // namespace

void list_fields(Fields& f, LearnMemory& memory) {
  std::vector<NamedMessage> messages;
  for (std::size_t b = 0; b < memory.tau.size(); ++b)
    messages.push_back({bool{memory.active[b]}, memory.rho[b], memory.tau[b]});
  f("messages", messages);
  f("epochs", memory.epochs);
  if (!f.is_reading()) return;
  for (NamedMessage& message : messages) {
    memory.active.push_back(message.active);
    memory.rho.push_back(std::move(message.rho));
    memory.tau.push_back(std::move(message.tau));
  }
}

StoredMessages::StoredMessages(std::uint32_t scalars, std::vector<bool> any_sign)
    : scalars_(scalars), prior_tau_(scalars), prior_rho_(scalars), any_sign_(std::move(any_sign)) {
  any_sign_.resize(scalars);
}

bool StoredMessages::may_be(std::size_t scalar, const Natural& message) const {
  constexpr double kMost = 1e300;  // a sum of a hundred million such numbers is finite
  const bool is_point = std::isinf(message.rho) && message.rho > 0;
  return std::abs(message.tau) <= kMost && (std::abs(message.rho) <= kMost || is_point) &&
         (message.rho >= 0 || any_sign_[scalar]);
}

void StoredMessages::start(std::size_t batches) {
  memory_.tau.assign(batches, std::vector<double>(scalars_));
  memory_.rho = memory_.tau;
  memory_.active.assign(batches, true);
}

void StoredMessages::restore(LearnMemory memory) {
  const std::size_t batches = memory.tau.size();
  if (memory.rho.size() != batches || memory.active.size() != batches)
    fail("the stored messages do not fit together: {} batches of tau, {} of rho, {} that are active or not", batches,
         memory.rho.size(), memory.active.size());
  for (std::size_t b = 0; b < batches; ++b) {
    if (memory.tau[b].size() != scalars_ || memory.rho[b].size() != scalars_)
      fail("the stored messages of batch {} do not fit: {} and {} numbers, but {} shared scalars", b,
           memory.tau[b].size(), memory.rho[b].size(), scalars_);
    for (std::uint32_t i = 0; i < scalars_; ++i)
      if (!may_be(i, {memory.tau[b][i], memory.rho[b][i]}))
        fail(
            "the stored message of batch {} to shared scalar {} has tau {} and precision {}; numbers up to 1e+300, "
            "the precision not negative, are expected",
            b, i, memory.tau[b][i], memory.rho[b][i]);
  }
  const std::size_t added = memory.added_tau.size();
  if (memory.added_rho.size() != added || (added != 0 && added != scalars_))
    fail("the stored messages of added examples do not fit: {} and {} numbers, but {} shared scalars", added,
         memory.added_rho.size(), scalars_);
  for (std::size_t i = 0; i < added; ++i)
    if (!may_be(i, {memory.added_tau[i], memory.added_rho[i]}))
      fail(
          "the stored message of added examples to shared scalar {} has tau {} and precision {}; numbers up to 1e+300, "
          "the precision not negative, are expected",
          i, memory.added_tau[i], memory.added_rho[i]);
  memory_ = std::move(memory);
}

void StoredMessages::add(std::uint32_t scalar, const Natural& said) {
  memory_.added_tau.resize(scalars_);
  memory_.added_rho.resize(scalars_);
  const MessageArrays added{memory_.added_tau.data(), memory_.added_rho.data()};
  added.set(scalar, multiply(added[scalar], said));
}

void StoredMessages::forget(std::size_t batch) {
  if (batch >= batches()) fail("there is no batch {}; the learner has {}", batch, batches());
  std::ranges::fill(memory_.tau[batch], 0.0);
  std::ranges::fill(memory_.rho[batch], 0.0);
  memory_.active[batch] = false;
}

LearnMemory StoredMessages::condensed() const {
  LearnMemory memory{{std::vector<double>(scalars_)}, {std::vector<double>(scalars_)}, {true}, {}, {}, memory_.epochs};
  multiply_stored({0, scalars_}, {memory.tau[0].data(), memory.rho[0].data()});
  return memory;
}

LearnMemory StoredMessages::condensed_of(const MessageArrays& sum) const {
  LearnMemory memory{{std::vector<double>(scalars_)}, {std::vector<double>(scalars_)}, {true}, {}, {}, memory_.epochs};
  const MessageArrays all{memory.tau[0].data(), memory.rho[0].data()};
  for (std::uint32_t i = 0; i < scalars_; ++i) all.set(i, multiply(added_at(i), sum[i]));
  return memory;
}

// The start `product` times the messages of one scalar.
Natural StoredMessages::product_of(std::size_t scalar, Natural product, std::optional<std::size_t> without) const {
  product = multiply(product, added_at(scalar));
  for (std::size_t b = 0; b < batches(); ++b)
    if (b != without) product = multiply(product, site_at(b, scalar));
  return product;
}

void StoredMessages::multiply_stored(Range range, const MessageArrays& out) const {
  constexpr std::uint32_t kTogether = 1024;  // they stay in the nearest cache while all messages are added
  if (range.size > kTogether) {
    for (std::uint32_t i = 0; i < range.size; i += kTogether)
      multiply_stored({range.first + i, std::min(kTogether, range.size - i)}, out.from(i));
    return;
  }
  for (std::uint32_t i = 0; i < range.size; ++i) {
    const Natural added = added_at(range.first + i);
    out.tau[i] = added.tau;
    out.rho[i] = added.rho;
  }
  for (std::size_t b = 0; b < batches(); ++b)
    for (std::uint32_t i = 0; i < range.size; ++i) {
      out.tau[i] += memory_.tau[b][range.first + i];
      out.rho[i] += memory_.rho[b][range.first + i];
    }
  for (std::uint32_t i = 0; i < range.size; ++i)
    if (out.rho[i] == kInfinity) out.set(i, product_of(range.first + i, {}));
}

void StoredMessages::sum_stored(Range range, std::size_t first, std::size_t last, const MessageArrays& sum) const {
  std::fill_n(sum.tau, range.size, 0.0);
  std::fill_n(sum.rho, range.size, 0.0);
  for (std::size_t b = first; b < last; ++b)
    for (std::uint32_t i = 0; i < range.size; ++i) {
      const Natural own = site_at(b, range.first + i);
      sum.tau[i] += own.tau;
      sum.rho[i] += own.rho;
    }
}

void StoredMessages::form_product_of(Range range, const MessageArrays& sum, const MessageArrays& product) const {
  for (std::uint32_t i = 0; i < range.size; ++i) {
    const std::uint32_t k = range.first + i;
    product.set(i, multiply({prior_tau_[k], prior_rho_[k]}, multiply(added_at(k), sum[i])));
  }
}

void StoredMessages::form_product(Range range, const MessageArrays& product) const {
  multiply_stored(range, product);
  for (std::uint32_t i = 0; i < range.size; ++i)
    product.set(i, multiply({prior_tau_[range.first + i], prior_rho_[range.first + i]}, product[i]));
}

void StoredMessages::form_cavity(Range range, std::size_t without_batch, const MessageArrays& product,
                                 const MessageArrays& cavity) const {
  for (std::uint32_t i = 0; i < range.size; ++i) {
    const std::uint32_t k = range.first + i;
    const Natural known = product[i];
    if (known.is_point())
      cavity.set(i, product_of(k, {prior_tau_[k], prior_rho_[k]}, without_batch));
    else
      cavity.set(i, divide(known, site_at(without_batch, k)));
  }
}

void StoredMessages::take_out(Range range, std::size_t batch, const MessageArrays& product, const MessageArrays& cavity,
                              bool has_points) {
  const MessageArrays old = message(batch).from(range.first);
  if (has_points) {
    for (std::uint32_t i = 0; i < range.size; ++i) {
      const std::uint32_t k = range.first + i;
      // Division cannot undo the product with a point mass.
      const Natural left =
          old[i].is_point() ? product_of(k, {prior_tau_[k], prior_rho_[k]}, batch) : divide(product[i], old[i]);
      cavity.set(i, left);
      product.set(i, left);
    }
    return;
  }
  const auto subtract = [&](const double* stored, double* in_product, double* left) {
    DMA_INDEPENDENT
    for (std::size_t i = 0; i < range.size; ++i) {
      const double value = in_product[i] - stored[i];
      in_product[i] = value;
      left[i] = value;
    }
  };
  subtract(old.tau, product.tau, cavity.tau);
  subtract(old.rho, product.rho, cavity.rho);
  // The quotient is a sum of non-negative precisions, up to rounding.
  for (std::uint32_t i = 0; i < range.size; ++i)
    assert(any_sign_[range.first + i] || product.rho[i] >= -1e-9 * old.rho[i]);
}

void StoredMessages::put_back(Range range, std::size_t batch, double step, const MessageArrays& product,
                              const MessageArrays& cavity, const MessageArrays& said, bool has_points) {
  const MessageArrays stored = message(batch).from(range.first);
  if (!has_points) {
    const auto replace = [&](double* message, double* in_product, const double* left) {
      DMA_INDEPENDENT
      for (std::size_t i = 0; i < range.size; ++i) {
        const double old = message[i], gained = in_product[i] - left[i], change = step * (gained - old);
        in_product[i] = left[i] + old + change;
        message[i] = old + change;
      }
    };
    replace(stored.tau, product.tau, cavity.tau);
    replace(stored.rho, product.rho, cavity.rho);
    return;
  }
  for (std::uint32_t i = 0; i < range.size; ++i) {
    const Natural old = stored[i], left = cavity[i];
    const Natural gained = left.is_point() ? said[i] : divide(product[i], left);
    if (left.is_point() || old.is_point() || gained.is_point()) {  // nothing lies between a point mass and a message
      product.set(i, multiply(left, gained));
      stored.set(i, gained);
      continue;
    }
    const Natural change{step * (gained.tau - old.tau), step * (gained.rho - old.rho)};
    product.set(i, {left.tau + old.tau + change.tau, left.rho + old.rho + change.rho});
    stored.set(i, {old.tau + change.tau, old.rho + change.rho});
  }
}

}  // namespace dma
