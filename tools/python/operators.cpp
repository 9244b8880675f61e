// Arithmetic of variables, and their elements.
#include <pybind11/stl.h>

#include "engine/support/error.h"
#include "models/graphs/expressions.h"
#include "tools/python/handles.h"

namespace dma::python {

namespace {

template <class Change>
ParameterValue changed(ParameterValue value, const Change& change) {
  for (double& number : value.numbers) number = change(number);
  return value;
}

VariableHandle power(const VariableHandle& a, const py::object& exponent) {
  constexpr long kMost = 1000;
  const long n = PyIndex_Check(exponent.ptr()) ? PyNumber_AsSsize_t(exponent.ptr(), nullptr) : 0;
  if (n < 1 || n > kMost)
    fail("{} is given as an exponent; a whole number from 1 to {} is expected", shown(exponent), kMost);
  if (n == 1) return a;
  const VariableHandle half = power(a, py::int_(n / 2)), even{a.graph, square(*a.graph, half.id)};
  return n % 2 == 0 ? even : VariableHandle{a.graph, product(*a.graph, even.id, a.id)};
}

// Joins two arrays of equal size element by element, or one of a single element with each of the other's.
template <class Join>
VariableHandle joined_by(const Join& join, const VariableHandle& a, const VariableHandle& b) {
  const std::size_t sizes[] = {(*a.graph)[a.id].size, (*b.graph)[b.id].size};
  const auto end = [&](VariableId v, std::size_t own) {
    return own == 1 && sizes[0] != sizes[1] ? all_to_one(v) : Connection(v);
  };
  return {a.graph, join(*a.graph, end(a.id, sizes[0]), end(b.id, sizes[1]), {})};
}

// Some elements of a variable, in this order, as a new one.
VariableHandle chosen(const VariableHandle& x, std::vector<std::uint32_t> elements) {
  const Graph::Variable all = (*x.graph)[x.id];
  for (const std::uint32_t e : elements)
    if (e >= all.size) fail("'{}': element {} is chosen of {}", all.name, e, all.size);
  return {x.graph, affine(*x.graph, gather(x.id, std::move(elements)), 1.0, 0.0)};
}

}  // namespace

void bind_operators(Class<VariableHandle>& variable) {
  const auto times = [](const VariableHandle& a, const py::object& b) -> VariableHandle {
    if (!py::isinstance<VariableHandle>(b)) return {a.graph, affine(*a.graph, a.id, parameter_of("factor", b), 0.0)};
    const auto& other = b.cast<const VariableHandle&>();
    if (other.id == a.id) return {a.graph, square(*a.graph, a.id)};
    return joined_by(&product, a, other);
  };
  const auto plus = [](const VariableHandle& a, const py::object& b) -> VariableHandle {
    if (py::isinstance<VariableHandle>(b)) return joined_by(&add, a, b.cast<const VariableHandle&>());
    return {a.graph, affine(*a.graph, a.id, 1.0, parameter_of("term", b))};
  };
  const auto negative = [](const VariableHandle& a) { return handle_of(a.graph, affine(*a.graph, a.id, -1.0, 0.0)); };
  const auto minus = [plus, negative](const VariableHandle& a, const py::object& b) -> VariableHandle {
    if (py::isinstance<VariableHandle>(b)) return plus(a, py::cast(negative(b.cast<const VariableHandle&>())));
    return {a.graph, affine(*a.graph, a.id, 1.0, changed(parameter_of("term", b), [](double x) { return -x; }))};
  };
  const auto over = [](const VariableHandle& a, const py::object& b) -> VariableHandle {
    const auto ratio = [](Graph& g, const Connection& x, const Connection& y, const Destination& result) {
      return apply(g, "ratio", {x, y}, {}, result);
    };
    if (py::isinstance<VariableHandle>(b)) return joined_by(ratio, a, b.cast<const VariableHandle&>());
    const auto inverse = [](double x) {
      if (x == 0) fail("a variable is divided by 0; another number is expected");
      return 1 / x;
    };
    return {a.graph, affine(*a.graph, a.id, changed(parameter_of("divisor", b), inverse), 0.0)};
  };
  const auto under = [](const VariableHandle& a, const py::object& b) {
    const VariableId reciprocal = apply(*a.graph, "reciprocal", {a.id});
    return handle_of(a.graph, affine(*a.graph, reciprocal, parameter_of("number", b), 0.0));
  };
  const auto taken_from = [plus, negative](const VariableHandle& a, const py::object& b) {
    return plus(negative(a), b);
  };
  variable.def("__mul__(other)", "", times)
      .def("__rmul__(other)", "", times)
      .def("__add__(other)", "", plus)
      .def("__radd__(other)", "", plus)
      .def("__neg__()", "", negative)
      .def("__sub__(other)", "", minus)
      .def("__rsub__(other)", "", taken_from)
      .def("__truediv__(other)", "", over)
      .def("__rtruediv__(other)", "", under)
      .def("__pow__(exponent)", "", &power)
      .def("__getitem__(element)", "This element as a new variable.",
           [](const VariableHandle& x, std::uint32_t element) { return chosen(x, {element}); })
      .def("__getitem__(elements)", "These elements, in this order, as a new variable.", &chosen);
  variable.attr("__array_ufunc__") = py::none();  // numpy's numbers leave operators to us
  variable.attr("__iter__") = py::none();         // every element would be a new variable
}

}  // namespace dma::python
