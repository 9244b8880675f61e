// Turns a scalar message function into the loops that the engine calls, with one indirect call per plate. The function
// takes, in this order: for each port it reads a message (Gaussian, Gamma) or, for a variadic port or one of several
// components, a std::span of them; then its Parameters, if it has any: an aggregate of doubles in the order of
// declaration, or a type with `static Parameters bind(const ParameterRow&)`; then a SlotMemory, if its kind asks for
// memory. It returns the message, or, when the target port is variadic, takes a std::span for the results as its last
// argument.
#pragma once

#include <array>
#include <bit>
#include <new>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include "engine/kinds/call.h"
#include "engine/kinds/chain.h"

namespace dma {

namespace detail {

template <class T>
struct IsSpan : std::false_type {};
template <class T>
struct IsSpan<std::span<T>> : std::true_type {};

template <class T>
inline constexpr bool kIsMessage = std::is_base_of_v<Natural, T>;

template <class F>
struct Signature : Signature<decltype(&F::operator())> {};
template <class R, class... A>
struct Signature<R (*)(A...)> {
  using Result = R;
  using Arguments = std::tuple<std::remove_cvref_t<A>...>;
};
template <class C, class R, class... A>
struct Signature<R (C::*)(A...) const> : Signature<R (*)(A...)> {};
template <class R, class... A>
struct Signature<R (*)(A...) noexcept> : Signature<R (*)(A...)> {};

// Element i of a tuple, or an empty type if there is none.
struct None {};
template <bool kAny, std::size_t i, class Tuple>
struct ElementOrNone : std::type_identity<None> {};
template <std::size_t i, class Tuple>
struct ElementOrNone<true, i, Tuple> : std::tuple_element<i, Tuple> {};

template <class Parameters>
Parameters bind_parameters(const ParameterRow& row) {
  if constexpr (requires { Parameters::bind(row); }) {
    return Parameters::bind(row);
  } else {
    static_assert(std::is_trivially_copyable_v<Parameters> && sizeof(Parameters) % sizeof(double) == 0,
                  "Parameters: an aggregate of doubles, or give it a static bind(const ParameterRow&)");
    std::array<double, sizeof(Parameters) / sizeof(double)> numbers;
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = row.number(i);
    return std::bit_cast<Parameters>(numbers);
  }
}

}  // namespace detail

// A function known at compile time, as an object: `Fixed<&Product::to_z>`; the loops then inline it.
template <auto kFunction>
struct Fixed {
  template <class... A>
  auto operator()(A&&... a) const {
    return kFunction(std::forward<A>(a)...);
  }
};
template <auto kFunction>
struct detail::Signature<Fixed<kFunction>> : detail::Signature<decltype(kFunction)> {};

template <class F>
class MessageLoop {
  using Arguments = typename detail::Signature<F>::Arguments;
  static constexpr std::size_t kCount = std::tuple_size_v<Arguments>;
  template <std::size_t i>
  using Argument = std::tuple_element_t<i, Arguments>;

  static constexpr bool kVariadicResult = std::is_void_v<typename detail::Signature<F>::Result>;
  template <std::size_t i>
  static constexpr bool is_parameters() {
    return !detail::kIsMessage<Argument<i>> && !detail::IsSpan<Argument<i>>::value &&
           !std::is_same_v<Argument<i>, SlotMemory>;
  }
  static constexpr bool has_memory() {
    constexpr std::size_t kTail = kVariadicResult ? 1 : 0;
    if constexpr (kCount > kTail) return std::is_same_v<Argument<kCount - 1 - kTail>, SlotMemory>;
    return false;
  }
  static constexpr bool has_parameters() {
    constexpr std::size_t kTail = (kVariadicResult ? 1 : 0) + (has_memory() ? 1 : 0);
    if constexpr (kCount > kTail) return is_parameters<kCount - 1 - kTail>();
    return false;
  }

 public:
  static constexpr bool kHasMemory = has_memory();
  static constexpr std::size_t kReads =
      kCount - (kVariadicResult ? 1 : 0) - (has_memory() ? 1 : 0) - (has_parameters() ? 1 : 0);
  // Number of doubles in the parameters; 0 also for parameter types with bind().
  static constexpr std::size_t parameter_count() {
    if constexpr (has_parameters()) {
      using P = Argument<kReads>;
      if constexpr (requires(const ParameterRow& row) { P::bind(row); }) return 0;
      else return sizeof(P) / sizeof(double);
    }
    return 0;
  }

  static void plate(const Call& call, Outcome& outcome) { columns(call, 0, call.columns, outcome); }
  // Computes only those columns of every row.
  static void columns(const Call& call, std::size_t first, std::size_t last, Outcome& outcome) {
    if (call.sink.is_tracked) return over_plate<Tracked::kYes, true>(call, first, last, outcome, Reads());
    knowing_if_parameters_vary(call, [&](auto vary) {
      over_plate<Tracked::kNo, vary.value>(call, first, last, outcome, Reads());
    });
  }
  // One slot after the other: by the table if there is one; otherwise, never tracked, at constant offsets.
  static void chain(const Call& call, const ChainSegment& segment, Outcome& outcome) {
    if (segment.table != nullptr) return over_table(call, segment, outcome, Reads());
    knowing_if_parameters_vary(call, [&](auto vary) {
      ChainLoop<vary.value> loop(call, segment, outcome);
      for (std::uint64_t k = 0; k < segment.count; ++k) loop.next();
      outcome = loop.outcome();
    });
  }
  template <bool kParametersVary>
  class ChainLoop;
  // True if slots have their own parameters; types with bind() may depend on the slot.
  static bool parameters_vary(const Call& call) {
    bool vary = parameter_count() == 0;
    for (std::size_t k = 0; k < parameter_count(); ++k)
      vary |= call.parameters[k].row != 0 || call.parameters[k].column != 0;
    return vary;
  }

 private:
  using Reads = std::make_index_sequence<kReads>;

  template <class A>
  struct MessageOf : std::type_identity<A> {};
  template <class M>
  struct MessageOf<std::span<M>> : std::type_identity<std::remove_const_t<M>> {};

  // Arrays for the messages of a variadic port: a piece of the call's scratch memory, taken once per call.
  class ScratchArrays {
   public:
    explicit ScratchArrays(double* scratch) : free_(scratch) {}
    // Takes nothing for an argument that is a single message.
    template <class A>
    typename MessageOf<A>::type* take(std::size_t terms) {
      if constexpr (detail::IsSpan<A>::value) {
        using Message = typename MessageOf<A>::type;
        static_assert(sizeof(Message) % sizeof(double) == 0 && sizeof(Message) <= 5 * sizeof(double));
        auto* const begin =
            reinterpret_cast<Message*>(std::exchange(free_, free_ + sizeof(Message) / sizeof(double) * terms));
        for (std::size_t t = 0; t < terms; ++t) ::new (begin + t) Message;
        return begin;
      }
      return nullptr;
    }

   private:
    double* free_;
  };

  // An argument of the function from get(term): one message, or all messages of a slot.
  template <class A, class Get>
  static A argument(typename MessageOf<A>::type* room, std::size_t terms, const Get& get) {
    if constexpr (detail::IsSpan<A>::value) {
      for (std::size_t t = 0; t < terms; ++t) room[t] = typename MessageOf<A>::type(get(t));
      return {room, terms};
    } else {
      return A(get(0));
    }
  }

  // loop(std::bool_constant): compiles the loop over slots twice, so that expressions in the parameters (often a
  // division) are computed once if all slots share them. Not for tracked messages, whose overhead dominates.
  template <class Loop>
  static void knowing_if_parameters_vary(const Call& call, const Loop& loop) {
    if constexpr (has_parameters()) {
      if (!parameters_vary(call)) return loop(std::false_type());
    }
    loop(std::true_type());
  }

  // Tells if messages are tracked. Testing it per message would cost cheap loops a tenth of their time.
  enum class Tracked { kNo, kYes, kAsk };

  // The function and the destination of its results. Everything that is constant over slots is copied out of the call,
  // so that the compiler knows that storing a message does not change it. Parameters shared by all slots are bound
  // once.
  template <Tracked kTracked, bool kParametersVary>
  class SlotSender {
   public:
    SlotSender(const Call& call, ScratchArrays& scratch, const Outcome& outcome)
        : outcome_(outcome),
          function_(*static_cast<const F*>(call.callable)),
          sink_(call.sink),
          views_(call.parameters),
          memory_(call.memory),
          memory_size_(call.memory_size) {
      if constexpr (kVariadicResult) {
        using Result = Argument<kCount - 1>;
        results_ = Result(scratch.template take<Result>(call.out_terms), call.out_terms);
      }
      if constexpr (!kParametersVary) parameters_ = detail::bind_parameters<Parameters>({views_, 0, 0});
    }

    // Returns the message sent, the first one of several.
    template <class... Messages>
    Natural operator()(std::size_t r, std::size_t c, std::ptrdiff_t out, std::uint64_t slot,
                       const Messages&... messages) {
      if constexpr (has_parameters()) {
        if constexpr (kParametersVary) parameters_ = detail::bind_parameters<Parameters>({views_, r, c});
        return remember(out, slot, messages..., parameters_);
      } else {
        return remember(out, slot, messages...);
      }
    }
    const Outcome& outcome() const { return outcome_; }

   private:
    using Parameters = typename detail::ElementOrNone<has_parameters(), kReads, Arguments>::type;
    using Results = typename detail::ElementOrNone<kVariadicResult, kCount - 1, Arguments>::type;

    template <class... A>
    Natural remember(std::ptrdiff_t out, std::uint64_t slot, const A&... arguments) {
      if constexpr (kHasMemory)
        return store(out, slot, arguments..., SlotMemory{{memory_ + slot * memory_size_, memory_size_}});
      else return store(out, slot, arguments...);
    }
    template <class... A>
    Natural store(std::ptrdiff_t out, std::uint64_t slot, const A&... arguments) {
      if constexpr (kVariadicResult) {
        function_(arguments..., results_);
        for (std::size_t t = 0; t < results_.size(); ++t)
          keep(out + static_cast<std::ptrdiff_t>(t), results_[t], slot);
        return kTracked != Tracked::kNo || results_.empty() ? Natural() : Natural(results_[0]);
      } else {
        const auto message = function_(arguments...);
        keep(out, message, slot);
        // A refused message is stored as uniform. Selecting instead of branching would delay the next message of a
        // chain.
        if (!is_valid(message)) [[unlikely]] return {};
        return message;
      }
    }
    template <class Message>
    [[gnu::always_inline]] void keep(std::ptrdiff_t out, const Message& message, std::uint64_t slot) {
      if constexpr (requires { message.replaced; }) {
        if (sink_.keeps_widening && widens(message.own)) return sink_.store(out, message.own, slot, outcome_);
        outcome_.replaced += message.replaced;
      }
      if (kTracked == Tracked::kAsk ? sink_.is_tracked : kTracked == Tracked::kYes) keep_as<true>(out, message, slot);
      else keep_as<false>(out, message, slot);
    }
    template <bool kIsTracked, class Message>
    [[gnu::always_inline]] void keep_as(std::ptrdiff_t out, const Message& message, std::uint64_t slot) {
      if constexpr (requires(const Natural& m) { Message::is_message(m); })
        sink_.template store_by_rules<kIsTracked>(out, message, slot, outcome_);
      else
        sink_.template store<kIsTracked>(out, message, slot, outcome_);
    }

    Outcome outcome_;
    const F& function_;
    const Sink sink_;
    const ParameterView* const views_;
    double* const memory_;
    const std::size_t memory_size_;
    Parameters parameters_ = {};
    Results results_ = {};
  };

  template <Tracked kTracked, bool kParametersVary, std::size_t... i>
  static void over_plate(const Call& call, std::size_t first, std::size_t last, Outcome& outcome,
                         std::index_sequence<i...>) {
    ScratchArrays scratch(call.scratch);
    [[maybe_unused]] const std::tuple views{PortView(call.reads[i])...};
    [[maybe_unused]] const std::tuple room{scratch.template take<Argument<i>>(call.reads[i].terms)...};
    SlotSender<kTracked, kParametersVary> send(call, scratch, outcome);
    const std::size_t rows = call.rows;
    const std::ptrdiff_t out_column = call.out_column;
    for (std::size_t r = 0; r < rows; ++r) {
      std::ptrdiff_t out = call.out_offset(r, first);
      std::uint64_t slot = r * call.columns + first;
      for (std::size_t c = first; c < last; ++c, ++slot, out += out_column)
        send(r, c, out, slot,
             argument<Argument<i>>(std::get<i>(room), std::get<i>(views).terms,
                                   [&](std::size_t t) { return std::get<i>(views).at(r, c, t); })...);
    }
    outcome = send.outcome();
  }

  // Sharing parameters or tracking does not deserve another loop: looking up neighbours dominates.
  template <std::size_t... i>
  static void over_table(const Call& call, const ChainSegment& segment, Outcome& outcome, std::index_sequence<i...>) {
    // Local copies stay in registers; members would be reloaded for every message.
    [[maybe_unused]] const ChainTable table = *segment.table;
    [[maybe_unused]] const std::array<TableRead, kReads> reads{segment.table_reads[i]...};
    const std::ptrdiff_t out_column = call.out_column;
    const std::int64_t step = segment.step;
    ScratchArrays scratch(call.scratch);
    [[maybe_unused]] const std::tuple room{scratch.template take<Argument<i>>(reads[i].terms)...};
    SlotSender<Tracked::kAsk, true> send(call, scratch, outcome);
    std::int64_t at = segment.first;
    for (std::uint64_t k = segment.count; k > 0; --k, at += step) {
      const auto slot = static_cast<std::uint32_t>(at);
      send(0, slot, static_cast<std::ptrdiff_t>(slot) * out_column, slot,
           argument<Argument<i>>(std::get<i>(room), reads[i].terms, [&](std::size_t t) {
             return reads[i].arrival(table, slot * reads[i].terms + static_cast<std::uint32_t>(t));
           })...);
    }
    outcome = send.outcome();
  }
};

// One slot of a chain after the other, at constant offsets. The last message stays in a register.
template <class F>
template <bool kParametersVary>
class MessageLoop<F>::ChainLoop {
  static_assert(sizeof(Natural) == 2 * sizeof(double));

 public:
  ChainLoop(const Call& call, const ChainSegment& segment, const Outcome& outcome)
      : scratch_(call.scratch), room_(make_room(scratch_, segment, Reads())), send_(call, scratch_, outcome),
        out_column_(call.out_column), slot_(segment.first), step_(segment.step) {
    for (std::size_t r = 0; r < kReads; ++r) {
      reads_[r] = segment.reads[r];
      if (reads_[r].follows) sent_ = reads_[r].sent_before(slot_);
    }
  }
  [[gnu::always_inline]] void next() { next(Reads()); }
  const Outcome& outcome() const { return send_.outcome(); }

 private:
  template <std::size_t... i>
  static auto make_room([[maybe_unused]] ScratchArrays& scratch, [[maybe_unused]] const ChainSegment& segment,
                        std::index_sequence<i...>) {
    return std::tuple{scratch.template take<Argument<i>>(segment.reads[i].terms)...};
  }
  template <class A>
  [[gnu::always_inline]] A arriving(const ChainRead& read, typename MessageOf<A>::type* room) const {
    if constexpr (detail::IsSpan<A>::value)
      return argument<A>(room, read.terms, [&](std::size_t t) {
        return read.product(slot_ * static_cast<std::ptrdiff_t>(read.terms) + static_cast<std::ptrdiff_t>(t));
      });
    else
      return argument<A>(room, 1, [&](std::size_t) { return read.product_after(sent_, slot_); });
  }
  template <std::size_t... i>
  [[gnu::always_inline]] void next(std::index_sequence<i...>) {
    sent_ = send_(0, static_cast<std::size_t>(slot_), slot_ * out_column_, static_cast<std::uint64_t>(slot_),
                   arriving<Argument<i>>(reads_[i], std::get<i>(room_))...);
    slot_ += step_;
  }

  ScratchArrays scratch_;
  decltype(make_room(std::declval<ScratchArrays&>(), std::declval<const ChainSegment&>(), Reads())) room_;
  SlotSender<Tracked::kNo, kParametersVary> send_;
  std::array<ChainRead, kReads> reads_{};
  Natural sent_;
  const std::ptrdiff_t out_column_;
  std::ptrdiff_t slot_;
  const std::ptrdiff_t step_;
};

// See ChainPairKernel. Neither function has a variadic port: they share the working memory.
template <class F, class G>
void chain_pair(const Call& first, const ChainSegment& first_segment, Outcome& first_outcome, const Call& second,
               const ChainSegment& second_segment, Outcome& second_outcome) {
  const auto loop = [&](auto vary) {
    typename MessageLoop<F>::template ChainLoop<vary.value> f(first, first_segment, first_outcome);
    typename MessageLoop<G>::template ChainLoop<vary.value> g(second, second_segment, second_outcome);
    for (std::uint64_t k = 0; k < first_segment.count; ++k) {
      f.next();
      g.next();
    }
    first_outcome = f.outcome();
    second_outcome = g.outcome();
  };
  if (MessageLoop<F>::parameters_vary(first) || MessageLoop<G>::parameters_vary(second)) loop(std::true_type());
  else loop(std::false_type());
}

}  // namespace dma
