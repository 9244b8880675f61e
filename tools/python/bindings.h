// The compiled half of the Python module `dma`: each file binds one subject, module.cpp lists them. Estimators and
// pictures are written in Python, in dma/.
//
// A binding is one entry: its signature as Python writes it, one sentence, and the function.
//
//   Class<Report>(module, "Report", "What a run did.").get("stop", "Why it stopped.", &Report::stop);
//   def(module, "run(plan, state, *, warm=False)", "Solves.", &run_state);
#pragma once

#include <pybind11/eigen.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace dma::python {

namespace py = pybind11;

// The name, the arguments and their defaults, which are Python expressions: "name(x, y=1, *, z=None)".
class Signature {
 public:
  explicit Signature(const std::string& text);
  const char* name() const { return name_.c_str(); }
  void add_to(py::detail::function_record* record) const;
  void check_count(std::size_t taken) const;  // a broken binding if the function takes another number of arguments

 private:
  std::string name_;
  std::vector<std::string> arguments_;
  std::size_t by_place_ = 0;  // arguments_ from here on are given by name alone
  py::object defaults_;       // a dictionary
};

// An object that one thread at a time may use. Functions bound by def() and get() that take one by reference refuse a
// second thread while they run: most of them release the interpreter's lock.
struct Guarded {
  explicit Guarded(const char* its_kind) : kind(its_kind) {}
  const char* kind;  // "state"
  std::atomic<bool> is_busy = false;
};
class Alone {
 public:
  explicit Alone(Guarded& handle);  // an Error if another thread is at work with it
  ~Alone() { handle_.is_busy = false; }
  Alone(const Alone&) = delete;
  Alone& operator=(const Alone&) = delete;

 private:
  Guarded& handle_;
};

namespace binding {

struct NotGuarded {
  template <class T>
  explicit NotGuarded(const T&) {}
};
template <class T>
inline constexpr bool kIsGuarded = std::is_lvalue_reference_v<T> && !std::is_const_v<std::remove_reference_t<T>> &&
                                   std::is_base_of_v<Guarded, std::remove_reference_t<T>>;

template <class Function, class Result, class... Taken>
auto when_alone(const Function& function, Result (*)(Taken...)) {
  if constexpr ((kIsGuarded<Taken> || ...))
    return [function](Taken... taken) -> Result {
      const std::tuple<std::conditional_t<kIsGuarded<Taken>, Alone, NotGuarded>...> held(taken...);
      return function(std::forward<Taken>(taken)...);
    };
  else
    return function;
}
template <class Function>
auto when_alone(const Function& function) {
  if constexpr (std::is_member_pointer_v<Function>)
    return function;
  else
    return when_alone(function, static_cast<py::detail::function_signature_t<Function>*>(nullptr));
}

template <class Result, class... Taken>
constexpr std::size_t arguments_of(Result (*)(Taken...)) {
  return (std::size_t{!std::is_same_v<Taken, const py::kwargs&>} + ... + 0);
}
template <class Function>
constexpr std::size_t arguments_of() {
  return arguments_of(static_cast<py::detail::function_signature_t<Function>*>(nullptr));
}

}  // namespace binding

// For functions without Python's objects: other threads go on meanwhile.
inline constexpr auto kUnlocked = py::call_guard<py::gil_scoped_release>();

template <class Function, class... Extra>
void def(py::module_& module, const std::string& words, const char* doc, const Function& function,
         const Extra&... extra) {
  const Signature signature(words);
  signature.check_count(binding::arguments_of<Function>());
  module.def(signature.name(), binding::when_alone(function), signature, doc, extra...);
}

template <class T, class... Options>
class Class : public py::class_<T, Options...> {
  using Base = py::class_<T, Options...>;

 public:
  using Base::Base;

  // A method; the words begin after `self`.
  template <class Function, class... Extra>
  Class& def(const std::string& words, const char* doc, const Function& function, const Extra&... extra) {
    const Signature signature(words);
    if constexpr (!std::is_member_pointer_v<Function>) signature.check_count(binding::arguments_of<Function>() - 1);
    Base::def(signature.name(), binding::when_alone(function), signature, doc, extra...);
    return *this;
  }
  // A property that is read only.
  template <class Function>
  Class& get(const char* name, const char* doc, const Function& function) {
    if constexpr (std::is_member_object_pointer_v<Function>)
      Base::def_readonly(name, function, doc);
    else
      Base::def_property_readonly(name, binding::when_alone(function), doc);
    return *this;
  }
  // The constructor, by a function that makes a T or a pointer to one.
  template <class Function>
  Class& init(const std::string& arguments, const Function& function) {
    const Signature signature("__init__(" + arguments + ")");
    signature.check_count(binding::arguments_of<Function>());
    Base::def(py::init(function), signature);
    return *this;
  }
  template <class Write, class Read>
  Class& pickled(const Write& write, const Read& read) {
    Base::def(py::pickle(write, read));
    return *this;
  }
  // One line for repr(), all of it as text() and in a notebook.
  Class& printed(const char* doc);
};

// Array side by side, whatever they were before; nothing is copied that is so already.
using Array = py::array_t<double, py::array::c_style | py::array::forcecast>;

// A vector as an array that owns it: the numbers stay where they are.
inline py::array_t<double> as_array(std::vector<double> values, std::vector<py::ssize_t> shape) {
  auto kept = std::make_unique<std::vector<double>>(std::move(values));
  const double* const first = kept->data();
  py::capsule owner(kept.get(), [](void* pointer) { delete static_cast<std::vector<double>*>(pointer); });
  (void)kept.release();
  return py::array_t<double>(std::move(shape), first, owner);
}
inline py::array_t<double> as_array(std::vector<double> values) {
  const auto size = static_cast<py::ssize_t>(values.size());
  return as_array(std::move(values), {size});
}
inline py::array_t<double> as_array(std::vector<double> values, std::size_t rows, std::size_t columns) {
  return as_array(std::move(values), {static_cast<py::ssize_t>(rows), static_cast<py::ssize_t>(columns)});
}
// number(i) for every i below the count.
template <class Number>
py::array_t<double> array_by(std::size_t count, const Number& number) {
  std::vector<double> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = number(i);
  return as_array(std::move(all));
}

inline std::span<const double> span_of(const Array& values) {
  return {values.data(), static_cast<std::size_t>(values.size())};
}

// Other threads go on meanwhile.
template <class Work>
auto without_lock(const Work& work) {
  const py::gil_scoped_release unlocked;
  return work();
}

// Numbers side by side. Empty, without an error, where there are none: text, dates and complex numbers are not turned
// into some.
Array numbers_in(py::handle values);

// Values step by step, from an array of them: NaN is a missing one.
struct KnownValues : std::vector<std::optional<double>> {};
KnownValues known_values(py::handle values);

// As Python writes it, for a sentence: the beginning of what is long.
std::string shown(py::handle object);
// The first lines of a text, 20 at most.
std::string brief(const std::string& text);

// Text as it stands, in a notebook.
std::string html_of(const std::string& text);

// A signal that Python has noticed (Ctrl-C) is thrown as the exception its handler raised.
void throw_pending_signal();

void bind_table_models(py::module_& module);
void bind_kinds(py::module_& module);
void bind_graph(py::module_& module);
void bind_learner(py::module_& module);
void bind_schedules(py::module_& module);
void bind_run(py::module_& module);
void bind_results(py::module_& module);
void bind_draws(py::module_& module);
void bind_solve(py::module_& module);
void bind_judgements(py::module_& module);
void bind_series(py::module_& module);
void bind_models(py::module_& module);

template <class T, class... Options>
Class<T, Options...>& Class<T, Options...>::printed(const char* doc) {
  def("text()", doc, [](const T& self) { return self.text(); });
  def("__repr__()", "", [](const T& self) { return self.line(); });
  return def("_repr_html_()", "", [](const T& self) { return html_of(self.text()); });
}

}  // namespace dma::python

namespace pybind11::detail {

template <>
struct process_attribute<dma::python::Signature> : process_attribute_default<dma::python::Signature> {
  static void init(const dma::python::Signature& signature, function_record* record) { signature.add_to(record); }
};

// An argument that a function reads; what it refuses is an Error in words.
template <class T, T (*read)(handle)>
struct ReadCaster {
  bool load(handle given, bool) {
    value.emplace(read(given));
    return true;
  }
  template <class>
  using cast_op_type = T&&;
  operator T&&() { return std::move(*value); }
  std::optional<T> value;
};
template <>
struct type_caster<dma::python::KnownValues> : ReadCaster<dma::python::KnownValues, &dma::python::known_values> {
  static constexpr auto name = const_name("npt.ArrayLike");
};

}  // namespace pybind11::detail
