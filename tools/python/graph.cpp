// Graph, its variables and factors, index maps, and models written as expressions.
#include <fmt/format.h>
#include <pybind11/stl.h>

#include "engine/inspect/inspect.h"
#include "engine/joint/joint.h"
#include "engine/support/text.h"
#include "factors/standard_registry.h"
#include "models/graphs/expressions.h"
#include "models/graphs/function_kinds.h"
#include "models/graphs/graph_file.h"
#include "tools/dma/pictures/graphviz.h"
#include "tools/python/handles.h"

namespace dma::python {

VariableId id_of(const Graph& graph, const py::object& variable) {
  if (py::isinstance<VariableHandle>(variable)) return variable.cast<const VariableHandle&>().id;
  if (py::isinstance<py::str>(variable)) return graph.find_variable(variable.cast<std::string>());
  fail("{} is given; a variable or its name is expected", shown(variable));
}
std::vector<VariableId> ids_of(const Graph& graph, const std::vector<py::object>& variables) {
  std::vector<VariableId> ids;
  for (const py::object& variable : variables) ids.push_back(id_of(graph, variable));
  return ids;
}
FactorId factor_of(const PlanHandle& plan, const py::object& factor) {
  if (py::isinstance<FactorHandle>(factor)) return factor.cast<const FactorHandle&>().id;
  if (py::isinstance<py::str>(factor)) return plan.graph->find_factor(factor.cast<std::string>());
  fail("{} is given; a factor or its name is expected", shown(factor));
}

ParameterValue parameter_of(const std::string& name, py::handle value) {
  const Array numbers = numbers_in(value);
  if (!numbers) fail("parameter '{}': {} is given; a number, or an array of numbers, is expected", name, shown(value));
  if (numbers.ndim() == 0) return *numbers.data();
  return std::vector<double>(numbers.data(), numbers.data() + numbers.size());
}

const Registry& built_in_kinds() {
  static const Registry registry = [] {
    Registry all = standard_registry();
    all.add(ratio_kind());
    all.add(reciprocal_kind());
    all.add(logarithm_kind());
    return all;
  }();
  return registry;
}

const Registry& registry_or_built_in(const py::object& registry) {
  return registry.is_none() ? built_in_kinds() : registry.cast<const Registry&>();
}

Registry registry_with(const py::object& registry, const std::vector<Kind>& kinds) {
  Registry known = registry_or_built_in(registry);
  for (const Kind& kind : kinds) known.add(kind);
  return known;
}

std::string advised(std::string error, const Graph& graph, const Registry& known) {
  const bool lacks_kind =
      std::ranges::any_of(graph.factors(), [&](const Graph::Factor& factor) { return !known.contains(factor.kind); });
  if (lacks_kind) return error + "; a kind of your own is given as kinds=[...]";
  if (error.find("method '") == error.npos && error.find("no method of") == error.npos) return error;
  return error + "; kind_methods={\"kind\": \"method\"} gives one kind another";
}

py::object svg_of(const std::string& dot) {
  std::string why;
  const std::string drawn = without_lock([&] { return plot::graph_picture(dot, "svg", why); });
  if (drawn.empty()) return py::none();
  return py::str(drawn.substr(drawn.find("<svg")));
}

VariableId variable_of(py::handle variable) {
  if (py::isinstance<VariableHandle>(variable)) return variable.cast<const VariableHandle&>().id;
  fail("{} is given where a variable is expected", shown(variable));
}

Connection connection_of(py::handle end) {
  py::detail::type_caster_base<Connection> there;
  if (there.load(end, false)) return static_cast<Connection&>(there);
  if (py::isinstance<VariableHandle>(end)) return end.cast<const VariableHandle&>().id;
  fail(
      "{} is given where a variable is expected, or row(v), column(v), all_to_one(v), gather(v, table), shift(v) of "
      "one",
      shown(end));
}

Destination result_of(py::handle into) {
  if (into.is_none()) return {};
  if (py::isinstance<py::str>(into)) return into.cast<std::string>();
  if (py::isinstance<VariableHandle>(into)) return into.cast<const VariableHandle&>().id;
  fail("{} is given as a result; a variable, or the name of a new one, is expected", shown(into));
}

namespace {

using Shared = std::shared_ptr<Graph>;

ParameterList parameters_of(const py::kwargs& given) {
  ParameterList list;
  for (const auto& [name, value] : given) {
    const auto text = name.cast<std::string>();
    list.push_back({text, parameter_of(text, value)});
  }
  return list;
}

// Variables with the values, or the names of values, that a factor counts at.
std::vector<GateCase> cases_of(const Graph& graph, const py::dict& when) {
  std::vector<GateCase> cases;
  for (const auto& [variable, value] : when) {
    const VariableId id = id_of(graph, py::reinterpret_borrow<py::object>(variable));
    if (py::isinstance<py::str>(value)) {
      cases.push_back(graph.gate_case(id, graph.category(id, value.cast<std::string>())));
      continue;
    }
    const Array number = numbers_in(value);
    if (!number || number.size() != 1)
      fail("when: {} is given for '{}'; a value of it, such as 1, is expected", shown(value), graph.name(id));
    cases.push_back(graph.gate_case(id, *number.data()));
  }
  return cases;
}

// A list in the order of the ports, or a dictionary by their names.
std::vector<Connection> connections_of(const py::object& ends) {
  std::vector<Connection> connections;
  if (py::isinstance<py::dict>(ends)) {
    for (const auto& [port, end] : ends.cast<py::dict>())
      connections.emplace_back(port.cast<std::string>(), connection_of(end));
  } else if (py::isinstance<VariableHandle>(ends) || py::isinstance<Connection>(ends)) {
    connections.push_back(connection_of(ends));
  } else if (py::isinstance<py::iterable>(ends)) {
    for (const py::handle end : ends) connections.push_back(connection_of(end));
  } else {
    fail("{} is given; a variable, a list of them, or a dictionary by ports is expected", shown(ends));
  }
  return connections;
}

VariableHandle apply_kind(const Shared& g, const std::string& kind, const py::object& inputs, const Destination& result,
                          const py::kwargs& parameters) {
  const auto ends = connections_of(inputs);
  const auto add = [&](const auto&... end) { return apply(*g, kind, {end...}, parameters_of(parameters), result); };
  if (ends.size() == 1) return {g, add(ends[0])};
  if (ends.size() == 2) return {g, add(ends[0], ends[1])};
  if (ends.size() == 3) return {g, add(ends[0], ends[1], ends[2])};
  fail("apply: {} inputs are given; 1 to 3 are expected, use factor() for others", ends.size());
}

std::string name_of_new(const py::object& name) {
  if (!py::isinstance<py::str>(name)) fail("{} is given as the name of a variable; text is expected", shown(name));
  return name.cast<std::string>();
}

std::size_t size_of_new(const std::string& name, const py::object& size) {
  const bool is_whole = PyIndex_Check(size.ptr()) != 0;
  const long long number = is_whole ? PyLong_AsLongLong(py::int_(size).ptr()) : -1;
  if (number >= 0) return static_cast<std::size_t>(number);
  PyErr_Clear();
  fail("variable '{}' has size {}; a whole number of elements, 1 at least, is expected", name, shown(size));
}

std::string text_of(const VariableHandle& v) {
  const Graph::Variable& variable = (*v.graph)[v.id];
  return fmt::format("<dma.Variable {}[{}]{}>", variable.name, variable.size, variable.observed ? " observed" : "");
}

void bind_handles(py::module_& module) {
  Class<VariableHandle> variable(module, "Variable", "A variable of a graph: an array of scalars.");
  variable.get("name", "Its own, or one with a number.",
               [](const VariableHandle& v) { return (*v.graph)[v.id].name.text(); })
      .get("size", "Number of elements.", [](const VariableHandle& v) { return (*v.graph)[v.id].size; })
      .get("family", "The family of its elements, such as gaussian or categorical(3).",
           [](const VariableHandle& v) {
             const std::string family((*v.graph)[v.id].family);
             return family.empty() ? std::string(kGaussian) : family;
           })
      .get("observed", "Whether each state is given its values.",
           [](const VariableHandle& v) { return (*v.graph)[v.id].observed; })
      .def("__len__()", "", [](const VariableHandle& v) { return (*v.graph)[v.id].size; })
      .def("__repr__()", "", &text_of)
      .def_property(
          "categories",
          [](const VariableHandle& v) {
            const auto names = v.graph->categories(v.id);
            return std::vector<std::string>(names.begin(), names.end());
          },
          [](const VariableHandle& v, std::vector<std::string> names) {
            v.graph->name_categories(v.id, std::move(names));
          },
          "The names of its values 0, 1, ...");
  bind_operators(variable);
  Class<FactorHandle>(module, "Factor", "A factor of a graph: a plate of them.")
      .get("name", "Its own, or the kind with a number.", [](const FactorHandle& f) { return (*f.graph)[f.id].name(); })
      .get("kind", "The name of its kind.", [](const FactorHandle& f) { return (*f.graph)[f.id].kind; })
      .def("__repr__()", "",
           [](const FactorHandle& f) { return fmt::format("<dma.Factor {}>", (*f.graph)[f.id].name()); });
  Class<Connection>(module, "Connection", "How the slots of a factor reach the elements of a variable.");
  def(module, "row(variable)", "Slot i of a plate of r x c reaches element i / c: the row.", &row);
  def(module, "column(variable)", "Slot i of a plate of r x c reaches element i % c: the column.", &column);
  def(module, "all_to_one(variable)", "All slots reach the one element.", &all_to_one);
  def(module, "gather(variable, table)", "Slot i reaches element table[i].", &gather);
  def(module, "given(variable, entries=1)", "The elements are given to each state, by State.set_table.", &given);
  def(module, "shift(variable, lag=1)", "Slot t reaches element t - lag: the step before.", &shift);
}

std::string graph_as_text(const Graph& graph) {
  GraphFile file;
  file.graph = graph;
  return graph_text(file);
}

py::object picture_of(const Graph& g) {
  for (const Graph::Factor& factor : g.factors())
    if (!built_in_kinds().contains(factor.kind)) return py::none();  // a plan knows its registry
  return svg_of(to_dot(g, built_in_kinds()));
}

// A graph and what is observed in it, from text in the format of `dma infer`.
void bind_files(py::module_& module) {
  struct Parsed {
    Shared graph;
    py::dict observations, starts;
    GraphFile file;  // its graph is the one above
  };
  const auto values = [](const Graph& graph, const std::vector<GraphFile::Observation>& all) {
    py::dict named;
    for (const GraphFile::Observation& one : all) named[py::str(graph[one.variable].name.text())] = one.values;
    return named;
  };
  Class<Parsed>(module, "ParsedGraph", "The contents of a file of `dma infer`.")
      .get("graph", "", &Parsed::graph)
      .get("observations", "Values by variable.", &Parsed::observations)
      .get("starts", "Values from which joint() starts, by variable.", &Parsed::starts)
      .get("description", "", [](const Parsed& p) { return p.file.description; })
      .get("schedule", "", [](const Parsed& p) { return p.file.schedule; })
      .get("method", "", [](const Parsed& p) { return p.file.method; })
      .get("hypers", "Names of the parameters that are unknown.",
           [](const Parsed& p) {
             std::vector<std::string> names;
             for (const Hyper& hyper : p.file.hypers) names.push_back(hyper.name);
             for (const auto& covariance : p.file.covariances) names.push_back(covariance.name);
             return names;
           })
      .def("add_hypers(solver)", "The parameters that the file says are unknown, to joint().",
           [](const Parsed& p, Joint& solver) { p.file.add_hypers(solver.options); });
  def(module, "parse_graph(text, observe={})", "A graph from text in the format of `dma infer`: JSON, BIF, UAI or g2o.",
      [values](const std::string& text, const std::map<std::string, std::string>& observe) {
        std::vector<GivenText> given;
        for (const auto& [name, value] : observe) given.push_back({name, value});
        GraphFile file = parse_graph(text, given);
        const Shared graph = std::make_shared<Graph>(std::exchange(file.graph, {}));
        return Parsed{graph, values(*graph, file.observations), values(*graph, file.starts), std::move(file)};
      });
  const char* const same = "The text that parse_graph and `dma infer` read as the same graph, digit by digit.";
  def(module, "graph_text(graph)", same, &graph_as_text);
  def(module, "graph_text(graph)", same, [](const Parsed& p) {
    GraphFile file = p.file;
    file.graph = *p.graph;
    return graph_text(file);
  });
}

template <class Handle, class Nodes, class Id>
std::vector<Handle> handles_of(const Shared& g, const Nodes& nodes, Id id) {
  std::vector<Handle> all;
  for (std::uint32_t i = 0; i < nodes.size(); ++i) all.push_back({g, ((*g).*id)(i)});
  return all;
}

}  // namespace

void bind_graph(py::module_& module) {
  bind_handles(module);
  Class<Graph, Shared> graph(module, "Graph", "A model as its author writes it: variables, and factors between them.");
  const auto adds = [&](const std::string& name, const char* doc, auto method) {
    graph.def(name + "(name='', size=1, family='')", doc,
              [method](const Shared& g, const py::object& given, const py::object& size, const std::string& family) {
                const std::string text = name_of_new(given);
                return handle_of(g, ((*g).*method)(text, size_of_new(text, size), family));
              });
  };
  adds("variable", "A new variable: an array of so many scalars of one family.", &Graph::variable);
  adds("observed", "A new variable whose values each state is given.", &Graph::observed);
  adds("shared", "A new variable that all examples of a learner share.", &Graph::shared);
  graph.init("", [] { return std::make_shared<Graph>(); })
      .def("factor(kind, connections, *, name='', method='', damping=None, when={}, **parameters)",
           "A new factor of a kind; connections by a list in the order of its ports, or a dictionary by their names. "
           "With when={variable: value} it counts only there.",
           [](const Shared& g, const std::string& kind, const py::object& connections, const std::string& name,
              const std::string& method, std::optional<double> damping, const py::dict& when,
              const py::kwargs& parameters) {
             return handle_of(g, g->factor(kind, connections_of(connections), parameters_of(parameters),
                                           {name, method, damping, cases_of(*g, when)}));
           })
      .def("apply(kind, inputs, result=None, **parameters)",
           "A factor of a kind whose output is a new variable, or the result that is named.", &apply_kind)
      .get("variables", "All of them.",
           [](const Shared& g) { return handles_of<VariableHandle>(g, g->variables(), &Graph::variable_id); })
      .get("factors", "All of them.",
           [](const Shared& g) { return handles_of<FactorHandle>(g, g->factors(), &Graph::factor_id); })
      .def("__getitem__(name)", "The variable of this name.",
           [](const Shared& g, const std::string& name) { return handle_of(g, g->find_variable(name)); })
      .def("dot(registry=None)", "The picture as text for Graphviz.",
           [](const Graph& g, const py::object& registry) { return to_dot(g, registry_or_built_in(registry)); })
      .def("describe()", "All variables and factors as text.", [](const Graph& g) { return describe(g); })
      .def("__deepcopy__(memo)", "", [](const Graph& g, const py::dict&) { return std::make_shared<Graph>(g); })
      .def("__repr__()", "",
           [](const Graph& g) {
             return fmt::format("<dma.Graph: {} variables, {} factors>", g.variables().size(), g.factors().size());
           })
      .def("_repr_svg_()", "", &picture_of)
      .def("_repr_html_()", "",
           [](const Graph& g) {
             const py::object drawn = picture_of(g);
             return drawn.is_none() ? html_of(describe(g)) : drawn.cast<std::string>();
           })
      .pickled(&graph_as_text,
               [](const std::string& text) { return std::make_shared<Graph>(parse_graph(text).graph); });
  bind_expressions(module, graph);
  bind_files(module);
}

}  // namespace dma::python
