// Learning shared variables of a graph from many examples, by sweeps of messages.
#include "engine/learn/messages/learner.h"

#include <fmt/format.h>
#include <pybind11/functional.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cmath>
#include <deque>

#include "engine/compile/plan_data.h"
#include "engine/support/text.h"
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

// Mean and standard deviation of the targets, example x element.
auto predicted_by(void (Learner::*predict)(const Data&, std::span<double>, std::span<double>) const) {
  return [predict](LearnerHandle& h, const py::dict& values, const py::dict& tables) {
    const Examples examples(h.plan, values, tables);
    const std::size_t size = h.learner.target_size();
    std::vector<double> mean(examples.size() * size), sd(mean.size());
    without_lock([&] { (h.learner.*predict)(examples.data, mean, sd); });
    for (double& value : sd) value = std::sqrt(value);
    return py::make_tuple(as_array(std::move(mean), examples.size(), size),
                          as_array(std::move(sd), examples.size(), size));
  };
}

std::unique_ptr<LearnerHandle> make_learner(const Graph& graph, const std::vector<py::object>& targets,
                                            const py::object& schedule, const py::object& predict,
                                            const py::object& registry, const std::vector<Kind>& kinds,
                                            const std::string& method, const std::vector<py::object>& may_be_missing,
                                            std::size_t batches, std::size_t batch_size, int epochs, double tolerance,
                                            int patience, double least_gain, double step, std::size_t workers,
                                            std::size_t jobs) {
  const LearnOptions options{.targets = ids_of(graph, targets),
                             .batches = batches,
                             .batch_size = batch_size,
                             .epochs = epochs,
                             .tolerance = tolerance,
                             .patience = patience,
                             .least_gain = least_gain,
                             .step = step,
                             .workers = workers,
                             .jobs = jobs};
  const Registry known = registry_with(registry, kinds);
  return with_advice(graph, known, [&] {
    return std::make_unique<LearnerHandle>(
        std::make_shared<const Graph>(graph), known, sweeps_of(schedule), sweeps_of(predict), options,
        CompileOptions{.method = method, .may_be_missing = ids_of(graph, may_be_missing)});
  });
}

}  // namespace

void bind_learner(py::module_& module) {
  Class<LearnReport>(module, "LearnReport", "The course of learning, and why it stopped.")
      .get("stop", "", [](const LearnReport& r) { return name_of(r.stop); })
      .get("log_likelihood", "After each epoch, the mean over examples and elements of the targets.",
           [](const LearnReport& r) {
             return array_by(r.epochs.size(), [&](std::size_t i) { return r.epochs[i].log_likelihood; });
           })
      .get("faults", "", &LearnReport::faults)
      .get("replaced", "", &LearnReport::replaced)
      .def("__len__()", "", [](const LearnReport& r) { return r.epochs.size(); })
      .def("__repr__()", "", &LearnReport::line);
  const LearnOptions usual;
  Class<LearnerHandle>(module, "Learner",
                       "Learns the shared variables of a graph from many examples, by sweeps of messages.")
      .init(fmt::format("graph, targets, schedule='forward_backward', predict='forward', registry=None, *, kinds=[], "
                        "method='dma', may_be_missing=[], batches={}, batch_size={}, epochs={}, "
                        "tolerance={}, patience={}, least_gain={}, step={}, "
                        "workers={}, jobs={}",
                        usual.batches, usual.batch_size, usual.epochs, usual.tolerance, usual.patience,
                        usual.least_gain, usual.step, usual.workers, usual.jobs),
            &make_learner)
      .def("fit(values, tables={}, callback=None)",
           "Epochs until a rule says stop. Arrays of examples x elements by variable, NaN where a value is missing; "
           "elements of given(...) ports by (factor, port). Called again, it goes on.",
           [](LearnerHandle& h, const py::dict& values, const py::dict& tables, const py::object& callback) {
             const Examples examples(h.plan, values, tables);
             Listener listener(callback);
             LearnReport report = without_lock([&] {
               return h.learner.fit(examples.data, [&](const EpochRecord& e) {
                 return listener.hear(0, e.epoch, e.log_likelihood, e.seconds);
               });
             });
             rethrow(listener);
             return report;
           })
      .def("add(values, tables={})", "Learns these examples once, on top of all that is known; how many they were.",
           [](LearnerHandle& h, const py::dict& values, const py::dict& tables) {
             const Examples examples(h.plan, values, tables);
             return without_lock([&] { return h.learner.add(examples.data).examples; });
           })
      .def("predict(values, tables={})", "Mean and standard deviation of the targets, examples x elements.",
           predicted_by(&Learner::predict))
      .def("predict_left_out(values, tables={})",
           "Predictions for the fitted examples, each as if its mini-batch had never been learned.",
           predicted_by(&Learner::predict_left_out))
      .def("forget(batch)", "Takes back what a mini-batch taught.",
           [](LearnerHandle& h, std::size_t batch) { h.learner.forget(batch); })
      .def("belief(variable)", "The belief of a shared variable.",
           [](LearnerHandle& h, const py::object& variable) {
             return std::make_shared<Belief>(h.learner.belief(id_of(h.plan, variable)));
           })
      .def("freeze(variable)", "A shared variable stays as it is known now.",
           [](LearnerHandle& h, const py::object& variable) { h.learner.freeze(id_of(h.plan, variable)); })
      .def("thaw(variable)", "Lets a frozen variable learn again.",
           [](LearnerHandle& h, const py::object& variable) { h.learner.thaw(id_of(h.plan, variable)); })
      .def("set_parameter(factor, parameter, values)", "Other numbers for a factor.",
           [](LearnerHandle& h, const py::object& factor, const std::string& name, const py::object& numbers) {
             const ParameterValue value = parameter_of(name, numbers);
             h.learner.set_parameter(factor_of(h.plan, factor), name,
                                     std::span(value.numbers.begin(), value.numbers.size()));
           });
}

}  // namespace dma::python
