// A graph of one's own learned from a table, as `dma fit --graph` does.
#include "models/graphs/graph_model.h"

#include <pybind11/functional.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <map>

#include "tools/dma/fit/graph_summary.h"
#include "tools/dma/fit/prediction_table.h"
#include "tools/python/handles.h"
#include "tools/python/tables.h"

namespace dma::python {

namespace {

Registry with_kinds(const std::vector<Kind>& kinds) {
  Registry known = built_in_kinds();
  for (const Kind& kind : kinds) known.add(kind);
  return known;
}

std::vector<py::dict> scores(const std::vector<Scores>& all) {
  std::vector<py::dict> entries;
  for (const Scores& one : all) {
    py::dict entry;
    entry["rmse"] = one.rmse;
    entry["log_likelihood"] = one.log_likelihood;
    entry["coverage_50"] = one.coverage_50;
    entry["coverage_90"] = one.coverage_90;
    entry["coverage_95"] = one.coverage_95;
    entries.push_back(entry);
  }
  return entries;
}

// Of the columns with these names, those that are wanted.
std::vector<Eigen::Index> places_of(const std::vector<std::string>& wanted, const std::vector<std::string>& names) {
  std::vector<Eigen::Index> places;
  for (const std::string& name : wanted) {
    const auto found = std::ranges::find(names, name);
    if (found == names.end())
      fail("X has no column '{}', which the graph observes{}; rename the column or the variable", name,
           suggestion(name, names));
    places.push_back(found - names.begin());
  }
  return places;
}

std::shared_ptr<GraphModel> learned(const Graph& graph, const std::vector<std::string>& targets,
                                    const std::vector<Kind>& kinds, const Columns& inputs, const Columns& outputs,
                                    const std::vector<std::string>& names, const std::vector<double>& weights,
                                    JointLearnOptions options, py::object on_epoch) {
  const Eigen::MatrixXd x = matrix_of(inputs, "inputs"), y = matrix_of(outputs, "outputs");
  Listener listener(std::move(on_epoch));
  options.on_epoch = [&](const JointEpoch& e) {
    return listener.hear(e.start, e.epoch.epoch, e.epoch.log_evidence / static_cast<double>(y.rows()), 0);
  };
  auto model = without_lock([&] {
    GraphFile file;
    file.graph = graph;
    auto made = std::make_shared<GraphModel>(std::move(file), with_kinds(kinds), targets, options);
    if (names.empty()) {
      made->fit(x, y, weights);
      return made;
    }
    made->fit(x(Eigen::all, places_of(made->inputs(), names)), y, weights);
    return made;
  });
  if (!listener.error().is_none()) {
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(listener.error().ptr())), listener.error().ptr());
    throw py::error_already_set();
  }
  return model;
}

}  // namespace

void bind_graph_model(py::module_& module) {
  py::class_<JointLearnOptions>(module, "JointLearnOptions")
      .def(py::init<>())
      .def_readwrite("epochs", &JointLearnOptions::epochs)
      .def_readwrite("least_gain", &JointLearnOptions::least_gain)
      .def_readwrite("learn_noise", &JointLearnOptions::learn_noise)
      .def_readwrite("noise_by_inputs", &JointLearnOptions::noise_by_inputs)
      .def_readwrite("tails", &JointLearnOptions::tails)
      .def_readwrite("learn_scale", &JointLearnOptions::learn_scale)
      .def_readwrite("starts", &JointLearnOptions::starts)
      .def_readwrite("seed", &JointLearnOptions::seed)
      .def_readwrite("jobs", &JointLearnOptions::jobs);
  py::class_<GraphModel, std::shared_ptr<GraphModel>>(module, "GraphModel", "A graph learned from a table.")
      .def_static("fit", &learned, py::arg("graph"), py::arg("targets"), py::arg("kinds"), py::arg("inputs"),
                  py::arg("outputs"), py::arg("names"), py::arg("weights"), py::arg("options"),
                  py::arg("on_epoch") = py::none())
      .def_static(
          "from_text",
          [](const std::string& text, const std::string& source, const std::vector<Kind>& kinds) {
            return std::make_shared<GraphModel>(graph_model_from(text, source, with_kinds(kinds)));
          },
          py::arg("text"), py::arg("source"), py::arg("kinds") = std::vector<Kind>{})
      .def("text", [](const GraphModel& self) { return graph_model_text(self); })
      .def(
          "predict",
          [](const GraphModel& self, const Columns& inputs, const std::vector<std::string>& names) {
            const Eigen::MatrixXd x = matrix_of(inputs, "inputs");
            return without_lock([&] {
              Prediction p =
                  self.predict(names.empty() ? x : Eigen::MatrixXd(x(Eigen::all, places_of(self.inputs(), names))));
              check_prediction(p, self.targets());
              return p;
            });
          },
          py::arg("inputs"), py::arg("names"))
      .def_property_readonly("inputs", [](const GraphModel& self) { return self.inputs(); })
      .def_property_readonly("targets", [](const GraphModel& self) { return self.targets(); })
      .def_property_readonly("graph", [](const GraphModel& self) { return std::make_shared<Graph>(self.file().graph); })
      .def_property_readonly("left_out", [](const GraphModel& self) { return scores(self.training.left_out); })
      .def_property_readonly("report", [](const GraphModel& self) { return self.training.line; })
      .def_property_readonly("beliefs",
                             [](const GraphModel& self) {
                               std::map<std::string, std::pair<double, double>> all;
                               for (const auto& [name, belief] : self.beliefs())
                                 all[name] = {belief.mean(), belief.is_point() ? 0 : belief.sd()};
                               return all;
                             })
      .def("summary", [](const GraphModel& self) { return summary_text(self); });
}

}  // namespace dma::python
