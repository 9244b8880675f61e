// Models of tables: learning and predicting, as `dma fit` and `dma predict` do, with the same settings, checks and
// files.
#include <fmt/format.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <map>

#include "engine/support/error.h"
#include "engine/support/fields.h"
#include "engine/support/text.h"
#include "models/learn/table_learner.h"
#include "tools/dma/fit/learn.h"
#include "tools/dma/fit/summary.h"
#include "tools/dma/io/read_file.h"
#include "tools/dma/io/write_file.h"
#include "tools/dma/page/report.h"
#include "tools/python/handles.h"
#include "tools/python/parameters.h"
#include "tools/python/tables.h"

namespace dma::python {

namespace {

// The matrix itself, kept by `owner`.
py::array_t<double> view_of(const Eigen::MatrixXd& matrix, py::handle owner) {
  constexpr auto kStep = static_cast<py::ssize_t>(sizeof(double));
  py::array_t<double> view({matrix.rows(), matrix.cols()}, {kStep, kStep * matrix.rows()}, matrix.data(), owner);
  view.attr("flags").attr("writeable") = false;
  return view;
}

// How a fit ended, and the rows that it learned.
struct Outcome {
  std::shared_ptr<TableModel> model = {};
  std::shared_ptr<Learned> learned = {};
  TrainingData data = {};
  std::vector<std::size_t> columns = {};  // of the inputs that were learned from
  std::string warning = {};
  py::object error = py::none();  // that stopped it: Ctrl-C, or what the callback raised
};

void finish(Outcome& outcome, Learned learned) {
  outcome.learned = std::make_shared<Learned>(std::move(learned));
  const TrainingData& data = outcome.data;
  try {
    outcome.warning = outcome.learned->model.check({data.inputs, data.outputs, data.weights});
  } catch (const Error& e) {
    if (!outcome.learned->interrupted) throw;
    outcome.warning = e.what();  // more epochs may mend it
  }
  outcome.model = {outcome.learned, &outcome.learned->model};
}

// Numbers, or the classes of rows.
void set_targets(TrainingData& data, const py::object& given) {
  if (!py::isinstance<py::list>(given)) {
    data.outputs = matrix_of(given.cast<Columns>(), "outputs");
    return;
  }
  const auto names = given.cast<std::vector<std::string>>();
  for (const std::string& name : names)
    if (!is_plain_text(name)) fail("the name of a class, '{}', holds control characters; rename it", printable(name));
  const ClassLabels labels = ClassLabels::of(names);
  data.classes = labels.names;
  data.outputs.resize(std::ssize(names), 1);
  for (std::size_t n = 0; n < names.size(); ++n)
    data.outputs(static_cast<Eigen::Index>(n), 0) = static_cast<double>(labels.of_rows[n]);
}

void check_targets(const TrainingData& data) {
  if (data.has_classes()) return check_classes(data.labels(), data.targets[0]);
  for (Eigen::Index j = 0; j < data.outputs.cols(); ++j)
    if (const auto column = data.outputs.col(j); !(column.minCoeff() < column.maxCoeff()))
      fail("the target '{}' is {} in all {} rows; there is nothing to learn", data.targets[static_cast<std::size_t>(j)],
           column(0), column.size());
}

TrainingData data_of(const Columns& inputs, const py::object& outputs, std::vector<std::string> features,
                     std::vector<std::string> targets, const std::vector<double>& weights) {
  TrainingData data;
  data.inputs = matrix_of(inputs, "inputs");
  data.features = std::move(features);
  data.targets = std::move(targets);
  data.weights = Eigen::Map<const Eigen::VectorXd>(weights.data(), std::ssize(weights));
  set_targets(data, outputs);
  return data;
}

std::shared_ptr<Outcome> fit_table(const Columns& inputs, const py::object& outputs, std::vector<std::string> features,
                                   std::vector<std::string> targets, const py::dict& parameters, py::object on_epoch,
                                   ColumnCoding coding, const std::vector<double>& weights) {
  const FitSettings settings = fit_settings(parameters);
  auto outcome = std::make_shared<Outcome>();
  outcome->data = data_of(inputs, outputs, std::move(features), std::move(targets), weights);
  TrainingData& data = outcome->data;
  data.coding = std::move(coding);
  Listener listener(std::move(on_epoch), settings.max_seconds);
  without_lock([&] {
    check_table(data);
    check_targets(data);
    outcome->columns = leave_out_redundant(data);
    WatchedFit fit;
    if (data.has_classes()) {
      const ClassifierOptions options = classifier_settings(settings);
      static_cast<TableFit&>(fit) = class_fit(options);
      listener.watch(fit);
      finish(*outcome, learn(TableModel::classifier(options, data.features, data.targets[0], data.classes, data.coding),
                             data, fit));
      return;
    }
    const NetworkSettings network = network_settings(settings, data.features.size(), data.targets.size(), data.rows());
    fit.options = network.fit;
    listener.watch(fit);
    Learned learned = learn(TableModel::network(network.network, data.features, data.targets, data.coding), data, fit);
    if (!network.network.choose_width) learned.reason = network.reason;
    finish(*outcome, std::move(learned));
  });
  outcome->error = listener.error();
  return outcome;
}

// Places of the columns that are wanted; without names they stand in order.
std::vector<std::size_t> places_of(Eigen::Index columns, const std::vector<std::string>& wanted,
                                   const std::vector<std::string>& names) {
  std::vector<std::size_t> places;
  if (names.empty())
    for (Eigen::Index i = 0; i < columns; ++i) places.push_back(static_cast<std::size_t>(i));
  else if (std::ssize(names) != columns)
    fail("inputs: {} name{} given for the {} column{} of X; one for each is expected", names.size(),
         names.size() == 1 ? " is" : "s are", columns, columns == 1 ? "" : "s");
  for (const std::string& name : names.empty() ? names : wanted) {
    const auto found = std::ranges::find(names, name);
    if (found == names.end())
      fail("X has no column '{}', which the graph observes{}; rename the column or the variable", name,
           suggestion(name, names));
    places.push_back(static_cast<std::size_t>(found - names.begin()));
  }
  return places;
}

std::shared_ptr<Outcome> fit_graph(const Graph& graph, std::vector<std::string> targets, const std::vector<Kind>& kinds,
                                   const Columns& inputs, const py::object& outputs,
                                   const std::vector<std::string>& names, const py::dict& parameters,
                                   py::object on_epoch, const std::vector<double>& weights) {
  const GraphModelOptions options = graph_options(parameters);
  auto outcome = std::make_shared<Outcome>();
  outcome->data = data_of(inputs, outputs, {}, targets, weights);
  TrainingData& data = outcome->data;
  const Registry known = registry_with(py::none(), kinds);
  Listener listener(std::move(on_epoch));
  without_lock([&] {
    GraphFile file;
    file.graph = graph;
    GraphModel model(std::move(file), known, std::move(targets), options);
    data.features = model.inputs(), data.targets = model.targets();
    outcome->columns = places_of(data.inputs.cols(), data.features, names);
    data.inputs = data.inputs(Eigen::all, outcome->columns).eval();
    WatchedFit fit;
    fit.options = model.fit_options();
    listener.watch(fit);
    finish(*outcome, learn(TableModel::graph_of(std::move(model)), data, fit));
  });
  outcome->error = listener.error();
  return outcome;
}

py::list left_out_of(const TableModel& model) {
  py::list all;
  const auto add = [&](const Json& scores) {
    py::dict entry;
    for (const auto& [name, value] : scores.items()) entry[name.c_str()] = json_number(value);
    all.append(entry);
  };
  for (const LeftOut& one : model.training().report.left_out) {
    Json scores = written(one.scores);
    scores["explained"] = json_number(one.explained);
    add(scores);
  }
  if (const auto& classes = model.training().report.left_out_classes) add(written(*classes));
  return all;
}

std::map<std::string, std::pair<double, double>> beliefs_of(const TableModel& model) {
  std::map<std::string, std::pair<double, double>> all;
  if (const GraphModel* const graph = model.own_graph())
    for (const auto& [name, belief] : graph->beliefs())
      all[name] = {belief.mean(), belief.is_point() ? 0 : belief.sd()};
  return all;
}

std::string kind_of(const TableModel& model) {
  const char* const of = model.has_classes() ? "classes" : "numbers";
  return model.own_graph() != nullptr ? fmt::format("a graph of {}", of) : of;
}

// The same model with more rows on top; and whether the update settled.
std::pair<std::shared_ptr<TableModel>, bool> updated(const TableModel& model, const Columns& inputs,
                                                     const Columns& outputs, const std::vector<double>& weights) {
  const Eigen::MatrixXd rows = matrix_of(inputs, "inputs"), targets = matrix_of(outputs, "outputs");
  return without_lock([&] {
    auto more = std::make_shared<TableModel>(TableModel::from_text(model.text(), "the model", built_in_kinds()));
    const bool settled =
        more->update({rows, targets, Eigen::Map<const Eigen::VectorXd>(weights.data(), std::ssize(weights))});
    return std::pair(more, settled);
  });
}

void bind_prediction(py::module_& module) {
  const auto part = [](auto member) {
    return [member](const py::object& self) { return view_of(self.cast<const Prediction&>().*member, self); };
  };
  const auto of_targets = [](auto method) {
    return [method](const Prediction& p, const Columns& y) {
      const Eigen::MatrixXd targets = matrix_of(y, "y");
      if (targets.rows() != p.mean.rows() || targets.cols() != p.mean.cols())
        fail("y has {} rows and {} columns, but {} and {} were predicted", targets.rows(), targets.cols(),
             p.mean.rows(), p.mean.cols());
      return array_of(without_lock([&] { return (p.*method)(targets); }));
    };
  };
  py::class_<Prediction>(module, "Prediction", "For every row and output a mixture of Gaussians or Student's t.")
      .def_property_readonly("mean", part(&Prediction::mean))
      .def_property_readonly("sd", part(&Prediction::sd))
      .def_property_readonly("epistemic_sd", part(&Prediction::epistemic_sd))
      .def_property_readonly("noise_sd", part(&Prediction::noise_sd))
      .def(
          "quantile",
          [](const Prediction& self, double probability) {
            if (!(probability > 0 && probability < 1))
              fail("a quantile of {} is asked for; a probability above 0 and below 1 is expected", probability);
            return array_of(without_lock([&] { return self.quantile(probability); }));
          },
          py::arg("probability"))
      .def("log_density", of_targets(&Prediction::log_density), py::arg("y"))
      .def("cumulative", of_targets(&Prediction::cumulative), py::arg("y"))
      .def("__len__", [](const Prediction& self) { return self.mean.rows(); });
}

void bind_model(py::module_& module) {
  const auto from_text = [](const py::bytes& bytes, const std::string& source, const std::vector<Kind>& kinds) {
    const std::string text = bytes;
    return without_lock([&]() -> std::shared_ptr<TableModel> {
      return std::make_shared<TableModel>(TableModel::from_text(text, source, registry_with(py::none(), kinds)));
    });
  };
  const auto text = [](const TableModel& self) { return py::bytes(without_lock([&] { return self.text(); })); };
  const auto lines = [](const TableModel& self) { return self.coding().lines(); };
  py::class_<TableModel, std::shared_ptr<TableModel>>(
      module, "Model", "What was learned of a table; the text is the bytes of a model file.")
      .def_static("from_text", from_text, py::arg("text"), py::arg("source"), py::arg("kinds") = std::vector<Kind>{})
      .def("text", text)
      .def(
          "predict",
          [](const TableModel& self, const Columns& inputs) {
            const Eigen::MatrixXd rows = matrix_of(inputs, "inputs");
            return without_lock([&] { return self.predict(rows); });
          },
          py::arg("inputs"))
      .def(
          "probabilities",
          [](const TableModel& self, const Columns& inputs) {
            const Eigen::MatrixXd rows = matrix_of(inputs, "inputs");
            return array_of(without_lock([&] { return self.probabilities(rows); }));
          },
          py::arg("inputs"))
      .def("updated", &updated, py::arg("inputs"), py::arg("outputs"), py::arg("weights") = std::vector<double>())
      .def(
          "encode",
          [](const TableModel& self, std::vector<std::string> names, const py::list& columns) {
            return encode_for(columns_of(self), FrameColumns(std::move(names), columns));
          },
          py::arg("names"), py::arg("columns"))
      .def_property_readonly("kind", &kind_of)
      .def_property_readonly("coding", lines)
      .def_property_readonly("columns", [](const TableModel& self) { return names_of_columns(columns_of(self)); })
      .def_property_readonly("features", [](const TableModel& self) { return self.features(); })
      .def_property_readonly("targets", [](const TableModel& self) { return self.targets(); })
      .def_property_readonly("classes", [](const TableModel& self) { return self.classes(); })
      .def_property_readonly("rows", [](const TableModel& self) { return self.training().rows; })
      .def_property_readonly("far_rows", [](const TableModel& self) { return self.training().report.far; })
      .def_property_readonly("relevance",
                             [](const TableModel& self) {
                               std::vector<double> all(self.features().size(), 1.0);
                               if (const TableLearner* table = self.jointly())
                                 std::ranges::copy(table->graphs().mixture().memory().choice.relevance, all.begin());
                               return as_array(std::move(all));
                             })
      .def_property_readonly("noise", [](const TableModel& self) { return as_array(self.method().noise()); })
      .def_property_readonly("left_out", &left_out_of)
      .def_property_readonly("beliefs", &beliefs_of)
      .def("graph", [](const TableModel& self) { return std::make_shared<Graph>(self.method().graph()); })
      .def("summary",
           [](const TableModel& self) {
             std::string all = summary_text(self);
             for (const std::string& line : honest_sentences(self)) all += line + "\n";
             return all;
           })
      .def("__repr__",
           [](const TableModel& self) {
             return fmt::format("<dma.Model of {}: {} from {} columns, {} rows>", kind_of(self), joined(self.targets()),
                                self.features().size(), self.training().rows);
           })
      .def(py::pickle(text, [from_text](const py::bytes& state) { return from_text(state, "the pickled model", {}); }));
}

}  // namespace

void bind_table_models(py::module_& module) {
  bind_prediction(module);
  bind_coding(module);
  bind_model(module);
  py::class_<Outcome, std::shared_ptr<Outcome>>(module, "Outcome", "How a fit ended.")
      .def_property_readonly("model", [](const Outcome& self) { return self.model; })
      .def_readonly("columns", &Outcome::columns)
      .def_property_readonly("ignored", [](const Outcome& self) { return self.data.ignored; })
      .def_property_readonly("reason", [](const Outcome& self) { return self.learned->reason; })
      .def_property_readonly("line", [](const Outcome& self) {
                               const TrainingRecord& training = self.model->training();
                               return training.line.empty() ? training.report.line() : training.line;
                             })
      .def_readonly("warning", &Outcome::warning)
      .def_readonly("error", &Outcome::error)
      .def(
          "report",
          [](const Outcome& self, const std::string& path, const std::string& origin) {
            without_lock([&] {
              Json json = summary_json(*self.model);
              json["reason"] = self.learned->reason;
              json["report"] = report::report_of(*self.learned, self.data, {origin, "a table in Python", self.warning});
              write_file(path, report::page_of(json));
            });
          },
          py::arg("path"), py::arg("origin"));
  module.def("fit", &fit_table, py::arg("inputs"), py::arg("outputs"), py::arg("features"), py::arg("targets"),
             py::arg("parameters"), py::arg("on_epoch") = py::none(), py::arg("coding") = ColumnCoding(),
             py::arg("weights") = std::vector<double>());
  module.def("fit_graph", &fit_graph, py::arg("graph"), py::arg("targets"), py::arg("kinds"), py::arg("inputs"),
             py::arg("outputs"), py::arg("names"), py::arg("parameters"), py::arg("on_epoch") = py::none(),
             py::arg("weights") = std::vector<double>());
  // Files as the command line reads and writes them: whole or not at all.
  module.def(
      "read_model_text", [](const std::string& path) { return py::bytes(read_file(path, "a model file")); },
      py::arg("path"));
  module.def(
      "write_text", [](const std::string& path, const py::bytes& content) { write_file(path, std::string(content)); },
      py::arg("path"), py::arg("text"));
}

}  // namespace dma::python
