// kinds/: the definition of a factor kind, the registration of its messages, and the loops that apply a scalar message
// function to a plate. May include graph/ and what lies below it.
//
// A kind has a model part (its ports, its parameters with their domains, its function or density) and a message part
// (one function per method and target port). Oracles and checks derive from the model part.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/graph/graph.h"
#include "engine/kinds/linear_view.h"
#include "engine/kinds/message_loop.h"
#include "engine/kinds/port_set.h"

namespace dma {

template <class F, auto kBlock>
class BlockLoop;  // block_loop.h, which a kind with block forms includes

// The values that a parameter or an observation may take; several domains are intersected.
struct Domain {
  double low = -kInfinity, high = kInfinity;
  bool low_open = false, high_open = false;
  bool whole = false;             // whole numbers only
  std::vector<double> only = {};  // if not empty, the only values
  std::string advice = {};        // added to the error when a value is refused

  bool contains(double value) const;  // true if the value is allowed
  Domain operator&(const Domain& other) const;
};
inline Domain above(double bound) { return {.low = bound, .low_open = true}; }    // greater than the bound
inline Domain at_least(double bound) { return {.low = bound}; }                   // the bound or more
inline Domain below(double bound) { return {.high = bound, .high_open = true}; }  // less than the bound
inline Domain at_most(double bound) { return {.high = bound}; }                   // the bound or less
inline Domain finite() {                                                          // any finite number
  return {.low = -kInfinity, .high = kInfinity, .low_open = true, .high_open = true};
}
inline Domain one_of(std::vector<double> values) { return {.only = std::move(values)}; }  // one of these numbers
inline Domain whole() { return {.whole = true}; }                                         // whole numbers
inline Domain advice(std::string text) { return {.advice = std::move(text)}; }            // adds advice to the error
std::string describe(const Domain& domain);                                               // "(0, 1]"

inline constexpr std::string_view kGaussian = "gaussian";

struct PortSpec {
  std::string name;
  bool output = false;
  bool variadic = false;
  // The family of its variables, of any dimension; none: any family that obeys the rules of a Gaussian, the same on all
  // such ports of the factor.
  std::optional<std::string> family = std::string(kGaussian);
  bool is_gaussian = true;              // the family is Gaussian; set by Kind
  std::optional<Domain> observed = {};  // observable values, within those of the family; none: all of them
};

// By port, the number of components of each variable of one slot.
using PortComponents = std::vector<std::vector<std::uint32_t>>;
// Converts the numbers given for a parameter into those that kernels read; an Error says what is wrong with them.
using Prepare = std::function<std::vector<double>(std::span<const double> given, const PortComponents& components)>;

struct ParameterSpec {
  std::string name;
  Domain domain;
  std::optional<double> fallback = {};  // none: the user must give a value
  bool per_term = false;                // one value per term of the variadic port
  Prepare prepare = {};                 // for a list of any length, shared by all slots
  std::uint32_t count = 1;              // values per slot
};

struct MessageFunction {
  std::string method;
  std::size_t target = 0;
  std::vector<std::size_t> reads;  // port numbers, in the order of the arguments
  Kernel plate = nullptr;
  ChainKernel chain = nullptr;  // null: such factors are never merged, nor part of a chain
  std::shared_ptr<const void> callable;
  std::optional<std::size_t> observed = {};  // a port that must be observed for this function to apply
  HeldKernel held = nullptr;                 // null: its first input is never held as moments
};

// Computes the messages of two message functions of the same kind, method and inputs in one pass.
struct PairKernel {
  std::string method;
  std::size_t first = 0, second = 0;  // target ports
  Kernel plate = nullptr;
  HeldKernel held = nullptr;
};

struct ChainPair {
  std::string method;
  std::size_t first = 0, second = 0;  // target ports
  ChainPairKernel kernel = nullptr;
};

// The ports a message function reads, in the order of its arguments.
struct from {
  template <class... Names>
  explicit from(const Names&... names) : ports{std::string(names)...} {}
  std::vector<std::string> ports;
};

class Kind {
 public:
  // y = g(inputs), for a deterministic factor with one output; variadic inputs are listed one after the other.
  using Function = std::function<double(std::span<const double> inputs, std::span<const double> parameters)>;
  // log f(values on all ports in order), for a factor that is a density.
  using LogDensity = std::function<double(std::span<const double> values, std::span<const double> parameters)>;

  // log of the integral of f times the arriving messages as normalised densities, by port and term.
  using LogIntegral = std::function<double(std::span<const Natural> arrivals, std::span<const double> parameters)>;

  explicit Kind(std::string name, std::string summary = {}) : name_(std::move(name)), summary_(std::move(summary)) {}

  Kind& input(std::string name, std::optional<std::string> family = std::string(kGaussian));   // a port for arrivals
  Kind& output(std::string name, std::optional<std::string> family = std::string(kGaussian));  // a computed port
  // Ports with any number of terms, such as those of `sum`.
  Kind& variadic_input(std::string name, std::optional<std::string> family = std::string(kGaussian));
  // The same, computed.
  Kind& variadic_output(std::string name, std::optional<std::string> family = std::string(kGaussian));

  // Observable values on a port, if fewer than its family allows.
  Kind& observes(std::string_view port, const Domain& domain);

  // Two variadic ports that must have equally many terms; message functions may rely on that.
  Kind& same_terms(std::string_view first, std::string_view second);

  template <class... Domains>
  Kind& parameter(std::string name, const Domains&... domains) {  // a number that a factor must give
    return add({std::move(name), (Domain{} & ... & domains)});
  }
  template <class... Domains>
  Kind& optional_parameter(std::string name, double fallback, const Domains&... domains) {  // a number with a default
    return add({std::move(name), (Domain{} & ... & domains), fallback});
  }
  template <class... Domains>
  Kind& per_term_parameter(std::string name, double fallback, const Domains&... domains) {  // a number per term
    return add({std::move(name), (Domain{} & ... & domains), fallback, true});
  }

  // `count` numbers per slot; the default is repeated.
  Kind& vector_parameter(std::string name, std::uint32_t count, double fallback, const Domain& domain = finite()) {
    return add({std::move(name), domain, fallback, false, {}, count});
  }

  // A table of numbers whose length depends on the variables: `prepare` checks and rearranges it when a graph is
  // compiled.
  Kind& table_parameter(std::string name, Prepare prepare, const Domain& domain = {}) {
    return add({std::move(name), domain, {}, false, std::move(prepare)});
  }

  Kind& function(Function g);  // sets the function of a deterministic factor
  // A function with several different outputs, for the joint solver: number of inputs and outputs, 0: as connected. Its
  // view has gains in closed form; without one they come from differences.
  struct VectorSize {
    std::size_t inputs = 0, outputs = 0;
    bool is_along_steps = false;  // gains of inputs on manifolds are along steps, not by coordinates
  };
  Kind& vector_function(VectorFunction g, VectorSize size, LinearView view = {});  // sets it
  Kind& log_density(LogDensity f);  // sets the log density of a likelihood
  // The function's value and gains in closed form (linear_view.h); without it they come from differences. `linear_in`
  // says for which free inputs the gains are constant; none: never.
  Kind& linear_view(LinearView view, LinearIn linear_in = {});
  // The density is Gaussian in a linear combination of its variables, given by this row.
  Kind& gaussian_row(RowView row);
  // The density is N(output; the other input, 1 / w), given the number w on this port.
  Kind& precision_port(std::string_view name);
  // The contribution to the evidence of a factor without function or density: in closed form, or else by quadrature of
  // the density.
  Kind& log_integral(LogIntegral integral);
  // E[log f] under independent beliefs, in the same order: the contribution to the evidence of a factor with
  // variational messages.
  Kind& expected_log(LogIntegral expectation);
  // For a factor among variables with finitely many values: f for every combination, the last port innermost, taken
  // from its only parameter. Without it they come from the integral.
  using Weights = std::span<const double> (*)(std::span<const double> parameter);
  Kind& weights(Weights numbers) {  // sets the table of f
    weights_ = numbers;
    return *this;
  }
  // The Report then gives the smallest |mean| / sd that arrives at this kind (the paper's r).
  Kind& watch_signal_to_noise();

  // A message function known at compile time: inlined into its loops. Reads all ports but the target by default.
  template <auto kFunction>
  Kind& message(std::string_view method, std::string_view target, const std::optional<from>& reads = {}) {
    return message(method, target, Fixed<kFunction>{}, reads);
  }
  // ... with a faster form for blocks of ordinary slots (block_loop.h); a plate is then processed by blocks.
  template <auto kFunction, auto kBlock>
  Kind& message(std::string_view method, std::string_view target, const std::optional<from>& reads = {}) {
    message<kFunction>(method, target, reads);
    messages_.back().plate = &BlockLoop<Fixed<kFunction>, kBlock>::plate;
    return *this;
  }
  // Any function object.
  template <class F>
  Kind& message(std::string_view method, std::string_view target, F callable, const std::optional<from>& reads = {}) {
    using Loop = MessageLoop<F>;
    if (Loop::kHasMemory) check_memory(target);
    MessageFunction m = describe_message(method, target, reads, Loop::kReads, Loop::parameter_count());
    m.plate = &Loop::plate;
    m.chain = &Loop::chain;
    m.callable = std::make_shared<const F>(std::move(callable));
    messages_.push_back(std::move(m));
    return *this;
  }
  // Restricts the last registered message function to variables at that port that are observed or uniform. compile()
  // refuses other graphs and suggests another method.
  Kind& only_if_observed(std::string_view port_name);
  // The messages of two ports, one forwards along a chain and one backwards, side by side (chain.h); both must have
  // been registered by message().
  template <auto kFirst, auto kSecond>
  Kind& chain_pair(std::string_view method, std::string_view first, std::string_view second) {
    return add(
        ChainPair{std::string(method), port(first), port(second), &dma::chain_pair<Fixed<kFirst>, Fixed<kSecond>>});
  }
  // Message functions that take a SlotMemory have that many numbers per slot.
  Kind& memory(std::size_t numbers);

  // An array kernel, for speed; takes the same Call.
  Kind& kernel(std::string_view method, std::string_view target, const from& reads, Kernel plate,
               HeldKernel held = nullptr);
  // A kernel for visits that send to both of two ports whose array kernels have the same inputs.
  Kind& pair_kernel(std::string_view method, std::string_view first, std::string_view second, Kernel plate,
                    HeldKernel held = nullptr);

  const std::string& name() const { return name_; }              // name in Graph::factor
  const std::string& summary() const { return summary_; }        // one line on what it is
  const std::vector<PortSpec>& ports() const { return ports_; }  // ports in their order
  const std::vector<std::pair<std::size_t, std::size_t>>& same_terms() const { return same_terms_; }  // pairs of ports
  const std::vector<ParameterSpec>& parameters() const { return parameters_; }  // parameters with their domains
  const std::vector<MessageFunction>& messages() const { return messages_; }    // message functions of all methods
  const Function& function() const { return function_; }          // empty: not deterministic, or of several outputs
  const LogDensity& log_density() const { return log_density_; }  // empty: no density is given
  const LinearView& linear_view() const { return linear_view_; }  // empty: not a function
  const LinearIn& linear_in() const { return linear_in_; }        // empty: gains are never constant
  const std::optional<VectorSize>& vector_size() const { return vector_size_; }  // none: all outputs are one number
  const LogIntegral& log_integral() const { return log_integral_; }              // empty: by quadrature
  const LogIntegral& expected_log() const { return expected_log_; }              // empty: none
  Weights weights() const { return weights_; }                                   // null: none
  const RowView& gaussian_row() const { return gaussian_row_; }                  // empty: not a Gaussian density
  std::optional<std::size_t> precision_port() const { return precision_port_; }  // port of w; none: no such density
  bool watches_signal_to_noise() const { return watches_signal_to_noise_; }      // counts weak signals
  std::size_t memory() const { return memory_; }                                 // numbers per slot

  std::size_t port(std::string_view name) const;     // by name; an Error suggests the nearest one
  std::optional<std::size_t> variadic_port() const;  // the first one, if any
  std::vector<std::string> methods() const;          // without repetition, in the order of registration
  // The function for this method and target. If there is none, the exact one, or else the linearised one, which is
  // always proper; otherwise null.
  const MessageFunction* find_message(std::string_view method, std::size_t target) const;
  // The kernel that computes two message functions of this kind at once; null if there is none.
  const PairKernel* find_pair_kernel(const MessageFunction& first, const MessageFunction& second) const;
  ChainPairKernel find_chain_pair(const MessageFunction& first, const MessageFunction& second) const;  // likewise

 private:
  Kind& add(ParameterSpec parameter);
  Kind& add(PortSpec port);
  Kind& add(ChainPair pair);
  void check_memory(std::string_view target) const;
  MessageFunction describe_message(std::string_view method, std::string_view target, const std::optional<from>& reads,
                                   std::size_t read_count, std::size_t parameter_count) const;

  std::string name_, summary_;
  std::vector<PortSpec> ports_;
  std::vector<std::pair<std::size_t, std::size_t>> same_terms_;
  std::vector<ParameterSpec> parameters_;
  std::vector<MessageFunction> messages_;
  std::vector<PairKernel> pair_kernels_;
  std::vector<ChainPair> chain_pairs_;
  std::size_t memory_ = 0;
  Function function_;
  LogDensity log_density_;
  LinearView linear_view_;
  LinearIn linear_in_;
  std::optional<VectorSize> vector_size_;
  RowView gaussian_row_;
  std::optional<std::size_t> precision_port_;
  LogIntegral log_integral_, expected_log_;
  Weights weights_ = nullptr;
  bool watches_signal_to_noise_ = false;
};

// Error text: why a kind has no message by this method to a port, and how to repair it.
std::string missing_message(const Kind& kind, std::string_view method, std::size_t port);

// Begins a kind, whose members then add ports, parameters and mathematics.
inline Kind kind(std::string name, std::string summary = {}) { return Kind(std::move(name), std::move(summary)); }

// Messages registered under these methods serve every method for which the kind has none.
inline constexpr std::string_view kExact = "exact";
inline constexpr std::string_view kLinearisedMethod = "linearised";
// Messages exp(E[log f]) are registered under this method: beliefs that meet at such a factor count as independent
// there.
inline constexpr std::string_view kVariational = "vmp";

}  // namespace dma
