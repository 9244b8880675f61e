// Parameters of an estimator as typed settings.
#include <pybind11/stl.h>

#include <algorithm>
#include <type_traits>

#include "engine/support/parallel.h"
#include "engine/support/text.h"
#include "tools/python/tables.h"

namespace dma::python {

namespace {

bool is_truth(py::handle given) {
  return PyBool_Check(given.ptr()) || std::string_view(Py_TYPE(given.ptr())->tp_name).starts_with("numpy.bool");
}

template <class T>
struct Reader {
  static constexpr bool is_whole = std::is_integral_v<T> && !std::is_same_v<T, bool>;
  static constexpr const char* expected() {
    if constexpr (std::is_same_v<T, bool>) return "True or False";
    if constexpr (std::is_same_v<T, std::string>) return "a name";
    if constexpr (std::is_unsigned_v<T>) return "a whole number of 0 or more, of at most 64 bits,";
    return is_whole ? "a whole number of at most 32 bits" : "a number";
  }
  static T read(std::string_view name, py::handle given) {
    if (is_truth(given) == std::is_same_v<T, bool> && (!is_whole || PyIndex_Check(given.ptr()) != 0)) try {
        return given.cast<T>();
      } catch (const py::cast_error&) {
      }
    fail("{}: {} is given; {} is expected", name, shown(given), expected());
  }
};
// One of them, or several.
template <class T>
struct Reader<std::vector<T>> {
  static std::vector<T> read(std::string_view name, py::handle given) {
    if (!py::hasattr(given, "__iter__") || py::isinstance<py::str>(given)) return {Reader<T>::read(name, given)};
    std::vector<T> all;
    for (const py::handle one : py::iter(given)) all.push_back(Reader<T>::read(name, one));
    return all;
  }
};

// None leaves the setting as it is.
template <class Setting>
void read(const py::dict& parameters, const std::string& name, Setting& setting) {
  if (!parameters.contains(name.c_str())) return;
  const py::object given = parameters[name.c_str()];
  if (given.is_none()) return;
  if constexpr (requires {
                  typename Setting::value_type;
                  setting.has_value();
                })
    setting = Reader<typename Setting::value_type>::read(name, given);
  else
    setting = Reader<Setting>::read(name, given);
}

// As scikit-learn counts them: None is one thread, -1 all processors, -2 all but one. Generators of random numbers have
// drawn their seed already.
template <class Settings>
void read_seed_and_jobs(const py::dict& parameters, Settings& settings) {
  int jobs = 1;
  read(parameters, "n_jobs", jobs);
  if (jobs == 0) fail("n_jobs: 0 is given; a number of threads, or -1 for all processors, is expected");
  const int processors = static_cast<int>(all_processors());
  settings.jobs = static_cast<std::size_t>(jobs > 0 ? jobs : std::max(1, processors + 1 + jobs));
  read(parameters, "random_state", settings.seed);
}

}  // namespace

FitSettings fit_settings(const py::dict& parameters) {
  FitSettings settings;
  for_each_setting(settings, [&](const char* name, auto& setting) { read(parameters, name, setting); });
  read_seed_and_jobs(parameters, settings);
  return settings;
}

GraphModelOptions graph_options(const py::dict& parameters) {
  GraphModelOptions graph;
  GaussianLearnOptions& options = graph.learn;
  read(parameters, "as_table", graph.as_table);
  read(parameters, "learn_noise", options.learn_noise);
  read(parameters, "noise_by_inputs", options.noise_by_inputs);
  read(parameters, "tails", options.tails);
  options.tails = options.tails && options.learn_noise;
  read(parameters, "learn_prior", options.learn_scale);
  read(parameters, "starts", options.starts);
  read(parameters, "epochs", options.epochs);
  read(parameters, "least_gain", options.least_gain);
  read_seed_and_jobs(parameters, options);
  return graph;
}

}  // namespace dma::python
