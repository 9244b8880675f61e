// Models of tables: learning and predicting, as `dma fit` and `dma predict` do, with the same settings, checks and
// files.
#include <fmt/format.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "engine/support/fields.h"
#include "engine/support/text.h"
#include "models/learn/table_learner.h"
#include "tools/dma/fit/learn.h"
#include "tools/dma/fit/summary.h"
#include "tools/dma/io/read_file.h"
#include "tools/dma/io/write_file.h"
#include "tools/dma/page/report.h"
#include "tools/python/handles.h"
#include "tools/python/tables.h"

namespace dma::python {

namespace {

// The result of a fit, and the rows that it learned.
struct Outcome {
  std::shared_ptr<TableModel> model = {};
  std::shared_ptr<Learned> learned = {};
  TrainingData data = {};
  std::vector<std::size_t> far = {};  // rows that were given
  py::object error = py::none();      // the error that stopped it: Ctrl-C, or one that the callback raised
};

void learn_into(Outcome& outcome, ModelToLearn made, Listener& listener) {
  WatchedFit fit{std::move(made.fit)};
  listener.watch(fit);
  TrainingData& data = outcome.data;
  outcome.learned = std::make_shared<Learned>(learn(std::move(made.model), data, std::move(fit)));
  if (!made.reason.empty()) outcome.learned->reason = made.reason;
  check_learned(*outcome.learned, data);
  outcome.model = {outcome.learned, &outcome.learned->model};
  for (const Eigen::Index row : outcome.model->training().report.far)
    outcome.far.push_back(data.lines[static_cast<std::size_t>(row)]);
}

// make(data) reads the rows and says what is to be learned from them.
template <class Make>
std::shared_ptr<Outcome> fitted(Listener listener, const Make& make) {
  auto outcome = std::make_shared<Outcome>();
  without_lock([&] { learn_into(*outcome, make(outcome->data), listener); });
  outcome->error = listener.error();
  return outcome;
}

std::shared_ptr<Outcome> fit_table(const GivenTable& table, const py::dict& parameters, const py::object& on_epoch) {
  const FitSettings settings = fit_settings(parameters);
  return fitted(Listener(on_epoch, settings.max_seconds), [&](TrainingData& data) {
    data = read_training_data(table.request, TableSource(table.columns));
    return model_to_learn(settings, data);
  });
}

// Columns of X without names stand in the order of the graph's inputs; those of y in that of its targets.
TableSource observed_by(const GraphModel& model, MixedTable columns, const GivenTable& table) {
  const std::size_t others = table.targets.size() + (table.weights.empty() ? 0 : 1);
  const auto rename = [&](std::size_t first, std::size_t count, const std::vector<std::string>& names,
                          const char* what) {
    if (names.size() != count)
      fail("{} has {} column{}, but the graph has {}: {}", what, count, count == 1 ? "" : "s", names.size(),
           joined(names));
    std::ranges::copy(names, columns.names.begin() + static_cast<std::ptrdiff_t>(first));
  };
  const std::size_t inputs = columns.names.size() - others;
  if (!table.has_names) rename(0, inputs, model.inputs(), "X");
  rename(inputs, table.targets.size(), model.targets(), "y");
  return TableSource(std::move(columns));
}

std::shared_ptr<Outcome> fit_graph(const Graph& graph, const std::vector<Kind>& kinds, const GivenTable& table,
                                   const py::dict& parameters, const py::object& on_epoch) {
  const GraphModelOptions options = graph_options(parameters);
  const Registry known = registry_with(py::none(), kinds);
  return fitted(Listener(on_epoch), [&](TrainingData& data) -> ModelToLearn {
    GraphFile file;
    file.graph = graph;
    GraphModel model(std::move(file), known, table.targets, options);
    data = read_observed(table.request, observed_by(model, table.columns, table), model);
    const LearnOptions learning = model.fit_options();
    return {TableModel::graph_of(std::move(model)), {.options = learning}};
  });
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

// The same model with more rows on top, whether the update settled, and what there is to tell of the rows.
std::tuple<std::shared_ptr<TableModel>, bool, std::vector<std::string>> updated(const TableModel& model,
                                                                                const GivenTable& table) {
  return without_lock([&] {
    auto more = std::make_shared<TableModel>(TableModel::from_text(model.text(), "the model", built_in_kinds()));
    const TrainingData rows =
        read_new_rows(TableSource(table.columns), "the model", columns_of(model), model.targets(), table.weights);
    const bool settled = more->update({rows.inputs, rows.outputs, rows.weights});
    return std::tuple(more, settled, rows.notes);
  });
}

// A function of the targets of the rows that were predicted.
auto of_targets(Eigen::MatrixXd (Prediction::*method)(const Eigen::MatrixXd&) const) {
  return [method](const Prediction& p, const Eigen::MatrixXd& y) {
    if (y.rows() != p.mean.rows() || y.cols() != p.mean.cols())
      fail("y has {} rows and {} columns, but {} and {} were predicted", y.rows(), y.cols(), p.mean.rows(),
           p.mean.cols());
    return (p.*method)(y);
  };
}

void bind_prediction(py::module_& module) {
  Class<Prediction>(module, "Prediction", "For every row and output a mixture of Gaussians or Student's t.")
      .get("mean", "", &Prediction::mean)
      .get("sd", "", &Prediction::sd)
      .get("epistemic_sd", "", &Prediction::epistemic_sd)
      .get("noise_sd", "", &Prediction::noise_sd)
      .def(
          "quantile(probability)", "",
          [](const Prediction& self, double probability) {
            if (!(probability > 0 && probability < 1))
              fail("a quantile of {} is asked for; a probability above 0 and below 1 is expected", probability);
            return self.quantile(probability);
          },
          kUnlocked)
      .def("log_density(y)", "", of_targets(&Prediction::log_density), kUnlocked)
      .def("cumulative(y)", "", of_targets(&Prediction::cumulative), kUnlocked)
      .def("__len__()", "", [](const Prediction& self) { return self.mean.rows(); })
      .def("__repr__()", "", [](const Prediction& self) {
        return fmt::format("<dma.Prediction of {} rows x {} targets>", self.mean.rows(), self.mean.cols());
      });
}

py::bytes model_text(const TableModel& model) {
  return without_lock([&] { return model.text(); });
}

std::shared_ptr<TableModel> model_from(const py::bytes& bytes, const std::string& source,
                                       const std::vector<Kind>& kinds) {
  const std::string text = bytes;
  return without_lock([&] {
    return std::make_shared<TableModel>(TableModel::from_text(text, source, registry_with(py::none(), kinds)));
  });
}

std::string summary_of(const TableModel& model) {
  std::string all = summary_text(model);
  for (const std::string& line : honest_sentences(model)) all += line + "\n";
  return all;
}

py::array_t<double> relevance_of(const TableModel& model) {
  std::vector<double> all(model.features().size(), 1.0);
  if (const TableLearner* table = model.jointly()) std::ranges::copy(table->relevance(), all.begin());
  return as_array(std::move(all));
}

void bind_model(py::module_& module) {
  Class<TableModel, std::shared_ptr<TableModel>>(module, "Model",
                                                 "A model learned from a table; its text is that of a model file.")
      .def("text()", "", &model_text)
      .def("predict(inputs)", "", &TableModel::predict, kUnlocked)
      .def("probabilities(inputs)", "", &TableModel::probabilities, kUnlocked)
      .def("updated(table)", "", &updated)
      .def("encode(table)", "The inputs of the model, from the columns of a table, and what there is to tell of them.",
           [](const TableModel& self, const GivenTable& table) {
             TrainingData rows = read_new_rows(TableSource(table.columns), "the model", columns_of(self));
             return std::pair(std::move(rows.inputs), rows.notes);
           })
      .get("kind", "", &kind_of)
      .get("coding", "", [](const TableModel& self) { return self.coding().lines(); })
      .get("columns", "", [](const TableModel& self) { return names_of_columns(columns_of(self)); })
      .get("features", "", [](const TableModel& self) { return self.features(); })
      .get("targets", "", [](const TableModel& self) { return self.targets(); })
      .get("classes", "", [](const TableModel& self) { return self.classes(); })
      .get("rows", "", [](const TableModel& self) { return self.training().rows; })
      .get("far_rows", "", [](const TableModel& self) { return self.training().report.far; })
      .get("relevance", "", &relevance_of)
      .get("noise", "", [](const TableModel& self) { return as_array(self.method().noise()); })
      .get("left_out", "", &left_out_of)
      .get("beliefs", "", &beliefs_of)
      .def("graph()", "", [](const TableModel& self) { return std::make_shared<Graph>(self.method().graph()); })
      .def("summary()", "", &summary_of)
      .def("__repr__()", "",
           [](const TableModel& self) {
             return fmt::format("<dma.Model of {}: {} from {} columns, {} rows>", kind_of(self), joined(self.targets()),
                                self.features().size(), self.training().rows);
           })
      .pickled(&model_text, [](const py::bytes& state) { return model_from(state, "the pickled model", {}); });
  def(module, "model_from_text(text, source, kinds=[])", "", &model_from);
}

}  // namespace

void bind_table_models(py::module_& module) {
  bind_prediction(module);
  bind_table(module);
  bind_model(module);
  Class<Outcome, std::shared_ptr<Outcome>>(module, "Outcome", "How a fit ended.")
      .get("model", "", [](const Outcome& self) { return self.model; })
      .get("far_rows", "", &Outcome::far)
      .get("without_target", "", [](const Outcome& self) { return self.data.without_target; })
      .get("ignored", "", [](const Outcome& self) { return self.data.ignored; })
      .get("reason", "", [](const Outcome& self) { return self.learned->reason; })
      .get("line", "",
           [](const Outcome& self) {
             const TrainingRecord& training = self.model->training();
             return training.line.empty() ? training.report.line() : training.line;
           })
      .get("warning", "", [](const Outcome& self) { return self.learned->warning; })
      .get("error", "", &Outcome::error)
      .def("report(path, origin)", "",
           [](const Outcome& self, const std::string& path, const std::string& origin) {
             without_lock([&] {
               Json json = summary_json(*self.model);
               json["reason"] = self.learned->reason;
               json["report"] = report::report_of(*self.learned, self.data, {origin, "a table in Python"});
               write_file(path, report::page_of(json));
             });
           })
      .def("importance()", "", [](const Outcome& self) {
        const std::string text = without_lock([&] { return report::importance_of(*self.learned, self.data).dump(); });
        return py::module_::import("json").attr("loads")(text).cast<std::vector<py::dict>>();
      });
  def(module, "fit(table, parameters, on_epoch=None)", "", &fit_table);
  def(module, "fit_graph(graph, kinds, table, parameters, on_epoch=None)", "", &fit_graph);
  // Files as the command line reads and writes them: whole or not at all.
  def(module, "read_model_text(path)", "",
      [](const std::string& path) { return py::bytes(read_file(path, "a model file")); });
  def(module, "write_text(path, text)", "",
      [](const std::string& path, const py::bytes& content) { write_file(path, std::string(content)); });
}

}  // namespace dma::python
