// The results of a run: beliefs, reports, evidence, the joint posterior, tables of the exact one.
#include <fmt/format.h>
#include <pybind11/stl.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "engine/compile/plan_data.h"
#include "engine/exact/exact.h"
#include "engine/inspect/inspect.h"
#include "engine/joint/joint.h"
#include "engine/run/run.h"
#include "engine/support/text.h"
#include "models/decisions/decision.h"
#include "tools/python/handles.h"

namespace dma::python {

namespace {

// Elements, or elements x categories where a family has several numbers for each.
py::array_t<double> shaped(const Belief& belief, std::vector<double> values) {
  const auto components = static_cast<py::ssize_t>(belief.family().components());
  if (components == 1) return as_array(std::move(values));
  return as_array(std::move(values), {static_cast<py::ssize_t>(belief.size()), components});
}

std::string table_of(const Belief& belief) {
  constexpr std::size_t kShown = 50;
  std::string html = "<table><tr><th>element</th><th>belief</th></tr>";
  for (std::size_t i = 0; i < std::min(belief.size(), kShown); ++i)
    html += fmt::format("<tr><td>{}</td><td>{}</td></tr>", i, html_of(belief.family()->text(belief.message(i))));
  if (belief.size() > kShown) html += fmt::format("<tr><td colspan=2>and {} more</td></tr>", belief.size() - kShown);
  return html + "</table>";
}

// At most about 1,000 characters.
std::string short_text(const Belief& belief) {
  constexpr std::size_t kMost = 1000;
  std::string text = belief.text();
  if (text.size() <= kMost) return text;
  text.resize(text.rfind(", ", kMost));
  return fmt::format("{}, ... ({} elements)", text, belief.size());
}

py::array_t<double> sd_of(const Belief& belief) {
  std::vector<double> values = belief.variances();
  for (double& value : values) value = std::sqrt(value);
  return shaped(belief, std::move(values));
}

std::string_view name_of_stop(Report::Stop stop) {
  constexpr std::string_view kNames[] = {"exact",       "approximate", "converged", "limit",
                                         "interrupted", "diverged",    "singular"};
  return kNames[static_cast<std::size_t>(stop)];
}

void bind_belief(py::module_& module) {
  Class<Belief, std::shared_ptr<Belief>>(module, "Belief",
                                         "The belief of a variable: the marginal of each of its elements.")
      .get("mean", "", [](const Belief& b) { return shaped(b, b.means()); })
      .get("variance", "", [](const Belief& b) { return shaped(b, b.variances()); })
      .get("sd", "", &sd_of)
      .get("std", "The same as sd.", &sd_of)
      .def("quantile(probability)", "The quantile of each element at this probability.",
           [](const Belief& b, double probability) {
             return array_by(b.size(), [&](std::size_t i) { return b.quantile(probability, i); });
           })
      .def("interval(probability=0.95)", "Lower and upper ends of the central interval of each element.",
           [](const Belief& b, double probability) {
             return py::make_tuple(
                 array_by(b.size(), [&](std::size_t i) { return b.interval(probability, i).first; }),
                 array_by(b.size(), [&](std::size_t i) { return b.interval(probability, i).second; }));
           })
      .def("probability(element, value)",
           "That an element of a discrete variable has this value: 0 or 1, or the number of a category.",
           &Belief::probability)
      .get("natural", "The natural parameters, tau and rho of each component, where they lie: nothing is copied.",
           [](const py::object& self) {
             const auto& b = self.cast<const Belief&>();
             static_assert(sizeof(Natural) == 2 * sizeof(double));
             const auto components = static_cast<py::ssize_t>(b.size() * b.family().components());
             const double* const first = components == 0 ? nullptr : &b.message(0)[0].tau;
             py::array_t<double> view({components, py::ssize_t{2}}, first, self);
             view.attr("flags").attr("writeable") = false;
             return view;
           })
      .get("family", "", [](const Belief& b) { return b.family().text(); })
      .def("log_density(element, value)", "Log density of a value at an element.",
           [](const Belief& b, std::size_t element, const Array& value) {
             return b.log_density(element, span_of(value));
           })
      .def("__len__()", "", &Belief::size)
      .def("__repr__()", "", &short_text)
      .def("_repr_html_()", "", &table_of);
}

void bind_reports(py::module_& module) {
  Class<Report>(module, "Report", "The work of a run, and how good its answer is.")
      .get("stop", "", [](const Report& r) { return name_of_stop(r.stop); })
      .get("why", "", &Report::caveat)
      .get("converged", "", &Report::converged)
      .get("sweeps", "", &Report::sweeps)
      .get("messages", "", &Report::messages)
      .get("change", "", &Report::change)
      .get("faults", "", &Report::faults)
      .get("replaced", "", &Report::replaced)
      .printed("The whole report.");
  const auto parts = [](std::vector<Evidence::Part> Evidence::*all) {
    return [all](const Evidence& e) {
      py::dict named;
      for (const Evidence::Part& part : e.*all) named[py::str(part.name)] = part.value;
      return named;
    };
  };
  Class<Evidence>(module, "Evidence", "log p(observed), and the part of every factor and variable.")
      .get("log_value", "", &Evidence::log_value)
      .get("is_exact", "", &Evidence::is_exact)
      .get("why", "", &Evidence::why)
      .get("factors", "", parts(&Evidence::factors))
      .get("variables", "", parts(&Evidence::variables))
      .def("__float__()", "", [](const Evidence& e) { return e.log_value; })
      .printed("Every factor's and variable's part.");
  def(
      module, "evidence(plan, state)", "Log p(observed) after a run, part by part.",
      [](const PlanHandle& plan, StateHandle& s) { return evidence(plan.plan, s.state); }, kUnlocked);
  def(
      module, "log_evidence(plan, state)", "Log p(observed) after a run.",
      [](const PlanHandle& plan, StateHandle& s) { return log_evidence(plan.plan, s.state); }, kUnlocked);
  Class<Explanation>(module, "Explanation", "The factors that a belief comes from.")
      .get("name", "", &Explanation::name)
      .get("elements", "The sources of each element, with their fractions of its precision, the largest first.",
           [](const Explanation& e) {
             std::vector<std::vector<std::pair<std::string, double>>> all;
             for (const Explanation::Element& element : e.elements) {
               all.emplace_back();
               for (const Explanation::Source& source : element.sources)
                 all.back().emplace_back(source.name, source.fraction);
             }
             return all;
           })
      .printed("Every source of every element.");
  def(module, "explain(state, variable)", "Why a belief is what it is, after a run by sweeps.",
      [](StateHandle& s, const py::object& variable) {
        return explain(s.plan.plan, s.state, id_of(s.plan, variable));
      });
}

// Correlations and draws, after a run by joint().
void bind_joint(py::module_& module) {
  def(module, "covariance(state, a, b)", "Covariance of the elements of two variables, after a run by joint().",
      [](StateHandle& s, const py::object& a, const py::object& b) {
        return JointPosterior(s.state).covariance(id_of(s.plan, a), id_of(s.plan, b));
      });
  def(module, "sample(state, variable, draws, seed=1)", "Draw x element, after a run by joint() or exact().",
      [](StateHandle& s, const py::object& variable, std::size_t draws, std::uint64_t seed) {
        const VariableId id = id_of(s.plan, variable);
        const std::size_t size = s.plan.plan->variable(id).elements();
        const auto rows = [&](const auto& value) {
          std::vector<double> all;
          for (std::size_t draw = 0; draw < draws; ++draw)
            for (std::size_t i = 0; i < size; ++i) all.push_back(value(draw, i));
          return as_array(std::move(all), draws, size);
        };
        if (s.plan.plan->schedule.name == "exact") {
          const Assignments found = ExactPosterior(s.state).sample(draws, seed);
          return rows([&](std::size_t draw, std::size_t i) { return found(draw, {id, i}); });
        }
        const JointSamples found = JointPosterior(s.state).sample(draws, seed);
        return rows([&](std::size_t draw, std::size_t i) { return found(draw, id, i); });
      });
  def(module, "set_start(state, variable, values)", "Sets the values from which the next run by joint() starts.",
      [](StateHandle& s, const py::object& variable, const Array& values) {
        set_start(s.state, id_of(s.plan, variable), span_of(values));
      });
  Class<HyperBelief>(module, "HyperBelief", "The belief of a hyper.")
      .get("mean", "", &HyperBelief::mean)
      .get("sd", "", &HyperBelief::sd)
      .def("quantile(probability)", "The value that it is below with this probability.", &HyperBelief::quantile)
      .def("__repr__()", "",
           [](const HyperBelief& b) { return fmt::format("<dma.HyperBelief {:.4g} +- {:.2g}>", b.mean(), b.sd()); });
  def(module, "hyper_belief(state, name)", "After a run by joint(hypers=[...]).",
      [](StateHandle& s, const std::string& name) { return JointPosterior(s.state).hyper(name); });
}

std::vector<ElementOf> elements_of(const StateHandle& s, const std::vector<py::object>& variables) {
  std::vector<ElementOf> elements;
  for (const VariableId id : ids_of(*s.plan.graph, variables))
    for (std::size_t i = 0; i < s.plan.plan->variable(id).elements(); ++i) elements.emplace_back(id, i);
  return elements;
}

// Tables and the most probable values, after a run by exact().
void bind_exact(py::module_& module) {
  def(module, "marginal(state, variables)", "Their joint table, an axis for each, after a run by exact().",
      [](StateHandle& s, const std::vector<py::object>& variables) {
        const std::vector<ElementOf> elements = elements_of(s, variables);
        std::vector<py::ssize_t> shape;
        for (const ElementOf& element : elements)
          shape.push_back(static_cast<py::ssize_t>(s.plan.plan->variable(element.variable).family.outcomes()));
        return as_array(ExactPosterior(s.state).marginal(elements), shape);
      });
  def(module, "evidence_bounds(state)", "The log evidence lies between these, after a run by tree_reweighted().",
      [](StateHandle& s) {
        const EvidenceBounds found = evidence_bounds(s.state);
        return std::pair(found.lower, found.upper);
      });
  def(module, "decide(state, causes, utility)",
      "The action of the highest expected utility, and that of each; utility has a number for each action and each "
      "combination of the causes.",
      [](StateHandle& s, const std::vector<py::object>& causes, const std::vector<double>& utility) {
        const Decision best = decide(ExactPosterior(s.state), elements_of(s, causes), utility);
        return std::pair(best.action, best.utilities);
      });
  def(module, "value_of_information(state, causes, utility, seen)",
      "The gain in expected utility from seeing a variable before choosing.",
      [](StateHandle& s, const std::vector<py::object>& causes, const std::vector<double>& utility,
         const py::object& seen) {
        return value_of_information(ExactPosterior(s.state), elements_of(s, causes), utility, id_of(s.plan, seen));
      });
  def(module, "most_probable(state)",
      "Values of all discrete variables, and their log probability, after a run by exact().", [](StateHandle& s) {
        const MostProbable best = ExactPosterior(s.state).most_probable();
        py::dict values;
        for (std::uint32_t v = 0; v < s.plan.plan->variables.size(); ++v) {
          const auto& variable = s.plan.plan->variables[v];
          if (variable.family.outcomes() == 0) continue;
          std::vector<std::uint32_t> found;
          for (std::size_t i = 0; i < variable.elements(); ++i) found.push_back(best.values(0, {{v}, i}));
          values[py::str(variable.name.text())] = found.size() == 1 ? py::object(py::int_(found[0])) : py::cast(found);
        }
        return std::pair(values, best.log_probability);
      });
}

}  // namespace

void bind_results(py::module_& module) {
  bind_belief(module);
  bind_reports(module);
  bind_joint(module);
  bind_exact(module);
}

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
