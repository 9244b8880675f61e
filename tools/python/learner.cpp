// Learning shared variables of a graph from many examples, by sweeps of messages.
#include "engine/learn/messages/learner.h"

#include <pybind11/functional.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cmath>
#include <deque>

#include "engine/compile/plan_data.h"
#include "engine/support/error.h"
#include "tools/python/handles.h"
#include "tools/python/tables.h"

namespace dma::python {

namespace {

void rethrow(const Listener& listener) {
  if (listener.error().is_none()) return;
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(listener.error().ptr())), listener.error().ptr());
  throw py::error_already_set();
}

struct LearnerHandle : Guarded {
  LearnerHandle(std::shared_ptr<const Graph> graph, const Registry& registry, const Scheduler& schedule,
                const Scheduler& predict, const LearnOptions& options, const CompileOptions& compile_options)
      : Guarded("learner"),
        learner(*graph, registry, schedule, predict, options, compile_options),
        plan{learner.plan(), std::move(graph)} {}
  Learner learner;
  PlanHandle plan;
};

// Arrays by variable, NaN or None where a value is missing; and of given(...) ports, elements by factor and port.
class Examples {
 public:
  Examples(const PlanHandle& plan, const py::dict& values, const py::dict& tables) {
    for (const auto& [variable, given] : values)
      add(plan, id_of(plan, py::reinterpret_borrow<py::object>(variable)), py::reinterpret_borrow<py::object>(given));
    for (const auto& [place, given] : tables) {
      const auto pair = py::isinstance<py::tuple>(place) ? py::reinterpret_borrow<py::tuple>(place) : py::tuple();
      if (pair.size() != 2 || !py::isinstance<py::str>(pair[1]))
        fail("tables: {} is given; a pair of a factor and the name of its port is expected", shown(place));
      const Array numbers = numbers_in(given);
      if (!numbers) fail("tables: {} is given; numbers of elements are expected", shown(given));
      auto& elements = elements_.emplace_back();
      for (const double number : span_of(numbers)) {
        if (!(number >= 0 && number < 4294967296.0 && number == std::floor(number)))
          fail("tables: {} is given; the number of an element is expected", number);
        elements.push_back(static_cast<std::uint32_t>(number));
      }
      data.tables.push_back({factor_of(plan, pair[0]), ports_.emplace_back(pair[1].cast<std::string>()), elements});
    }
  }

  Data data;
  std::size_t size() const { return size_; }

 private:
  void add(const PlanHandle& plan, VariableId id, const py::object& given) {
    const auto& variable = plan.plan->variable(id);
    const bool is_masked = py::hasattr(given, "mask") && py::hasattr(given, "filled");
    const Array numbers = numbers_in(is_masked ? given.attr("astype")("float64").attr("filled")(std::nan("")) : given);
    if (!numbers) fail("'{}': {} is given; an array of numbers is expected", variable.name, shown(given));
    const auto each = numbers.ndim() > 1 ? numbers.size() / std::max<py::ssize_t>(numbers.shape(0), 1) : 0;
    if (each > 0 && static_cast<std::size_t>(each) != variable.values())
      fail("'{}': {} numbers are given for each of {} examples; {} are expected, as an array of examples x elements",
           variable.name, each, numbers.shape(0), variable.values());
    const auto values = span_of(kept_.emplace_back(numbers));
    auto& marks = marks_.emplace_back();
    if (std::ranges::any_of(values, [](double value) { return std::isnan(value); }))
      for (const double value : values) marks.push_back(std::isnan(value) ? 1 : 0);
    data.push_back({id, values, marks});
    size_ = values.size() / std::max<std::size_t>(variable.values(), 1);
  }

  std::size_t size_ = 0;
  std::deque<Array> kept_;
  std::deque<std::vector<std::uint8_t>> marks_;
  std::deque<std::vector<std::uint32_t>> elements_;
  std::deque<std::string> ports_;
};

using PredictByLearner = void (Learner::*)(const Data&, std::span<double>, std::span<double>) const;

// Mean and standard deviation, example x element of the targets.
py::tuple predicted(LearnerHandle& h, const py::dict& values, const py::dict& tables, PredictByLearner predict) {
  const Alone alone(h);
  const Examples examples(h.plan, values, tables);
  const std::size_t size = h.learner.target_size();
  std::vector<double> mean(examples.size() * size), sd(mean.size());
  without_lock([&] { (h.learner.*predict)(examples.data, mean, sd); });
  for (double& value : sd) value = std::sqrt(value);
  const std::vector<py::ssize_t> shape{static_cast<py::ssize_t>(examples.size()), static_cast<py::ssize_t>(size)};
  return py::make_tuple(as_array(std::move(mean), shape), as_array(std::move(sd), shape));
}

}  // namespace

void bind_learner(py::module_& module) {
  py::class_<LearnReport>(module, "LearnReport", "What learning did, and why it stopped.")
      .def_property_readonly("stop", [](const LearnReport& r) { return name_of(r.stop); })
      .def_property_readonly(
          "log_likelihood",
          [](const LearnReport& r) {
            std::vector<double> all;
            for (const EpochRecord& epoch : r.epochs) all.push_back(epoch.log_likelihood);
            return as_array(std::move(all));
          },
          "After each epoch, the mean over examples and elements of the targets.")
      .def_readonly("faults", &LearnReport::faults)
      .def_readonly("replaced", &LearnReport::replaced)
      .def("__len__", [](const LearnReport& r) { return r.epochs.size(); })
      .def("__repr__", &LearnReport::line);
  const LearnOptions usual;
  py::class_<LearnerHandle> learner(
      module, "Learner", "Learns the shared variables of a graph from many examples, by sweeps of messages.");
  learner.def(py::init([](const Graph& graph, const std::vector<py::object>& targets, const py::object& schedule,
                          const py::object& predict, const py::object& registry, const std::vector<Kind>& kinds,
                          const std::string& method, const std::vector<py::object>& may_be_missing, std::size_t batches,
                          std::size_t batch_size, std::size_t parts, int epochs, double tolerance, int patience,
                          double least_gain, double evidence_weight, double first_step, double step,
                          std::size_t workers, std::size_t jobs) {
                const LearnOptions options{.targets = ids_of(graph, targets),
                                           .batches = batches,
                                           .batch_size = batch_size,
                                           .parts = parts,
                                           .epochs = epochs,
                                           .tolerance = tolerance,
                                           .patience = patience,
                                           .least_gain = least_gain,
                                           .evidence_weight = evidence_weight,
                                           .first_step = first_step,
                                           .step = step,
                                           .workers = workers,
                                           .jobs = jobs};
                const Registry known = registry_with(registry, kinds);
                return with_advice(graph, known, [&] {
                  return std::make_unique<LearnerHandle>(
                      std::make_shared<const Graph>(graph), known, sweeps_of(schedule), sweeps_of(predict), options,
                      CompileOptions{.method = method, .may_be_missing = ids_of(graph, may_be_missing)});
                });
              }),
              py::arg("graph"), py::arg("targets"), py::arg("schedule") = "forward_backward",
              py::arg("predict") = "forward", py::arg("registry") = py::none(), py::kw_only(),
              py::arg("kinds") = std::vector<Kind>{}, py::arg("method") = "dma",
              py::arg("may_be_missing") = std::vector<py::object>{}, py::arg("batches") = usual.batches,
              py::arg("batch_size") = usual.batch_size, py::arg("parts") = usual.parts,
              py::arg("epochs") = usual.epochs, py::arg("tolerance") = usual.tolerance,
              py::arg("patience") = usual.patience, py::arg("least_gain") = usual.least_gain,
              py::arg("evidence_weight") = usual.evidence_weight, py::arg("first_step") = usual.first_step,
              py::arg("step") = usual.step, py::arg("workers") = usual.workers, py::arg("jobs") = usual.jobs);
  const auto values = py::arg("values");
  const auto tables = py::arg("tables") = py::dict();
  learner
      .def("fit",
           when_alone(+[](LearnerHandle& h, const py::dict& given, const py::dict& given_tables, py::object callback) {
             const Examples examples(h.plan, given, given_tables);
             Listener listener(std::move(callback));
             LearnReport report = without_lock([&] {
               return h.learner.fit(examples.data, [&](const EpochRecord& e) {
                 return listener.hear(0, e.epoch, e.log_likelihood, e.seconds);
               });
             });
             rethrow(listener);
             return report;
           }),
           values, tables, py::arg("callback") = py::none(),
           "Epochs until a rule says stop. Arrays of examples x elements by variable, NaN where a value is missing; "
           "elements of given(...) ports by (factor, port). Called again, it goes on.")
      .def("add", when_alone(+[](LearnerHandle& h, const py::dict& given, const py::dict& given_tables) {
             const Examples examples(h.plan, given, given_tables);
             return without_lock([&] { return h.learner.add(examples.data).examples; });
           }),
           values, tables, "Learns these examples once, on top of all that is known; how many they were.")
      .def(
          "predict",
          [](LearnerHandle& h, const py::dict& given, const py::dict& given_tables) {
            return predicted(h, given, given_tables, &Learner::predict);
          },
          values, tables, "Mean and standard deviation of the targets, examples x elements.")
      .def(
          "predict_left_out",
          [](LearnerHandle& h, const py::dict& given, const py::dict& given_tables) {
            return predicted(h, given, given_tables, &Learner::predict_left_out);
          },
          values, tables, "Of the examples that were fitted, each as if its mini-batch had never been learned.")
      .def("forget", when_alone(+[](LearnerHandle& h, std::size_t batch) { h.learner.forget(batch); }),
           py::arg("batch"), "What a mini-batch taught is taken back.")
      .def("belief", when_alone(+[](LearnerHandle& h, const py::object& variable) {
             return std::make_shared<Belief>(h.learner.belief(id_of(h.plan, variable)));
           }),
           py::arg("variable"), "What is known of a shared variable.")
      .def("freeze",
           when_alone(+[](LearnerHandle& h, const py::object& variable) { h.learner.freeze(id_of(h.plan, variable)); }),
           py::arg("variable"), "A shared variable stays as it is known now.")
      .def("thaw",
           when_alone(+[](LearnerHandle& h, const py::object& variable) { h.learner.thaw(id_of(h.plan, variable)); }),
           py::arg("variable"), "Lets a frozen variable learn again.")
      .def("set_parameter",
           when_alone(
               +[](LearnerHandle& h, const py::object& factor, const std::string& name, const py::object& numbers) {
                 const ParameterValue value = parameter_of(name, numbers);
                 h.learner.set_parameter(factor_of(h.plan, factor), name,
                                         std::span(value.numbers.begin(), value.numbers.size()));
               }),
           py::arg("factor"), py::arg("parameter"), py::arg("values"), "Other numbers for a factor.");
}

}  // namespace dma::python
