// What is read after a run: beliefs, reports, evidence, the joint posterior, tables of the exact one.
#include <fmt/format.h>
#include <pybind11/stl.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "engine/compile/plan_data.h"
#include "engine/exact/exact.h"
#include "engine/inspect/explain.h"
#include "engine/joint/joint.h"
#include "engine/run/evidence.h"
#include "engine/support/error.h"
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

// A number for each element.
template <class Number>
py::array_t<double> by_element(const Belief& belief, const Number& number) {
  std::vector<double> all;
  for (std::size_t i = 0; i < belief.size(); ++i) all.push_back(number(i));
  return as_array(std::move(all));
}

py::array_t<double> sd_of(const Belief& belief) {
  std::vector<double> values = belief.variances();
  for (double& value : values) value = std::sqrt(value);
  return shaped(belief, std::move(values));
}

std::string_view name_of_stop(Report::Stop stop) {
  switch (stop) {
    case Report::Stop::exact:
      return "exact";
    case Report::Stop::approximate:
      return "approximate";
    case Report::Stop::converged:
      return "converged";
    case Report::Stop::limit:
      return "limit";
    case Report::Stop::interrupted:
      return "interrupted";
    case Report::Stop::diverged:
      return "diverged";
    case Report::Stop::singular:
      return "singular";
  }
  return "";
}

void bind_belief(py::module_& module) {
  py::class_<Belief, std::shared_ptr<Belief>>(module, "Belief", "What is known of a variable, element by element.")
      .def_property_readonly("mean", [](const Belief& b) { return shaped(b, b.means()); })
      .def_property_readonly("variance", [](const Belief& b) { return shaped(b, b.variances()); })
      .def_property_readonly("sd", &sd_of)
      .def_property_readonly("std", &sd_of, "The same as sd.")
      .def(
          "quantile",
          [](const Belief& b, double probability) {
            return by_element(b, [&](std::size_t i) { return b.quantile(probability, i); });
          },
          py::arg("probability"), "What each element is below with this probability.")
      .def(
          "interval",
          [](const Belief& b, double probability) {
            return py::make_tuple(by_element(b, [&](std::size_t i) { return b.interval(probability, i).first; }),
                                  by_element(b, [&](std::size_t i) { return b.interval(probability, i).second; }));
          },
          py::arg("probability") = 0.95, "Lower and upper ends of the central interval of each element.")
      .def("probability", &Belief::probability, py::arg("element"), py::arg("value"),
           "That an element of a discrete variable has this value: 0 or 1, or the number of a category.")
      .def_property_readonly(
          "natural",
          [](const py::object& self) {
            const auto& b = self.cast<const Belief&>();
            static_assert(sizeof(Natural) == 2 * sizeof(double));
            const auto components = static_cast<py::ssize_t>(b.size() * b.family().components());
            const double* const first = components == 0 ? nullptr : &b.message(0)[0].tau;
            py::array_t<double> view({components, py::ssize_t{2}}, first, self);
            view.attr("flags").attr("writeable") = false;
            return view;
          },
          "The natural parameters, tau and rho of each component, where they lie: nothing is copied.")
      .def_property_readonly("family", [](const Belief& b) { return b.family().text(); })
      .def(
          "log_density",
          [](const Belief& b, std::size_t element, const Array& value) {
            return b.log_density(element, span_of(value));
          },
          py::arg("element"), py::arg("value"), "Log density of a value at an element.")
      .def("__len__", &Belief::size)
      .def("__repr__", &short_text)
      .def("_repr_html_", &table_of);
}

void bind_reports(py::module_& module) {
  py::class_<Report>(module, "Report", "What a run did and what its answer is worth.")
      .def_property_readonly("stop", [](const Report& r) { return name_of_stop(r.stop); })
      .def_property_readonly("why", &Report::caveat)
      .def_property_readonly("converged", &Report::converged)
      .def_readonly("sweeps", &Report::sweeps)
      .def_readonly("messages", &Report::messages)
      .def_readonly("change", &Report::change)
      .def_readonly("faults", &Report::faults)
      .def_readonly("replaced", &Report::replaced)
      .def("text", &Report::text, "The whole report.")
      .def("__repr__", &Report::line)
      .def("_repr_html_", [](const Report& r) { return html_of(r.text()); });
  const auto parts = [](const std::vector<Evidence::Part>& all) {
    py::dict named;
    for (const Evidence::Part& part : all) named[py::str(part.name)] = part.value;
    return named;
  };
  py::class_<Evidence>(module, "Evidence", "log p(observed), and the part of every factor and variable.")
      .def_readonly("log_value", &Evidence::log_value)
      .def_readonly("is_exact", &Evidence::is_exact)
      .def_readonly("why", &Evidence::why)
      .def_property_readonly("factors", [parts](const Evidence& e) { return parts(e.factors); })
      .def_property_readonly("variables", [parts](const Evidence& e) { return parts(e.variables); })
      .def("__float__", [](const Evidence& e) { return e.log_value; })
      .def("text", &Evidence::text, "Every factor's and variable's part.")
      .def("__repr__", &Evidence::line)
      .def("_repr_html_", [](const Evidence& e) { return html_of(e.text()); });
  module.def(
      "evidence",
      [](const PlanHandle& plan, StateHandle& s) {
        const Alone alone(s);
        const py::gil_scoped_release unlocked;
        return evidence(plan.plan, s.state);
      },
      py::arg("plan"), py::arg("state"), "Log p(observed) after a run, part by part.");
  module.def(
      "log_evidence",
      [](const PlanHandle& plan, StateHandle& s) {
        const Alone alone(s);
        const py::gil_scoped_release unlocked;
        return log_evidence(plan.plan, s.state);
      },
      py::arg("plan"), py::arg("state"), "Log p(observed) after a run.");
}

void bind_explanations(py::module_& module) {
  py::class_<Explanation>(module, "Explanation", "Which factors a belief comes from.")
      .def_readonly("name", &Explanation::name)
      .def_property_readonly(
          "elements",
          [](const Explanation& e) {
            std::vector<std::vector<std::pair<std::string, double>>> all;
            for (const Explanation::Element& element : e.elements) {
              all.emplace_back();
              for (const Explanation::Source& source : element.sources)
                all.back().emplace_back(source.name, source.fraction);
            }
            return all;
          },
          "Of each element: the sources and their fractions of its precision, the largest first.")
      .def("text", &Explanation::text, "Every source of every element.")
      .def("__repr__", &Explanation::line)
      .def("_repr_html_", [](const Explanation& e) { return html_of(e.text()); });
  module.def("explain", when_alone(+[](StateHandle& s, const py::object& variable) {
               return explain(s.plan.plan, s.state, id_of(s.plan, variable));
             }),
             py::arg("state"), py::arg("variable"), "Why a belief is what it is, after a run by sweeps.");
}

// Correlations and draws, after a run by joint().
void bind_joint(py::module_& module) {
  module.def("covariance", when_alone(+[](StateHandle& s, const py::object& a, const py::object& b) {
               const Eigen::MatrixXd found = JointPosterior(s.state).covariance(id_of(s.plan, a), id_of(s.plan, b));
               std::vector<double> rows;
               for (Eigen::Index i = 0; i < found.rows(); ++i)
                 for (Eigen::Index j = 0; j < found.cols(); ++j) rows.push_back(found(i, j));
               return as_array(std::move(rows), {found.rows(), found.cols()});
             }),
             py::arg("state"), py::arg("a"), py::arg("b"), "Of the elements of two variables, after a run by joint().");
  module.def("sample",
             when_alone(+[](StateHandle& s, const py::object& variable, std::size_t draws, std::uint64_t seed) {
               const VariableId id = id_of(s.plan, variable);
               const std::size_t size = s.plan.plan->variable(id).elements();
               std::vector<double> rows;
               const auto add = [&](const auto& value) {
                 for (std::size_t draw = 0; draw < draws; ++draw)
                   for (std::size_t i = 0; i < size; ++i) rows.push_back(value(draw, i));
               };
               if (s.plan.plan->schedule.name == "exact") {
                 const Assignments found = ExactPosterior(s.state).sample(draws, seed);
                 add([&](std::size_t draw, std::size_t i) { return found(draw, {id, i}); });
               } else {
                 const JointSamples found = JointPosterior(s.state).sample(draws, seed);
                 add([&](std::size_t draw, std::size_t i) { return found(draw, id, i); });
               }
               return as_array(std::move(rows), {static_cast<py::ssize_t>(draws), static_cast<py::ssize_t>(size)});
             }),
             py::arg("state"), py::arg("variable"), py::arg("draws"), py::arg("seed") = 1,
             "Draw x element, after a run by joint() or exact().");
  module.def("set_start", when_alone(+[](StateHandle& s, const py::object& variable, const Array& values) {
               set_start(s.state, id_of(s.plan, variable), span_of(values));
             }),
             py::arg("state"), py::arg("variable"), py::arg("values"), "Where the next run by joint() begins.");
  py::class_<HyperBelief>(module, "HyperBelief", "What is known of a hyper.")
      .def_property_readonly("mean", &HyperBelief::mean)
      .def_property_readonly("sd", &HyperBelief::sd)
      .def("quantile", &HyperBelief::quantile, py::arg("probability"),
           "The value that it is below with this probability.")
      .def("__repr__",
           [](const HyperBelief& b) { return fmt::format("<dma.HyperBelief {:.4g} +- {:.2g}>", b.mean(), b.sd()); });
  module.def("hyper_belief",
             when_alone(+[](StateHandle& s, const std::string& name) { return JointPosterior(s.state).hyper(name); }),
             py::arg("state"), py::arg("name"), "After a run by joint(hypers=[...]).");
}

// Tables and the most probable values, after a run by exact().
void bind_exact(py::module_& module) {
  module.def("marginal", when_alone(+[](StateHandle& s, const std::vector<py::object>& variables) {
               std::vector<ElementOf> elements;
               std::vector<py::ssize_t> shape;
               for (const py::object& variable : variables) {
                 const VariableId id = id_of(s.plan, variable);
                 const auto& v = s.plan.plan->variable(id);
                 for (std::size_t i = 0; i < v.elements(); ++i) {
                   elements.emplace_back(id, i);
                   shape.push_back(static_cast<py::ssize_t>(v.family.outcomes()));
                 }
               }
               return as_array(ExactPosterior(s.state).marginal(elements), shape);
             }),
             py::arg("state"), py::arg("variables"), "Their joint table, an axis for each, after a run by exact().");
  module.def("evidence_bounds", when_alone(+[](StateHandle& s) {
               const EvidenceBounds found = evidence_bounds(s.state);
               return std::pair(found.lower, found.upper);
             }),
             py::arg("state"), "The log evidence lies between these, after a run by tree_reweighted().");
  const auto elements_of = [](StateHandle& s, const std::vector<py::object>& variables) {
    std::vector<ElementOf> elements;
    for (const py::object& variable : variables) {
      const VariableId id = id_of(s.plan, variable);
      for (std::size_t i = 0; i < s.plan.plan->variable(id).elements(); ++i) elements.emplace_back(id, i);
    }
    return elements;
  };
  module.def(
      "decide",
      [elements_of](StateHandle& s, const std::vector<py::object>& causes, const Array& utility) {
        const Alone alone(s);
        const auto numbers = span_of(utility);
        const Decision best = decide(ExactPosterior(s.state), elements_of(s, causes), {numbers.begin(), numbers.end()});
        return std::pair(best.action, best.utilities);
      },
      py::arg("state"), py::arg("causes"), py::arg("utility"),
      "The action of the highest expected utility, and that of each; utility has a number for each action and each "
      "combination of the causes.");
  module.def(
      "value_of_information",
      [elements_of](StateHandle& s, const std::vector<py::object>& causes, const Array& utility,
                    const py::object& seen) {
        const Alone alone(s);
        const auto numbers = span_of(utility);
        return value_of_information(ExactPosterior(s.state), elements_of(s, causes), {numbers.begin(), numbers.end()},
                                    id_of(s.plan, seen));
      },
      py::arg("state"), py::arg("causes"), py::arg("utility"), py::arg("seen"),
      "What it is worth to see a variable before choosing.");
  module.def("most_probable", when_alone(+[](StateHandle& s) {
               const MostProbable best = ExactPosterior(s.state).most_probable();
               py::dict values;
               for (std::uint32_t v = 0; v < s.plan.plan->variables.size(); ++v) {
                 const auto& variable = s.plan.plan->variables[v];
                 if (variable.family.outcomes() == 0) continue;
                 std::vector<std::uint32_t> found;
                 for (std::size_t i = 0; i < variable.elements(); ++i) found.push_back(best.values(0, {{v}, i}));
                 values[py::str(variable.name.text())] =
                     found.size() == 1 ? py::object(py::int_(found[0])) : py::cast(found);
               }
               return std::pair(values, best.log_probability);
             }),
             py::arg("state"), "Values of all discrete variables, and their log probability, after a run by exact().");
}

}  // namespace

void bind_results(py::module_& module) {
  bind_belief(module);
  bind_reports(module);
  bind_explanations(module);
  bind_joint(module);
  bind_exact(module);
}

}  // namespace dma::python
