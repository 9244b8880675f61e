// Draws where the Gaussian of joint() does not fit.
#include "engine/joint/draws.h"

#include <fmt/format.h>
#include <pybind11/stl.h>

#include "engine/compile/plan_data.h"
#include "tools/python/handles.h"

namespace dma::python {

namespace {

struct DrawsHandle {
  JointDraws chains;
  PlanHandle plan;

  std::size_t elements(VariableId id) const { return plan.plan->variable(id).elements(); }
  py::array_t<double> rows(VariableId id) const {
    const std::size_t size = elements(id);
    std::vector<double> all(chains.size() * size);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = chains(i / size, id, i % size);
    return as_array(std::move(all), chains.size(), size);
  }
};

auto of_elements(double (JointDraws::*number)(VariableId, std::size_t) const) {
  return [number](const DrawsHandle& c, const py::object& variable) {
    const VariableId id = id_of(c.plan, variable);
    return array_by(c.elements(id), [&](std::size_t i) { return (c.chains.*number)(id, i); });
  };
}

}  // namespace

void bind_draws(py::module_& module) {
  Class<DrawsHandle>(module, "JointDraws", "Draws from the graph's own density, and what they are worth.")
      .def("mean(variable)", "Mean of every element over all draws.", of_elements(&JointDraws::mean))
      .def("sd(variable)", "Their standard deviation.", of_elements(&JointDraws::sd))
      .def("draws(variable)", "Draw x element, chain after chain.",
           [](const DrawsHandle& c, const py::object& variable) { return c.rows(id_of(c.plan, variable)); })
      .def(
          "arrays()",
          "All unknowns by name, chain x draw x element, as `arviz.from_dict` takes them; chain x draw of one element.",
          [](const DrawsHandle& c) {
            py::dict all;
            for (std::uint32_t v = 0; v < c.plan.graph->variables().size(); ++v) {
              const Graph::Variable& variable = c.plan.graph->variables()[v];
              if (variable.observed || c.plan.plan->variables[v].eliminated) continue;
              const VariableId id = c.plan.graph->variable_id(v);
              py::object rows = c.rows(id);
              if (c.elements(id) == 1)
                rows = rows.attr("reshape")(c.chains.chains, -1);
              else
                rows = rows.attr("reshape")(c.chains.chains, -1, c.elements(id));
              all[py::str(variable.name)] = rows;
            }
            return all;
          })
      .get("r_hat", "", [](const DrawsHandle& c) { return c.chains.r_hat; })
      .get("effective", "", [](const DrawsHandle& c) { return c.chains.effective; })
      .get("accepted", "", [](const DrawsHandle& c) { return c.chains.accepted; })
      .get("settled", "", [](const DrawsHandle& c) { return c.chains.have_settled(); })
      .def("__len__()", "", [](const DrawsHandle& c) { return c.chains.size(); })
      .def("__repr__()", "", [](const DrawsHandle& c) { return c.chains.line(); });
  const DrawOptions usual;
  def(module,
      fmt::format("draw_posterior(state, *, chains={}, warm_up={}, draws={}, leaps={}, seed={})", usual.chains,
                  usual.warm_up, usual.draws, usual.leaps, usual.seed),
      "Hamiltonian Monte Carlo from the Gaussian of a run by joint(), where that does not fit.",
      [](StateHandle& s, int chains, int warm_up, int draws, int leaps, std::uint64_t seed) {
        const DrawOptions options{chains, warm_up, draws, leaps, seed};
        return DrawsHandle{without_lock([&] { return draw_posterior(s.state, options); }), s.plan};
      });
}

}  // namespace dma::python
