// Series: the choice that `dma smooth` makes, and state spaces of one's own.
#include <fmt/format.h>
#include <pybind11/stl.h>

#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include "engine/support/text.h"
#include "models/series/series_choice.h"
#include "tools/dma/io/series_time.h"
#include "tools/python/bindings.h"

namespace dma::python {

namespace {

using Inputs = std::map<std::string, Array>;

std::vector<SeriesInput> series_inputs(const Inputs& given) {
  std::vector<SeriesInput> inputs;
  for (const auto& [name, values] : given) {
    const auto numbers = span_of(values);
    inputs.push_back({name, {numbers.begin(), numbers.end()}});
  }
  return inputs;
}

// A smoothed series, with the names of its inputs and of the models that were tried.
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

Found smooth_values(const KnownValues& known, std::size_t forecast, const std::string& model,
                    const std::vector<double>& usual_seasons, const std::optional<std::vector<double>>& seasons,
                    std::optional<bool> log, const Inputs& inputs) {
  check_forecast(forecast);
  SeriesChoice::Options how{.inputs = series_inputs(inputs), .horizon = forecast};
  how.on_solve = [](const std::string&, int) { throw_pending_signal(); };
  const py::gil_scoped_release unlocked;
  const SeriesChoice choice = requested_series(known, {model, seasons, log}, usual_seasons, how);
  Found found{choice.smooth(known, forecast), names_of_inputs(how.inputs)};
  for (const SeriesChoice::Scored& scored : choice.models())
    found.models.emplace_back(series_name(scored.candidate), scored.score, scored.weight);
  return found;
}

void bind_smoothed(py::module_& module) {
  Class<Found>(module, "Smoothed", "A series as it is known: every step of it, and those that were forecast.")
      .get("mean", "Mean of the signal, without noise.", [](const Found& f) { return as_array(f.series.signal.mean); })
      .get("signal_sd", "Standard deviation of the signal, without noise.",
           [](const Found& f) { return as_array(f.series.signal.sd); })
      .get("sd", "Standard deviation of a value observed at the step.",
           [](const Found& f) { return as_array(f.series.sd); })
      .def("quantile(probability)", "The quantile of a value at this probability, at every step.",
           [](const Found& f, double probability) {
             if (!(probability > 0 && probability < 1))
               fail("quantile: a probability of {} is given; one above 0 and below 1 is expected", probability);
             return array_by(f.series.sd.size(), [&](std::size_t t) { return f.series.quantile(t, probability); });
           })
      .get("states", "Means and standard deviations by name: trend.level, trend.slope, season.",
           [](const Found& f) {
             py::dict states;
             for (const Track& state : f.series.states)
               states[py::str(state.name)] = py::make_tuple(as_array(state.mean), as_array(state.sd));
             return states;
           })
      .get("weights", "Mean and standard deviation of the weight of each input.",
           [](const Found& f) {
             std::map<std::string, std::pair<double, double>> weights;
             for (std::size_t j = 0; j < f.inputs.size(); ++j)
               weights[f.inputs[j]] = {f.series.weights.mean[j], f.series.weights.sd[j]};
             return weights;
           })
      .get("unusual", "Steps that the others do not expect: (step, 'value' or 'level', standard deviations).",
           [](const Found& f) {
             std::vector<std::tuple<std::size_t, std::string, double>> steps;
             for (const UnusualStep& step : unusual_steps(f.series))
               steps.emplace_back(step.t, step.is_level ? "level" : "value", step.surprise);
             return steps;
           })
      .get("log_evidence", "Log evidence of the values that were seen.",
           [](const Found& f) { return f.series.log_evidence; })
      .get("models", "Name, log score and weight of each that was tried, the best first.", &Found::models)
      .def("__len__()", "", [](const Found& f) { return f.series.sd.size(); })
      .def("__repr__()", "",
           [](const Found& f) { return fmt::format("<dma.Smoothed of {} steps>", f.series.sd.size()); });
  def(module, "smooth_values(values, forecast, model, usual_seasons, seasons, log, inputs)", "", &smooth_values);
}

// Steps, texts and the usual seasons of times, which are dates or numbers.
template <class Times, class Read>
void def_times(py::module_& module, const std::string& name, Read read) {
  def(module, name + "(times, ahead)", "", [read](const Times& times, std::size_t ahead) {
    if (times.size() == 0) fail("times: none is given");
    check_forecast(ahead);
    std::vector<std::size_t> steps;
    const SeriesTime time = read(times, steps);
    time.check_end(steps.back() + ahead);
    std::vector<std::string> texts;
    for (std::size_t t = 0; t <= steps.back() + ahead; ++t) texts.push_back(time.text(t));
    return std::tuple(steps, texts, time.usual_seasons());
  });
}

using Variance = std::optional<double>;
using Steps = std::vector<std::size_t>;

void bind_processes(py::module_& module) {
  Class<Process>(module, "Process", "A part of a series: a few states that follow linear rules with noise.")
      .get("name", "", &Process::name)
      .get("states", "", &Process::states)
      .def("__repr__()", "", [](const Process& p) { return fmt::format("<dma.Process {}>", p.name); });
  def(module, "random_walk(variance=None)", "A level that wanders. Variances that are None are learned.", &random_walk);
  def(module, "local_trend(level_variance=None, slope_variance=None)", "A level that moves on by a slope; both wander.",
      &local_trend);
  def(module, "motion(intensity=None)", "Position and velocity under white accelerations of this intensity.", &motion);
  def(module, "seasonal(period, variance=None)", "Any `period` consecutive values sum to noise.", &seasonal);
  def(module, "fixed_season(period, harmonics)",
      "A season of any length whose shape stays: so many cosines and sines of its period.", &fixed_season);
  def(module, "autoregressive(coefficients, variance=None)",
      "x[t] = coefficients[0] x[t-1] + coefficients[1] x[t-2] + ... + noise.", &autoregressive);
}

void bind_state_space(py::module_& module) {
  Class<StateSpace>(module, "StateSpace", "A series as a sum of processes in time and noise, solved jointly.")
      .init("processes, *, observation_variance=None, start_mean=None, start_variance=None, inputs={}",
            [](std::vector<Process> processes, Variance observation, Variance mean, Variance variance,
               const Inputs& inputs) {
              StateSpaceOptions options{observation, mean, variance, series_inputs(inputs)};
              options.on_solve = [](int, double) { throw_pending_signal(); };
              return StateSpace(std::move(processes), std::move(options));
            })
      .def(
          "learn(values)", "Finds the variances that were not given, by evidence; True: they settled. NaN: missing.",
          [](StateSpace& model, const KnownValues& values) { return model.learn(values).converged; }, kUnlocked)
      .def(
          "log_predictive(values, first)", "log p(values after the first so many | those): compares models.",
          [](const StateSpace& model, const KnownValues& values, std::size_t first) {
            return model.log_predictive(values, first);
          },
          kUnlocked)
      .def(
          "smooth(values, forecast=0)", "Every step of a series, and forecasts beyond its end.",
          [](const StateSpace& model, const KnownValues& values, std::size_t forecast) {
            return Found{model.smooth(values, forecast), names_of_inputs(model.inputs())};
          },
          kUnlocked)
      .get("variances", "By name.", [](const StateSpace& model) {
        std::map<std::string, double> variances;
        for (const StateSpace::Variance& one : model.variances()) variances[one.name] = one.value;
        return variances;
      });
  Class<SeriesFilter>(module, "SeriesFilter", "A series that arrives one value at a time.")
      .init("model, first_values",
            [](const StateSpace& model, const KnownValues& first) {
              return without_lock([&] { return SeriesFilter(model, first); });
            })
      .def("forecast()", "Mean and standard deviation of the next value.",
           [](const SeriesFilter& filter) {
             const auto next = filter.forecast();
             return std::pair(next.mean, std::sqrt(next.variance));
           })
      .def("add(value)", "Mean and standard deviation of the signal at that step; None: missing.",
           [](SeriesFilter& filter, std::optional<double> value) {
             const auto now = filter.add(value);
             return std::pair(now.mean, std::sqrt(now.variance));
           });
}

}  // namespace

void bind_series(py::module_& module) {
  bind_smoothed(module);
  def_times<std::vector<std::string>>(module, "series_times", [](const auto& dates, Steps& steps) {
    return SeriesTime::of_dates("times", dates, steps);
  });
  def_times<Array>(module, "series_number_times", [](const auto& times, Steps& steps) {
    return SeriesTime::of_numbers("times", span_of(times), steps);
  });
  bind_processes(module);
  bind_state_space(module);
}

}  // namespace dma::python
