// Learning classes and predicting their probabilities, as `dma fit` does where the target is text.
#include <pybind11/stl.h>

#include <chrono>

#include "engine/support/error.h"
#include "engine/support/text.h"
#include "models/files/classifier_file.h"
#include "models/network/bnn_check.h"
#include "tools/dma/fit/classifier_summary.h"
#include "tools/dma/fit/fit_settings.h"
#include "tools/python/tables.h"

namespace dma::python {

namespace {

// Nothing changes it: any number of threads may ask it at once.
class FittedClasses {
 public:
  explicit FittedClasses(SavedClassifier saved) : saved_(std::move(saved)), net_(make_classifier(saved_)) {}

  const SavedClassifier& saved() const { return saved_; }
  Eigen::MatrixXd predict(const Eigen::MatrixXd& inputs) const {
    Eigen::MatrixXd probabilities = net_.predict(inputs);
    check_probabilities(probabilities);
    return probabilities;
  }

 private:
  SavedClassifier saved_;
  Classifier net_;
};

struct ClassOutcome : Outcome {
  std::shared_ptr<FittedClasses> model;
};

void learn(TrainingData& data, const std::vector<std::string>& labels, const FitSettings& settings, Listener& listener,
           ClassOutcome& outcome) {
  check_table(data);
  for (const std::string& label : labels)
    if (!is_plain_text(label)) fail("the name of a class, '{}', holds control characters; rename it", printable(label));
  const ClassLabels classes = ClassLabels::of(labels);
  check_classes(classes, data.targets[0]);
  leave_out_redundant(data, outcome);
  const ClassifierOptions options = classifier_for(settings);
  Classifier net(options);
  const auto begin = std::chrono::steady_clock::now();
  const double rows = total_weight(data.inputs.rows(), data.weights);
  const ClassifierReport report = net.fit(data.inputs, classes, [&](const ClassifierEpoch& e) {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return listener.hear(e.part, e.epoch.epoch, e.epoch.log_evidence / rows, seconds);
  }, data.weights);
  SavedClassifier saved{
      .features = data.features, .target = data.targets[0], .options = options, .memory = net.memory()};
  saved.coding = data.coding;
  saved.training = {.rows = data.rows(), .counts = classes.counts(), .report = report};
  try {
    check_saved(saved);  // as whoever reads the file will
    outcome.model = std::make_shared<FittedClasses>(std::move(saved));
    (void)outcome.model->predict(data.inputs);
  } catch (const Error& e) {
    fail("the fit failed: {}; {}", e.what(), repair_of_numbers(options.standardise));
  }
  outcome.reason = report.reason;
  outcome.line = honest_sentence(outcome.model->saved());
}

ClassOutcome fit_classes(const Columns& inputs, const std::vector<std::string>& labels,
                         std::vector<std::string> features, const std::string& target, const FitSettings& settings,
                         py::object on_epoch, ColumnCoding coding, const std::vector<double>& weights) {
  TrainingData data;
  data.inputs = matrix_of(inputs, "inputs");
  data.weights = Eigen::Map<const Eigen::VectorXd>(weights.data(), static_cast<Eigen::Index>(weights.size()));
  data.features = std::move(features);
  data.targets = {target};
  data.coding = std::move(coding);
  Listener listener(std::move(on_epoch), settings.max_seconds);
  ClassOutcome outcome;
  {
    const py::gil_scoped_release unlocked;
    learn(data, labels, settings, listener, outcome);
  }
  outcome.error = listener.error();
  return outcome;
}

}  // namespace

py::dict dict_of(const ClassScores& scores) {
  py::dict entry;
  entry["accuracy"] = scores.accuracy;
  entry["log_loss"] = scores.log_loss;
  entry["calibration_error"] = scores.calibration_error;
  return entry;
}

void bind_classifier(py::module_& module) {
  const auto from_text = [](const std::string& text, const std::string& source) {
    return without_lock([&] { return std::make_shared<FittedClasses>(classifier_from_text(text, source)); });
  };
  const auto text = [](const FittedClasses& self) {
    return without_lock([&] { return classifier_to_text(self.saved()); });
  };
  py::class_<FittedClasses, std::shared_ptr<FittedClasses>>(
      module, "ClassModel", "What was learned of classes; the text is that of a model file.")
      .def_static("from_text", from_text, py::arg("text"), py::arg("source"))
      .def("text", text)
      .def(
          "predict",
          [](const FittedClasses& self, const Columns& inputs) {
            const Eigen::MatrixXd rows = matrix_of(inputs, "inputs");
            return array_of(without_lock([&] { return self.predict(rows); }));
          },
          py::arg("inputs"))
      .def(
          "encode",
          [](const FittedClasses& self, std::vector<std::string> names, const py::list& columns) {
            return encode_for(self.saved(), FrameColumns(std::move(names), columns));
          },
          py::arg("names"), py::arg("columns"))
      .def_property_readonly("coding", [](const FittedClasses& self) { return self.saved().coding.lines(); })
      .def_property_readonly("columns", [](const FittedClasses& self) { return names_of_columns(self.saved()); })
      .def_property_readonly("features", [](const FittedClasses& self) { return self.saved().features; })
      .def_property_readonly("classes", [](const FittedClasses& self) { return self.saved().memory.classes; })
      .def_property_readonly("target", [](const FittedClasses& self) { return self.saved().target; })
      .def_property_readonly("left_out",
                             [](const FittedClasses& self) { return dict_of(self.saved().training.report.left_out); })
      .def("summary",
           [](const FittedClasses& self) { return summary_text(self.saved()) + honest_sentence(self.saved()) + "\n"; })
      .def(py::pickle(text, [from_text](const std::string& state) { return from_text(state, "the pickled model"); }));
  py::class_<ClassOutcome, Outcome>(module, "ClassOutcome").def_readonly("model", &ClassOutcome::model);
  module.def("fit_classes", &fit_classes, py::arg("inputs"), py::arg("labels"), py::arg("features"), py::arg("target"),
             py::arg("settings"), py::arg("on_epoch") = py::none(), py::arg("coding") = ColumnCoding(),
             py::arg("weights") = std::vector<double>());
}

}  // namespace dma::python
