// Learning a table and predicting, as `dma fit` and `dma predict` do: the same settings, checks and files.
#include <pybind11/stl.h>

#include <algorithm>

#include "engine/support/error.h"
#include "models/files/bnn_file.h"
#include "tools/dma/fit/fit_check.h"
#include "tools/dma/fit/fit_settings.h"
#include "tools/dma/fit/model_summary.h"
#include "tools/dma/fit/prediction_table.h"
#include "tools/dma/fit/saved_fit.h"
#include "tools/dma/io/read_file.h"
#include "tools/dma/io/write_file.h"
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

// A model that predicts; nothing changes it, so that any number of threads may ask it at once.
class Fitted {
 public:
  explicit Fitted(SavedBnn saved) : saved_(std::move(saved)), net_(make_bnn(saved_)) {}

  const SavedBnn& saved() const { return saved_; }
  const Bnn& net() const { return net_; }
  Prediction predict(const Eigen::MatrixXd& inputs) const {
    Prediction prediction = net_.predict(inputs);
    check_prediction(prediction, saved_.targets);
    return prediction;
  }
  // And whether the update settled.
  std::pair<std::shared_ptr<Fitted>, bool> updated(const Eigen::MatrixXd& inputs, const Eigen::MatrixXd& outputs,
                                                   const std::vector<double>& weights) const {
    if (!saved_.options.is_joint())
      fail(
          "partial_fit: this model was learned by sweeps of messages, and rows are added to a joint fit alone; leave "
          "method away, or "
          "fit all rows together");
    Bnn net = make_bnn(saved_);
    SavedBnn saved = saved_;
    const bool settled = learn_more(
        net, saved, inputs, outputs,
        Eigen::Map<const Eigen::VectorXd>(weights.data(), static_cast<Eigen::Index>(weights.size())));
    return {std::make_shared<Fitted>(std::move(saved)), settled};
  }

 private:
  SavedBnn saved_;
  Bnn net_;
};

struct NumberOutcome : Outcome {
  std::shared_ptr<Fitted> model;
};

void check_targets(const TrainingData& data) {
  for (Eigen::Index j = 0; j < data.outputs.cols(); ++j) {
    const auto column = data.outputs.col(j);
    if (!(column.minCoeff() < column.maxCoeff()))
      fail("the target '{}' is {} in all {} rows; there is nothing to learn", data.targets[static_cast<std::size_t>(j)],
           column(0), column.size());
  }
}

void learn(TrainingData& data, const FitSettings& settings, Listener& listener, NumberOutcome& outcome) {
  check_table(data);
  check_targets(data);
  leave_out_redundant(data, outcome);
  Model model = model_for(settings, data.features.size(), data.targets.size(), data.rows());
  Bnn net(model.network);
  net.keep_going_while([&] { return listener.goes_on(); },
                       settings.max_seconds ? [&] { return *listener.seconds_left(); } : std::function<double()>());
  const FitReport report = net.fit(
      data.inputs, data.outputs, model.fit,
      [&](const BnnEpoch& e) {
        return listener.hear(e.member, e.record.epoch, e.record.log_likelihood, e.record.seconds);
      },
      data.weights);
  data.drop(report.far);
  outcome.model = std::make_shared<Fitted>(saved_fit(net, data, model.fit, report));
  outcome.reason = model.network.choose_width ? report.form : model.reason;
  outcome.line = report.line();
  try {
    outcome.warning = check_fit(outcome.model->net(), data);
  } catch (const Error& e) {
    if (!report.interrupted) throw;
    outcome.warning = e.what();  // more epochs may mend it
  }
}

NumberOutcome fit(const Columns& inputs, const Columns& outputs, std::vector<std::string> features,
                  std::vector<std::string> targets, const FitSettings& settings, py::object on_epoch,
                  ColumnCoding coding, const std::vector<double>& weights) {
  TrainingData data;
  data.weights = Eigen::Map<const Eigen::VectorXd>(weights.data(), static_cast<Eigen::Index>(weights.size()));
  data.inputs = matrix_of(inputs, "inputs");
  data.outputs = matrix_of(outputs, "outputs");
  data.features = std::move(features);
  data.targets = std::move(targets);
  data.coding = std::move(coding);
  Listener listener(std::move(on_epoch), settings.max_seconds);
  NumberOutcome outcome;
  {
    const py::gil_scoped_release unlocked;
    learn(data, settings, listener, outcome);
  }
  outcome.error = listener.error();
  return outcome;
}

std::vector<py::dict> left_out(const Fitted& model) {
  std::vector<py::dict> all;
  for (const LeftOut& one : model.saved().training.left_out) {
    py::dict entry;
    entry["rmse"] = one.scores.rmse;
    entry["log_likelihood"] = one.scores.log_likelihood;
    entry["coverage_50"] = one.scores.coverage_50;
    entry["coverage_90"] = one.scores.coverage_90;
    entry["coverage_95"] = one.scores.coverage_95;
    entry["explained"] = one.explained;
    all.push_back(entry);
  }
  return all;
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

}  // namespace

void bind_regressor(py::module_& module) {
  py::class_<FitSettings> settings(module, "FitSettings", "The options of `dma fit`, by the same names.");
  settings.def(py::init<>())
      .def_readwrite("preset", &FitSettings::preset)
      .def_readwrite("hidden", &FitSettings::hidden)
      .def_readwrite("slopes", &FitSettings::slopes)
      .def_readwrite("noise", &FitSettings::noise)
      .def_readwrite("noise_model", &FitSettings::noise_model)
      .def_readwrite("bias", &FitSettings::bias)
      .def_readwrite("standardise", &FitSettings::standardise)
      .def_readwrite("learn_prior", &FitSettings::learn_prior)
      .def_readwrite("neighbours", &FitSettings::neighbours)
      .def_readwrite("log_inputs", &FitSettings::log_inputs)
      .def_readwrite("features_map", &FitSettings::feature_map)
      .def_readwrite("prior_scale", &FitSettings::prior_scale)
      .def_readwrite("members", &FitSettings::members)
      .def_readwrite("method", &FitSettings::method)
      .def_readwrite("tempering", &FitSettings::tempering)
      .def_readwrite("batches", &FitSettings::batches)
      .def_readwrite("batch_size", &FitSettings::batch_size)
      .def_readwrite("epochs", &FitSettings::epochs)
      .def_readwrite("patience", &FitSettings::patience)
      .def_readwrite("tolerance", &FitSettings::tolerance)
      .def_readwrite("least_gain", &FitSettings::least_gain)
      .def_readwrite("max_seconds", &FitSettings::max_seconds)
      .def_readwrite("seed", &FitSettings::seed)
      .def_readwrite("jobs", &FitSettings::jobs);

  bind_prediction(module);
  bind_coding(module);

  const auto from_text = [](const std::string& text, const std::string& source) {
    return without_lock([&] { return std::make_shared<Fitted>(bnn_from_text(text, source)); });
  };
  const auto text = [](const Fitted& self) { return without_lock([&] { return bnn_to_text(self.saved()); }); };
  py::class_<Fitted, std::shared_ptr<Fitted>>(module, "Model", "What was learned; the text is that of a model file.")
      .def_static("from_text", from_text, py::arg("text"), py::arg("source"))
      .def("text", text)
      .def(
          "predict",
          [](const Fitted& self, const Columns& inputs) {
            const Eigen::MatrixXd rows = matrix_of(inputs, "inputs");
            return without_lock([&] { return self.predict(rows); });
          },
          py::arg("inputs"))
      .def(
          "updated",
          [](const Fitted& self, const Columns& inputs, const Columns& outputs, const std::vector<double>& weights) {
            const Eigen::MatrixXd rows = matrix_of(inputs, "inputs"), targets = matrix_of(outputs, "outputs");
            return without_lock([&] { return self.updated(rows, targets, weights); });
          },
          py::arg("inputs"), py::arg("outputs"), py::arg("weights") = std::vector<double>())
      .def(
          "encode",
          [](const Fitted& self, std::vector<std::string> names, const py::list& columns) {
            return encode_for(self.saved(), FrameColumns(std::move(names), columns));
          },
          py::arg("names"), py::arg("columns"))
      .def_property_readonly("coding", [](const Fitted& self) { return self.saved().coding.lines(); })
      .def_property_readonly("columns", [](const Fitted& self) { return names_of_columns(self.saved()); })
      .def_property_readonly("features", [](const Fitted& self) { return self.saved().features; })
      .def_property_readonly("targets", [](const Fitted& self) { return self.saved().targets; })
      .def_property_readonly("rows", [](const Fitted& self) { return self.saved().training.rows; })
      .def_property_readonly("far_rows", [](const Fitted& self) { return self.saved().training.far; })
      .def_property_readonly("relevance",
                             [](const Fitted& self) {
                               const auto& joint = self.saved().memory.joint;
                               std::vector<double> all(self.saved().features.size(), 1.0);
                               if (joint) std::ranges::copy(joint->relevance, all.begin());
                               return as_array(std::move(all));
                             })
      .def_property_readonly("noise", [](const Fitted& self) { return as_array(self.net().noise()); })
      .def_property_readonly("left_out", &left_out)
      .def("graph", [](const Fitted& self) { return std::make_shared<Graph>(self.net().graph()); })
      .def("summary",
           [](const Fitted& self) {
             std::string all = summary_text(self.saved());
             for (const std::string& line : honest_sentences(self.saved())) all += line + "\n";
             return all;
           })
      .def(py::pickle(text, [from_text](const std::string& state) { return from_text(state, "the pickled model"); }));

  bind_outcome(module);
  py::class_<NumberOutcome, Outcome>(module, "NumberOutcome").def_readonly("model", &NumberOutcome::model);
  module.def("fit", &fit, py::arg("inputs"), py::arg("outputs"), py::arg("features"), py::arg("targets"),
             py::arg("settings"), py::arg("on_epoch") = py::none(), py::arg("coding") = ColumnCoding(),
             py::arg("weights") = std::vector<double>());
  // Files as the command line reads and writes them: whole or not at all.
  module.def(
      "read_model_text", [](const std::string& path) { return read_file(path, "a model file"); }, py::arg("path"));
  module.def(
      "write_text", [](const std::string& path, const std::string& content) { write_file(path, content); },
      py::arg("path"), py::arg("text"));
}

}  // namespace dma::python
