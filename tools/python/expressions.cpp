// Models written as expressions (models/graphs/expressions.h), as methods of Graph: g.product(x, y).
#include <pybind11/stl.h>

#include "engine/joint/joint.h"
#include "engine/support/error.h"
#include "models/graphs/growing.h"
#include "models/graphs/poses.h"
#include "models/graphs/vectors.h"
#include "tools/python/handles.h"

namespace dma::python {

namespace {

using Shared = std::shared_ptr<Graph>;

std::vector<double> row_by_row(const Array& matrix) { return {matrix.data(), matrix.data() + matrix.size()}; }

SpreadMatrix spread_of(const std::optional<Array>& covariance, const std::optional<Array>& precision) {
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

void bind_vectors(py::module_& module, py::class_<Graph, Shared>& graph) {
  py::class_<VectorHandle>(module, "VectorFactor", "The factors of a vector's rows.")
      .def("__len__", [](const VectorHandle& v) { return v.factor.rows.size(); })
      .def("__getitem__",
           [](const VectorHandle& v, py::ssize_t row) {
             const auto rows = static_cast<py::ssize_t>(v.factor.rows.size());
             if (row < -rows || row >= rows) throw py::index_error();
             return FactorHandle{v.graph, v.factor.rows[static_cast<std::size_t>(row < 0 ? row + rows : row)]};
           })
      .def(
          "set",
          [](const VectorHandle& v, StateHandle& s, const Array& covariance) {
            const Alone alone(s);
            v.factor.set(s.state, row_by_row(covariance));
          },
          py::arg("state"), py::arg("covariance"), "Another covariance, in this state.")
      .def(
          "learn",
          [](const VectorHandle& v, Joint& solver, const std::string& name, const std::string& prior,
             const std::vector<double>& numbers, double concentration) {
            learn_covariance(solver.options, name, v.factor, HyperPrior::named(prior, numbers), concentration);
          },
          py::arg("solver"), py::arg("name"), py::arg("prior"), py::arg("numbers"), py::arg("concentration") = 1.0,
          "Its covariance is unknown: adds the hypers name.sd0, ... and correlations name.r10, ... to joint().")
      .def(
          "learned",
          [](const VectorHandle& v, StateHandle& s, const std::string& name) {
            const Alone alone(s);
            const auto n = static_cast<py::ssize_t>(v.factor.rows.size());
            const std::vector<double> mean = learned_covariance(JointPosterior(s.state), name, v.factor);
            return py::array_t<double>({n, n}, mean.data());
          },
          py::arg("state"), py::arg("name"), "The mean of its covariance, after a run.");
  graph
      .def(
          "gaussian_vector_prior",
          [](const Shared& g, const py::object& x, const Array& mean, const std::optional<Array>& covariance,
             const std::optional<Array>& precision) {
            return VectorHandle{
                g, gaussian_vector_prior(*g, connection_of(x), row_by_row(mean), spread_of(covariance, precision))};
          },
          py::arg("x"), py::arg("mean"), py::kw_only(), py::arg("covariance") = py::none(),
          py::arg("precision") = py::none(), "x ~ N(mean, covariance) for every block of x; the factors of its rows.")
      .def(
          "gaussian_vector_noise",
          [](const Shared& g, const py::object& x, const py::object& y, const std::optional<Array>& covariance,
             const std::optional<Array>& precision, const std::optional<Array>& a) {
            return VectorHandle{
                g, gaussian_vector_noise(*g, connection_of(x), connection_of(y), spread_of(covariance, precision),
                                         a ? row_by_row(*a) : std::vector<double>{})};
          },
          py::arg("x"), py::arg("y"), py::kw_only(), py::arg("covariance") = py::none(),
          py::arg("precision") = py::none(), py::arg("a") = py::none(),
          "y ~ N(a x, covariance) for every block of y and the one of x at its place; no a: the identity.");
}

void bind_poses(py::class_<Graph, Shared>& graph) {
  const auto of = [](const Shared& g, VariableId id) { return VariableHandle{g, id}; };
  graph.def(
      "point_prior",
      [of](const Shared& g, const py::object& x, const Array& at, const std::optional<Array>& covariance,
           const std::optional<Array>& precision, const std::string& loss) {
        return of(
            g, point_prior(*g, connection_of(x), row_by_row(at), spread_of(covariance, precision), parse_loss(loss)));
      },
      py::arg("x"), py::arg("at"), py::kw_only(), py::arg("covariance") = py::none(), py::arg("precision") = py::none(),
      py::arg("loss") = "", "A prior of an angle, rotation, pose2 or pose3; the variable of its residuals.");
  const auto two = [&](const char* name, auto measure, const char* first, const char* second, const char* words) {
    graph.def(
        name,
        [of, measure](const Shared& g, const py::object& a, const py::object& b, const Array& measured,
                      const std::optional<Array>& covariance, const std::optional<Array>& precision,
                      const std::string& loss) {
          return of(g, measure(*g, connection_of(a), connection_of(b), row_by_row(measured),
                               spread_of(covariance, precision), parse_loss(loss)));
        },
        py::arg(first), py::arg(second), py::arg("measured"), py::kw_only(), py::arg("covariance") = py::none(),
        py::arg("precision") = py::none(), py::arg("loss") = "", words);
  };
  two("between", &between, "a", "b", "b as seen from a, of one family of points; the variable of its residuals.");
  two("range", &range, "x", "p", "The distance from pose x to the point p; the variable of its residuals.");
  two("landmark", &landmark, "x", "p", "The point p in the frame of pose x; the variable of its residuals.");
  two("bearing", &bearing, "x", "p", "The direction to p in the frame of pose x; the variable of its residuals.");
}

void bind_growing(py::module_& module) {
  struct Growing : Guarded {
    Growing(Registry registry, GrowingOptions options)
        : Guarded("growing graph"), whole(std::move(registry), std::move(options)) {}
    GrowingGraph whole;
  };
  using SharedGrowing = std::shared_ptr<Growing>;
  py::class_<Growing, SharedGrowing>(module, "GrowingGraph", "A graph that grows, solved over its last steps.")
      .def(py::init([](std::size_t lag, std::optional<std::size_t> remember, const py::object& registry,
                       std::optional<std::size_t> discrete_lag) {
             return std::make_shared<Growing>(
                 registry_or_built_in(registry),
                 GrowingOptions{.lag = lag, .remember = remember, .discrete_lag = discrete_lag});
           }),
           py::arg("lag") = 10, py::arg("remember") = py::none(), py::arg("registry") = py::none(),
           py::arg("discrete_lag") = py::none())
      .def_property_readonly("graph", [](const SharedGrowing& g) { return Shared(g, &g->whole.graph()); })
      .def_property_readonly("compiled", [](const Growing& g) { return g.whole.compiled(); })
      .def("observe", when_alone(+[](Growing& g, const py::object& variable, const Array& values) {
             g.whole.observe(id_of(g.whole.graph(), variable), span_of(values));
           }),
           py::arg("variable"), py::arg("values"), "A number for every element of an observed variable.")
      .def("start", when_alone(+[](Growing& g, const py::object& variable, const Array& values) {
             g.whole.start(id_of(g.whole.graph(), variable), span_of(values));
           }),
           py::arg("variable"), py::arg("values"), "Where a new variable is looked for first.")
      .def("update", when_alone(+[](Growing& g) { return g.whole.update(); }),
           "Solves the window with what is new, and lets go of what is older than the lag.")
      .def(
          "belief", when_alone(+[](Growing& g, const py::object& variable) {
            return std::make_shared<Belief>(g.whole.belief(id_of(g.whole.graph(), variable)));
          }),
          py::arg("variable"),
          "Given everything so far, or when it left the window; forgotten `remember` updates later, by default `lag`.");
}

}  // namespace

void bind_expressions(py::module_& module, py::class_<Graph, std::shared_ptr<Graph>>& graph) {
  const auto one = [&graph](const char* name, auto function, const char* words) {
    graph.def(
        name,
        [function](const Shared& g, const py::object& x, const py::object& result) {
          return VariableHandle{g, function(*g, connection_of(x), result_of(result))};
        },
        py::arg("x"), py::arg("result") = py::none(), words);
  };
  const auto two = [&graph](const char* name, auto function, const char* words) {
    graph.def(
        name,
        [function](const Shared& g, const py::object& x, const py::object& y, const py::object& result) {
          return VariableHandle{g, function(*g, connection_of(x), connection_of(y), result_of(result))};
        },
        py::arg("x"), py::arg("y"), py::arg("result") = py::none(), words);
  };
  one("square", &square, "x squared, element by element.");
  one("exponential", &exponential, "exp(x), element by element.");
  two("product", &product, "x times y, element by element.");
  two("add", &add, "x plus y, element by element.");
  two("max", &max, "The larger of x and y, element by element.");
  graph
      .def(
          "gaussian_prior",
          [](const Shared& g, const VariableHandle& x, const py::object& mean, const py::object& variance,
             const py::object& sd) {
            return VariableHandle{
                g, gaussian_prior(*g, x.id, parameter_of("mean", mean), variance_of("gaussian_prior", variance, sd))};
          },
          py::arg("x"), py::arg("mean"), py::kw_only(), py::arg("variance") = py::none(), py::arg("sd") = py::none(),
          "x ~ N(mean, variance), or N(mean, sd^2); returns x.")
      .def(
          "gaussian_noise",
          [](const Shared& g, const py::object& x, const py::object& result, const py::object& variance,
             const py::object& sd) {
            return VariableHandle{g, gaussian_noise(*g, connection_of(x), variance_of("gaussian_noise", variance, sd),
                                                    result_of(result))};
          },
          py::arg("x"), py::arg("result") = py::none(), py::kw_only(), py::arg("variance") = py::none(),
          py::arg("sd") = py::none(), "The result is N(x, variance), or N(x, sd^2).")
      .def(
          "affine",
          [](const Shared& g, const py::object& x, const py::object& a, const py::object& b, const py::object& result) {
            return VariableHandle{
                g, affine(*g, connection_of(x), parameter_of("a", a), parameter_of("b", b), result_of(result))};
          },
          py::arg("x"), py::arg("a"), py::arg("b"), py::arg("result") = py::none(), "a x + b, element by element.")
      .def(
          "leaky_relu",
          [](const Shared& g, const py::object& x, const py::object& slope, const py::object& result) {
            return VariableHandle{g, leaky_relu(*g, connection_of(x), parameter_of("slope", slope), result_of(result))};
          },
          py::arg("x"), py::arg("slope"), py::arg("result") = py::none(), "x, or slope x where it is negative.")
      .def(
          "sum",
          [](const Shared& g, const VariableHandle& x, const py::object& result) {
            return VariableHandle{g, sum(*g, x.id, result_of(result))};
          },
          py::arg("x"), py::arg("result") = py::none(), "The sum of all elements of x.")
      .def(
          "sum_rows",
          [](const Shared& g, const VariableHandle& x, std::size_t rows, const py::object& result) {
            return VariableHandle{g, sum_rows(*g, x.id, rows, result_of(result))};
          },
          py::arg("x"), py::arg("rows"), py::arg("result") = py::none(), "Of x as so many rows: the sum of each.")
      .def(
          "linear",
          [](const Shared& g, const VariableHandle& x, const Array& a, const py::object& b, const py::object& result) {
            return VariableHandle{
                g, linear(*g, x.id, {a.data(), a.data() + a.size()}, parameter_of("b", b), result_of(result))};
          },
          py::arg("x"), py::arg("a"), py::arg("b") = 0.0, py::arg("result") = py::none(), "A x + b, where A is known.")
      .def(
          "matrix_product",
          [](const Shared& g, const VariableHandle& w, const VariableHandle& x, const py::object& result) {
            return VariableHandle{g, matrix_product(*g, w.id, x.id, result_of(result))};
          },
          py::arg("w"), py::arg("x"), py::arg("result") = py::none(), "W x, where w is W row after row.");
  module.def(
      "exp",
      [](const VariableHandle& x) {
        return VariableHandle{x.graph, exponential(*x.graph, x.id)};
      },
      py::arg("x"), "exp(x) of a variable, element by element.");
  module.def(
      "log",
      [](const VariableHandle& x) {
        return VariableHandle{x.graph, apply(*x.graph, "logarithm", {x.id})};
      },
      py::arg("x"), "log(x) of a variable above 0, element by element.");
  bind_vectors(module, graph);
  bind_poses(graph);
  bind_growing(module);
}

}  // namespace dma::python
