// Series: the choice that `dma smooth` makes, and state spaces of one's own.
#include <fmt/format.h>
#include <pybind11/stl.h>

#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include "engine/support/error.h"
#include "models/series/series_choice.h"
#include "models/series/series_filter.h"
#include "models/series/series_seasons.h"
#include "tools/dma/io/series_time.h"
#include "tools/python/bindings.h"

namespace dma::python {

namespace {

using Known = std::vector<std::optional<double>>;
using Inputs = std::map<std::string, Array>;

// NaN is missing.
Known known_values(const Array& values) {
  if (values.ndim() != 1) fail("values: an array of {} dimensions is given; one is expected", values.ndim());
  Known known;
  for (const double value : span_of(values)) {
    if (std::isinf(value))
      fail("values: an infinite one is given; finite numbers are expected, NaN where one is missing");
    known.push_back(std::isnan(value) ? std::nullopt : std::optional(value));
  }
  return known;
}

std::vector<SeriesInput> series_inputs(const Inputs& given) {
  std::vector<SeriesInput> inputs;
  for (const auto& [name, values] : given) {
    const auto numbers = span_of(values);
    inputs.push_back({name, {numbers.begin(), numbers.end()}});
  }
  return inputs;
}

// What was found, with the names that it needs.
struct Found {
  Smoothed series;
  std::vector<std::string> inputs;
  std::vector<std::tuple<std::string, double, double>> models = {};  // name, score, weight
};

std::vector<std::string> names_of_inputs(const std::vector<SeriesInput>& inputs) {
  std::vector<std::string> names;
  for (const SeriesInput& input : inputs) names.push_back(input.name);
  return names;
}

Found smooth_values(const Array& values, std::size_t forecast, const std::string& model,
                    const std::vector<double>& seasons, bool seasons_are_certain, std::optional<bool> log,
                    const Inputs& inputs) {
  check_forecast(forecast);
  const Known known = known_values(values);
  UsualSeriesOptions options = series_named(model);
  if (log) options.scale = *log ? SeriesScale::logarithm : SeriesScale::plain;
  SeriesChoice::Options how{.inputs = series_inputs(inputs), .horizon = forecast};
  how.on_solve = [](const std::string&, int) { throw_pending_signal(); };
  const py::gil_scoped_release unlocked;
  options.seasons = seasons_are_certain ? seasons : seasons_seen(known, seasons, how.on_solve);
  options.seasons_are_certain = seasons_are_certain;
  const SeriesChoice choice(usual_series(known, options), known, how);
  Found found{choice.smooth(known, forecast), names_of_inputs(how.inputs)};
  for (const SeriesChoice::Scored& scored : choice.models())
    found.models.emplace_back(series_name(scored.candidate), scored.score, scored.weight);
  return found;
}

void bind_smoothed(py::module_& module) {
  py::class_<Found>(module, "Smoothed", "A series as it is known: every step of it, and those that were forecast.")
      .def_property_readonly(
          "mean", [](const Found& f) { return as_array(f.series.signal.mean); }, "Of the signal, without noise.")
      .def_property_readonly(
          "signal_sd", [](const Found& f) { return as_array(f.series.signal.sd); }, "Of the signal, without noise.")
      .def_property_readonly(
          "sd", [](const Found& f) { return as_array(f.series.sd); }, "Of a value observed there.")
      .def(
          "quantile",
          [](const Found& f, double probability) {
            if (!(probability > 0 && probability < 1))
              fail("quantile: a probability of {} is given; one above 0 and below 1 is expected", probability);
            std::vector<double> values;
            for (std::size_t t = 0; t < f.series.sd.size(); ++t) values.push_back(f.series.quantile(t, probability));
            return as_array(std::move(values));
          },
          py::arg("probability"), "What a value is below with this probability, at every step.")
      .def_property_readonly(
          "states",
          [](const Found& f) {
            py::dict states;
            for (const Track& state : f.series.states)
              states[py::str(state.name)] = py::make_tuple(as_array(state.mean), as_array(state.sd));
            return states;
          },
          "Means and standard deviations by name: trend.level, trend.slope, season.")
      .def_property_readonly(
          "weights",
          [](const Found& f) {
            py::dict weights;
            for (std::size_t j = 0; j < f.inputs.size(); ++j)
              weights[py::str(f.inputs[j])] = py::make_tuple(f.series.weights.mean[j], f.series.weights.sd[j]);
            return weights;
          },
          "Mean and standard deviation of the weight of each input.")
      .def_property_readonly(
          "unusual",
          [](const Found& f) {
            py::list steps;
            for (const UnusualStep& step : unusual_steps(f.series))
              steps.append(py::make_tuple(step.t, step.is_level ? "level" : "value", step.surprise));
            return steps;
          },
          "Steps that the others do not expect: (step, 'value' or 'level', standard deviations).")
      .def_property_readonly(
          "log_evidence", [](const Found& f) { return f.series.log_evidence; }, "Of the values that were seen.")
      .def_readonly("models", &Found::models, "Name, log score and weight of each that was tried, the best first.")
      .def("__len__", [](const Found& f) { return f.series.sd.size(); })
      .def("__repr__", [](const Found& f) { return fmt::format("<dma.Smoothed of {} steps>", f.series.sd.size()); });
  module.def("smooth_values", &smooth_values, py::arg("values"), py::arg("forecast"), py::arg("model"),
             py::arg("seasons"), py::arg("seasons_are_certain"), py::arg("log"), py::arg("inputs"));
}

// Steps, texts and the usual seasons of times, which are dates or numbers.
py::tuple times_of(const SeriesTime& time, const std::vector<std::size_t>& steps, std::size_t ahead) {
  time.check_end(steps.back() + ahead);
  std::vector<std::string> texts;
  for (std::size_t t = 0; t <= steps.back() + ahead; ++t) texts.push_back(time.text(t));
  return py::make_tuple(steps, texts, time.usual_seasons());
}

void bind_times(py::module_& module) {
  module.def(
      "series_times",
      [](const std::vector<std::string>& dates, std::size_t ahead) {
        if (dates.empty()) fail("times: none is given");
        check_forecast(ahead);
        std::vector<std::size_t> steps;
        const SeriesTime time = SeriesTime::of_dates("times", dates, steps);
        return times_of(time, steps, ahead);
      },
      py::arg("dates"), py::arg("ahead"));
  module.def(
      "series_number_times",
      [](const Array& times, std::size_t ahead) {
        if (times.size() == 0) fail("times: none is given");
        check_forecast(ahead);
        std::vector<std::size_t> steps;
        const SeriesTime time = SeriesTime::of_numbers("times", span_of(times), steps);
        return times_of(time, steps, ahead);
      },
      py::arg("times"), py::arg("ahead"));
}

using Variance = std::optional<double>;

void bind_processes(py::module_& module) {
  py::class_<Process>(module, "Process", "A part of a series: a few states that follow linear rules with noise.")
      .def_readonly("name", &Process::name)
      .def_readonly("states", &Process::states)
      .def("__repr__", [](const Process& p) { return fmt::format("<dma.Process {}>", p.name); });
  const auto variance = py::arg("variance") = py::none();
  module.def("random_walk", &random_walk, variance, "A level that wanders. Variances that are None are learned.");
  module.def("local_trend", &local_trend, py::arg("level_variance") = py::none(),
             py::arg("slope_variance") = py::none(), "A level that moves on by a slope; both wander.");
  module.def("motion", &motion, py::arg("intensity") = py::none(),
             "Position and velocity under white accelerations of this intensity.");
  module.def("seasonal", &seasonal, py::arg("period"), variance, "Any `period` consecutive values sum to noise.");
  module.def("fixed_season", &fixed_season, py::arg("period"), py::arg("harmonics"),
             "A season of any length whose shape stays: so many cosines and sines of its period.");
  module.def("autoregressive", &autoregressive, py::arg("coefficients"), variance,
             "x[t] = coefficients[0] x[t-1] + coefficients[1] x[t-2] + ... + noise.");
}

void bind_state_space(py::module_& module) {
  py::class_<StateSpace>(module, "StateSpace", "A series as a sum of processes in time and noise, solved jointly.")
      .def(py::init([](std::vector<Process> processes, Variance observation, Variance mean, Variance variance,
                       const Inputs& inputs) {
             StateSpaceOptions options{observation, mean, variance, series_inputs(inputs)};
             options.on_solve = [](int, double) { throw_pending_signal(); };
             return StateSpace(std::move(processes), std::move(options));
           }),
           py::arg("processes"), py::kw_only(), py::arg("observation_variance") = py::none(),
           py::arg("start_mean") = py::none(), py::arg("start_variance") = py::none(), py::arg("inputs") = Inputs{})
      .def(
          "learn",
          [](StateSpace& model, const Array& values) {
            const Known known = known_values(values);
            return without_lock([&] { return model.learn(known).converged; });
          },
          py::arg("values"), "Finds the variances that were not given, by evidence; True: they settled. NaN: missing.")
      .def(
          "log_predictive",
          [](const StateSpace& model, const Array& values, std::size_t first) {
            const Known known = known_values(values);
            return without_lock([&] { return model.log_predictive(known, first); });
          },
          py::arg("values"), py::arg("first"), "log p(values after the first so many | those): compares models.")
      .def(
          "smooth",
          [](const StateSpace& model, const Array& values, std::size_t forecast) {
            const Known known = known_values(values);
            return without_lock([&] { return Found{model.smooth(known, forecast), names_of_inputs(model.inputs())}; });
          },
          py::arg("values"), py::arg("forecast") = 0, "Every step of a series, and forecasts beyond its end.")
      .def_property_readonly("variances", [](const StateSpace& model) {
        std::map<std::string, double> variances;
        for (const StateSpace::Variance& one : model.variances()) variances[one.name] = one.value;
        return variances;
      });
  py::class_<SeriesFilter>(module, "SeriesFilter", "A series that arrives one value at a time.")
      .def(py::init([](const StateSpace& model, const Array& first) {
             const Known known = known_values(first);
             return without_lock([&] { return SeriesFilter(model, known); });
           }),
           py::arg("model"), py::arg("first_values"))
      .def(
          "forecast",
          [](const SeriesFilter& filter) {
            const auto next = filter.forecast();
            return std::pair(next.mean, std::sqrt(next.variance));
          },
          "Mean and standard deviation of the next value.")
      .def(
          "add",
          [](SeriesFilter& filter, std::optional<double> value) {
            const auto now = filter.add(value);
            return std::pair(now.mean, std::sqrt(now.variance));
          },
          py::arg("value"), "Mean and standard deviation of the signal at that step; None: missing.");
}

}  // namespace

void bind_series(py::module_& module) {
  bind_smoothed(module);
  bind_times(module);
  bind_processes(module);
  bind_state_space(module);
}

}  // namespace dma::python
