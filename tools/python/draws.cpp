// Draws where the Gaussian of joint() does not fit.
#include "engine/joint/draws.h"

#include <pybind11/stl.h>

#include "engine/compile/plan_data.h"
#include "tools/python/handles.h"

namespace dma::python {

namespace {

struct DrawsHandle {
  JointDraws chains;
  PlanHandle plan;

  using Number = double (JointDraws::*)(VariableId, std::size_t) const;
  py::array_t<double> of_elements(const py::object& variable, Number number) const {
    const VariableId id = id_of(plan, variable);
    std::vector<double> all;
    for (std::size_t i = 0; i < plan.plan->variable(id).elements(); ++i) all.push_back((chains.*number)(id, i));
    return as_array(std::move(all));
  }
};

}  // namespace

void bind_draws(py::module_& module) {
  py::class_<DrawsHandle>(module, "JointDraws", "Draws from the graph's own density, and what they are worth.")
      .def(
          "mean", [](const DrawsHandle& c, const py::object& v) { return c.of_elements(v, &JointDraws::mean); },
          py::arg("variable"), "Mean of every element over all draws.")
      .def(
          "sd", [](const DrawsHandle& c, const py::object& v) { return c.of_elements(v, &JointDraws::sd); },
          py::arg("variable"), "Their standard deviation.")
      .def(
          "draws",
          [](const DrawsHandle& c, const py::object& variable) {
            const VariableId id = id_of(c.plan, variable);
            const std::size_t size = c.plan.plan->variable(id).elements();
            std::vector<double> rows;
            for (std::size_t draw = 0; draw < c.chains.size(); ++draw)
              for (std::size_t i = 0; i < size; ++i) rows.push_back(c.chains(draw, id, i));
            return as_array(std::move(rows),
                            {static_cast<py::ssize_t>(c.chains.size()), static_cast<py::ssize_t>(size)});
          },
          py::arg("variable"), "Draw x element, chain after chain.")
      .def(
          "arrays",
          [](const py::object& self) {
            const auto& c = self.cast<const DrawsHandle&>();
            py::dict all;
            for (std::uint32_t v = 0; v < c.plan.graph->variables().size(); ++v) {
              const Graph::Variable& variable = c.plan.graph->variables()[v];
              if (variable.observed || c.plan.plan->variables[v].eliminated) continue;
              const py::object rows = self.attr("draws")(variable.name);
              const auto elements = rows.attr("shape").cast<std::pair<int, int>>().second;
              all[py::str(variable.name)] = elements == 1 ? rows.attr("reshape")(c.chains.chains, -1)
                                                          : rows.attr("reshape")(c.chains.chains, -1, elements);
            }
            return all;
          },
          "All unknowns by name, chain x draw x element, as `arviz.from_dict` takes them; chain x draw of one element.")
      .def_property_readonly("r_hat", [](const DrawsHandle& c) { return c.chains.r_hat; })
      .def_property_readonly("effective", [](const DrawsHandle& c) { return c.chains.effective; })
      .def_property_readonly("accepted", [](const DrawsHandle& c) { return c.chains.accepted; })
      .def_property_readonly("settled", [](const DrawsHandle& c) { return c.chains.have_settled(); })
      .def("__len__", [](const DrawsHandle& c) { return c.chains.size(); })
      .def("__repr__", [](const DrawsHandle& c) { return c.chains.line(); });
  const DrawOptions usual;
  module.def("draw_posterior",
             when_alone(+[](StateHandle& s, int chains, int warm_up, int draws, int leaps, std::uint64_t seed) {
               const DrawOptions options{chains, warm_up, draws, leaps, seed};
               return DrawsHandle{without_lock([&] { return draw_posterior(s.state, options); }), s.plan};
             }),
             py::arg("state"), py::kw_only(), py::arg("chains") = usual.chains, py::arg("warm_up") = usual.warm_up,
             py::arg("draws") = usual.draws, py::arg("leaps") = usual.leaps, py::arg("seed") = usual.seed,
             "Hamiltonian Monte Carlo from the Gaussian of a run by joint(), where that does not fit.");
}

}  // namespace dma::python
