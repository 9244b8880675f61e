// Models written as expressions (models/graphs/expressions.h): methods of Graph, arithmetic of variables, vectors,
// poses, and graphs that grow.
#include "models/graphs/expressions.h"

#include <pybind11/stl.h>

#include "engine/joint/joint.h"
#include "engine/support/text.h"
#include "models/graphs/graph_file.h"
#include "models/graphs/growing.h"
#include "tools/python/handles.h"

namespace dma::python {

namespace {

using Shared = std::shared_ptr<Graph>;
using MaybeArray = std::optional<Array>;

std::vector<double> row_by_row(const Array& matrix) { return {matrix.data(), matrix.data() + matrix.size()}; }

SpreadMatrix spread_of(const MaybeArray& covariance, const MaybeArray& precision) {
  if (covariance.has_value() == precision.has_value())
    fail("a matrix is expected as covariance=..., or its inverse as precision=...; not both");
  return covariance ? SpreadMatrix::covariance(row_by_row(*covariance))
                    : SpreadMatrix::precision(row_by_row(*precision));
}

ParameterValue variance_of(const char* who, const py::object& variance, const py::object& sd) {
  if (variance.is_none() == sd.is_none())
    fail("{}: {} given; say one of them: sd=0.2 or variance=0.04", who,
         sd.is_none() ? "neither sd nor variance is" : "sd and variance are");
  if (sd.is_none()) return parameter_of("variance", variance);
  ParameterValue value = parameter_of("sd", sd);
  for (double& number : value.numbers) {
    if (!(number > 0)) fail("{}: sd is {}; it must be positive", who, number);
    number *= number;
  }
  return value;
}

struct VectorHandle {
  Shared graph;
  VectorFactor factor;
};

void bind_vectors(py::module_& module, Class<Graph, Shared>& graph) {
  Class<VectorHandle>(module, "VectorFactor", "The factors of a vector's rows.")
      .def("__len__()", "", [](const VectorHandle& v) { return v.factor.rows.size(); })
      .def("__getitem__(row)", "",
           [](const VectorHandle& v, py::ssize_t row) {
             const auto rows = static_cast<py::ssize_t>(v.factor.rows.size());
             if (row < -rows || row >= rows) throw py::index_error();
             return FactorHandle{v.graph, v.factor.rows[static_cast<std::size_t>(row < 0 ? row + rows : row)]};
           })
      .def("set(state, covariance)", "Another covariance, in this state.",
           [](const VectorHandle& v, StateHandle& s, const Array& covariance) {
             v.factor.set(s.state, row_by_row(covariance));
           })
      .def("learn(solver, name, prior, numbers, concentration=1.0)",
           "Its covariance is unknown: adds the hypers name.sd0, ... and correlations name.r10, ... to joint().",
           [](const VectorHandle& v, Joint& solver, const std::string& name, const std::string& prior,
              const std::vector<double>& numbers, double concentration) {
             learn_covariance(solver.options, name, v.factor, HyperPrior::named(prior, numbers), concentration);
           })
      .def("learned(state, name)", "The mean of its covariance, after a run.",
           [](const VectorHandle& v, StateHandle& s, const std::string& name) {
             const std::size_t n = v.factor.rows.size();
             return as_array(learned_covariance(JointPosterior(s.state), name, v.factor), n, n);
           });
  graph
      .def("gaussian_vector_prior(x, mean, *, covariance=None, precision=None)",
           "x ~ N(mean, covariance) for every block of x; the factors of its rows.",
           [](const Shared& g, const Connection& x, const Array& mean, const MaybeArray& covariance,
              const MaybeArray& precision) {
             return VectorHandle{g, gaussian_vector_prior(*g, x, row_by_row(mean), spread_of(covariance, precision))};
           })
      .def("gaussian_vector_noise(x, y, *, covariance=None, precision=None, a=None)",
           "y ~ N(a x, covariance) for every block of y and the one of x at its place; no a: the identity.",
           [](const Shared& g, const Connection& x, const Connection& y, const MaybeArray& covariance,
              const MaybeArray& precision, const MaybeArray& a) {
             return VectorHandle{g, gaussian_vector_noise(*g, x, y, spread_of(covariance, precision),
                                                          a ? row_by_row(*a) : std::vector<double>{})};
           });
}

void bind_processes(py::module_& module, Class<Graph, Shared>& graph) {
  using Prior = std::pair<std::string, std::vector<double>>;
  const auto named = [](const Prior& prior) { return HyperPrior::named(prior.first, prior.second); };
  Class<GaussianProcess>(module, "GaussianProcess", "A variable's elements as values of an unknown function.")
      .def("learn(solver, name, *, sd, length)",
           "Its sd and lengths are unknown: adds the hypers name.sd and name.length to joint(). Priors are pairs, such "
           "as ('half_normal', [2]).",
           [named](const GaussianProcess& process, Joint& solver, const std::string& name, const Prior& sd,
                   const Prior& length) { learn_process(solver.options, name, process, named(sd), named(length)); })
      .def("set(state, *, sd, lengths)", "Other scales, in this state.",
           [](const GaussianProcess& process, StateHandle& s, double sd, const Array& lengths) {
             process.set(s.state, {process.form.shape, sd, row_by_row(lengths)});
           });
  graph.def(
      "gaussian_process(f, places, *, shape='squared_exponential', sd=1.0, lengths=1.0, neighbours=0)",
      "f ~ N(0, K) with the covariance of a function at these places, one row per element; with neighbours, each "
      "element given its nearest ones.",
      [](const Shared& g, const py::object& f, const Array& places, const std::string& shape, double sd,
         const Array& lengths, std::size_t neighbours) {
        return gaussian_process(*g, id_of(*g, f), row_by_row(places), {shape, sd, row_by_row(lengths)}, neighbours);
      });
}

void bind_poses(Class<Graph, Shared>& graph) {
  graph.def("point_prior(x, at, *, covariance=None, precision=None, loss='')",
            "A prior of an angle, rotation, pose2 or pose3; the variable of its residuals.",
            [](const Shared& g, const Connection& x, const Array& at, const MaybeArray& covariance,
               const MaybeArray& precision, const std::string& loss) {
              return handle_of(g,
                               point_prior(*g, x, row_by_row(at), spread_of(covariance, precision), parse_loss(loss)));
            });
  const auto two = [&](const std::string& words, const char* doc, auto measure) {
    graph.def(words + ", measured, *, covariance=None, precision=None, loss='')", doc,
              [measure](const Shared& g, const Connection& a, const Connection& b, const Array& measured,
                        const MaybeArray& covariance, const MaybeArray& precision, const std::string& loss) {
                return handle_of(
                    g, measure(*g, a, b, row_by_row(measured), spread_of(covariance, precision), parse_loss(loss)));
              });
  };
  two("between(a, b", "b as seen from a, of one family of points; the variable of its residuals.", &between);
  two("range(x, p", "The distance from pose x to the point p; the variable of its residuals.", &range);
  two("landmark(x, p", "The point p in the frame of pose x; the variable of its residuals.", &landmark);
  two("bearing(x, p", "The direction to p in the frame of pose x; the variable of its residuals.", &bearing);
}

void bind_growing(py::module_& module) {
  struct Growing : Guarded {
    Growing(const Registry& registry, GrowingOptions options)
        : Guarded("growing graph"), whole(registry, std::move(options)) {}
    VariableId of(const py::object& variable) { return id_of(whole.graph(), variable); }
    GrowingGraph whole;
  };
  using SharedGrowing = std::shared_ptr<Growing>;
  using Maybe = std::optional<std::size_t>;
  Class<Growing, SharedGrowing>(module, "GrowingGraph", "A graph that grows, solved over its last steps.")
      .init("lag=10, remember=None, registry=None, discrete_lag=None",
            [](std::size_t lag, Maybe remember, const py::object& registry, Maybe discrete_lag) {
              return std::make_shared<Growing>(
                  registry_or_built_in(registry),
                  GrowingOptions{.lag = lag, .remember = remember, .discrete_lag = discrete_lag});
            })
      .get("graph", "The graph, to add variables and factors to.",
           [](const SharedGrowing& g) { return Shared(g, &g->whole.graph()); })
      .get("compiled", "Number of graphs that were compiled.", [](const Growing& g) { return g.whole.compiled(); })
      .def("observe(variable, values)", "A number for every element of an observed variable.",
           [](Growing& g, const py::object& variable, const Array& values) {
             g.whole.observe(g.of(variable), span_of(values));
           })
      .def("start(variable, values)", "Sets the starting values of the solver for a new variable.",
           [](Growing& g, const py::object& variable, const Array& values) {
             g.whole.start(g.of(variable), span_of(values));
           })
      .def("update()", "Solves the window with what is new, and lets go of what is older than the lag.",
           [](Growing& g) { return g.whole.update(); })
      .def("belief(variable)",
           "Given everything so far, or when it left the window; forgotten `remember` updates later, by default `lag`.",
           [](Growing& g, const py::object& variable) {
             return std::make_shared<Belief>(g.whole.belief(g.of(variable)));
           });
}

}  // namespace

void bind_expressions(py::module_& module, Class<Graph, Shared>& graph) {
  graph.def("square(x, result=None)", "x squared, element by element.", of_graph(&square))
      .def("exponential(x, result=None)", "exp(x), element by element.", of_graph(&exponential))
      .def("product(x, y, result=None)", "x times y, element by element.", of_graph(&product))
      .def("add(x, y, result=None)", "x plus y, element by element.", of_graph(&add))
      .def("max(x, y, result=None)", "The larger of x and y, element by element.", of_graph(&max))
      .def("affine(x, a, b, result=None)", "a x + b, element by element.", of_graph(&affine))
      .def("leaky_relu(x, slope, result=None)", "x, or slope x where it is negative.", of_graph(&leaky_relu))
      .def("sum(x, result=None)", "The sum of all elements of x.", of_graph(&sum))
      .def("sum_rows(x, rows, result=None)", "The sum of each row of x, which holds so many rows.", of_graph(&sum_rows))
      .def("matrix_product(w, x, result=None)", "W x, where w is W row after row.", of_graph(&matrix_product))
      .def("linear(x, a, b=0.0, result=None)", "A x + b, where A is known.",
           [](const Shared& g, VariableId x, const Array& a, const ParameterValue& b, const Destination& result) {
             return handle_of(g, linear(*g, x, row_by_row(a), b, result));
           })
      .def("gaussian_prior(x, mean, *, variance=None, sd=None)", "x ~ N(mean, variance), or N(mean, sd^2); returns x.",
           [](const Shared& g, VariableId x, const py::object& mean, const py::object& variance, const py::object& sd) {
             const ParameterValue spread = variance_of("gaussian_prior", variance, sd);
             return handle_of(g, gaussian_prior(*g, x, parameter_of("mean", mean), spread));
           })
      .def("gaussian_noise(x, result=None, *, variance=None, sd=None)", "The result is N(x, variance), or N(x, sd^2).",
           [](const Shared& g, const Connection& x, const Destination& result, const py::object& variance,
              const py::object& sd) {
             return handle_of(g, gaussian_noise(*g, x, variance_of("gaussian_noise", variance, sd), result));
           });
  def(module, "exp(x)", "exp(x) of a variable, element by element.",
      [](const VariableHandle& x) { return handle_of(x.graph, exponential(*x.graph, x.id)); });
  def(module, "log(x)", "log(x) of a variable above 0, element by element.",
      [](const VariableHandle& x) { return handle_of(x.graph, apply(*x.graph, "logarithm", {x.id})); });
  bind_vectors(module, graph);
  bind_processes(module, graph);
  bind_poses(graph);
  bind_growing(module);
}

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
