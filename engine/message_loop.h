// Where a factor meets its batch: turns one scalar message function into the loops the engine calls, one indirect call
// per batch. The function takes, in this order: for each port it reads a message (Gaussian, LogNormal) or, for a
// variadic port, a std::span of them; then its Parameters, if it has any: an aggregate of doubles in the order of
// declaration, or a type with `static Parameters bind(const ParameterRow&)`. It returns the message, or, when the target
// port is variadic, takes a std::span for the results as its last argument.
#pragma once

#include <array>
#include <bit>
#include <new>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include "engine/batch.h"
#include "engine/incidence.h"

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
    return !detail::kIsMessage<Argument<i>> && !detail::IsSpan<Argument<i>>::value;
  }
  static constexpr bool has_parameters() {
    constexpr std::size_t kTail = kVariadicResult ? 1 : 0;
    if constexpr (kCount > kTail) return is_parameters<kCount - 1 - kTail>();
    return false;
  }

 public:
  static constexpr std::size_t kReads = kCount - (kVariadicResult ? 1 : 0) - (has_parameters() ? 1 : 0);
  // How many doubles the parameters hold; 0 also for those that bind themselves.
  static constexpr std::size_t parameter_count() {
    if constexpr (has_parameters()) {
      using P = Argument<kReads>;
      if constexpr (requires(const ParameterRow& row) { P::bind(row); }) return 0;
      else return sizeof(P) / sizeof(double);
    }
    return 0;
  }

  template <bool kTracked>
  static void plate(const Batch& batch, Outcome& outcome) {
    const F& function = *static_cast<const F*>(batch.callable);
    for (std::size_t r = 0; r < batch.rows; ++r)
      for (std::size_t c = 0; c < batch.columns; ++c) {
        Packer pack{batch.scratch};
        const auto load = [&]<std::size_t i>() -> decltype(auto) {
          const PortView& view = batch.reads[i];
          if constexpr (detail::IsSpan<Argument<i>>::value) {
            using Message = std::remove_const_t<typename Argument<i>::element_type>;
            return pack.template span<Message>(view.terms, [&](std::size_t t) { return view.at(r, c, t); });
          } else {
            return Argument<i>(view.at(r, c));
          }
        };
        invoke<kTracked>(function, batch, outcome, {batch.parameters, r, c}, batch.out_offset(r, c),
                         r * batch.columns + c, pack, load, std::make_index_sequence<kReads>());
      }
  }

  template <bool kTracked>
  static void sequence(const Batch& batch, const Sequence& run, const Sequence::Read* reads, Outcome& outcome) {
    const F& function = *static_cast<const F*>(batch.callable);
    std::int64_t at = run.first;
    for (std::uint64_t k = 0; k < run.count; ++k, at += run.step) {
      const auto slot = static_cast<std::uint32_t>(at);
      Packer pack{batch.scratch};
      const auto load = [&]<std::size_t i>() -> decltype(auto) {
        const std::uint32_t first = slot * reads[i].terms;
        if constexpr (detail::IsSpan<Argument<i>>::value) {
          using Message = std::remove_const_t<typename Argument<i>::element_type>;
          return pack.template span<Message>(
              reads[i].terms, [&](std::size_t t) { return arrival(run, reads[i], first + static_cast<std::uint32_t>(t)); });
        } else {
          return Argument<i>(arrival(run, reads[i], first));
        }
      };
      invoke<kTracked>(function, batch, outcome, {batch.parameters, 0, slot}, batch.out_offset(0, slot), slot, pack, load,
                       std::make_index_sequence<kReads>());
    }
  }

 private:
  // Copies the messages of a variadic port side by side into the batch's scratch memory.
  struct Packer {
    double* free;
    template <class Message, class Get>
    std::span<const Message> span(std::size_t terms, const Get& get) {
      Message* const begin = reserve<Message>(terms);
      for (std::size_t t = 0; t < terms; ++t) begin[t] = Message(get(t));
      return {begin, terms};
    }
    template <class Message>
    Message* reserve(std::size_t terms) {
      static_assert(sizeof(Message) == 2 * sizeof(double));
      auto* const begin = reinterpret_cast<Message*>(std::exchange(free, free + 2 * terms));
      for (std::size_t t = 0; t < terms; ++t) ::new (begin + t) Message;
      return begin;
    }
  };

  // q counts (slot, term) pairs of the port.
  static Natural arrival(const Sequence& run, const Sequence::Read& read, std::uint32_t q) {
    if (!read.refresh) return run.arrivals[read.first_arrival + q];
    const Natural m = all_but(run.incidence, run.messages, read.first_slot + q);
    if (read.keep) {
      run.arrivals.tau[read.first_arrival + q] = m.tau;
      run.arrivals.rho[read.first_arrival + q] = m.rho;
    }
    return m;
  }

  template <bool kTracked, class Load, std::size_t... i>
  static void invoke(const F& function, const Batch& batch, Outcome& outcome, const ParameterRow& row, std::ptrdiff_t out,
                     std::uint64_t slot, Packer& pack, const Load& load, std::index_sequence<i...>) {
    // Braces fix the order of evaluation: ports are packed from the first to the last.
    std::tuple<std::conditional_t<true, Argument<i>, void>...> messages{load.template operator()<i>()...};
    const auto with = [&](auto&&... rest) -> decltype(auto) {
      if constexpr (has_parameters())
        return function(std::get<i>(messages)..., detail::bind_parameters<Argument<kReads>>(row), rest...);
      else
        return function(std::get<i>(messages)..., rest...);
    };
    if constexpr (kVariadicResult) {
      using Message = typename Argument<kCount - 1>::element_type;
      const std::span<Message> results(pack.template reserve<Message>(batch.out_terms), batch.out_terms);
      with(results);
      for (std::size_t t = 0; t < results.size(); ++t)
        batch.sink.store<kTracked>(out + static_cast<std::ptrdiff_t>(t), results[t], slot, outcome);
    } else {
      batch.sink.store<kTracked>(out, with(), slot, outcome);
    }
  }
};

}  // namespace dma
