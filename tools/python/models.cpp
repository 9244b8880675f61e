// Games, mixtures, hidden Markov and switching models, linear regression and tables with gaps. What has no method of
// its own comes as a dictionary or a tuple, of which dma/models.py makes a dataclass.
#include <pybind11/stl.h>

#include <array>
#include <cmath>
#include <optional>

#include "engine/support/error.h"
#include "models/games/rating.h"
#include "models/linear/linear_regression.h"
#include "models/linear/matrix_factorisation.h"
#include "models/mixtures/gaussian_mixture.h"
#include "models/mixtures/hidden_markov.h"
#include "models/mixtures/switching.h"
#include "tools/python/tables.h"

namespace dma::python {

namespace {

py::array_t<double> array_of_vector(const Eigen::VectorXd& values) {
  return as_array(std::vector<double>(values.begin(), values.end()));
}

Eigen::VectorXd vector_of(const Array& values, const char* what) {
  if (values.ndim() != 1) fail("{}: an array of {} dimensions is given; one is expected", what, values.ndim());
  return Eigen::Map<const Eigen::VectorXd>(values.data(), values.size());
}

py::dict mixture_of(const Columns& x, const MixtureOptions& options) {
  const Eigen::MatrixXd rows = matrix_of(x, "X");
  MixtureFit fit = without_lock([&] { return gaussian_mixture(rows, options); });
  return py::dict(py::arg("weight") = array_of_vector(fit.weight), py::arg("mean") = array_of(std::move(fit.mean)),
                  py::arg("variance") = array_of(std::move(fit.variance)),
                  py::arg("probability") = array_of(std::move(fit.probability)),
                  py::arg("log_likelihood") = fit.log_likelihood, py::arg("log_evidence") = fit.log_evidence,
                  py::arg("converged") = fit.converged, py::arg("candidates") = as_array(fit.candidates));
}

py::dict factors_of(const Columns& values, const FactorisationOptions& options) {
  const Eigen::MatrixXd table = matrix_of(values, "values");
  Factorisation found = without_lock([&] { return factorise(table, options); });
  return py::dict(py::arg("rows") = array_of(std::move(found.rows)),
                  py::arg("columns") = array_of(std::move(found.columns)),
                  py::arg("mean") = array_of(std::move(found.mean)), py::arg("sd") = array_of(std::move(found.sd)),
                  py::arg("noise_variance") = found.noise_variance, py::arg("factor_variance") = found.factor_variance,
                  py::arg("report") = found.report, py::arg("settled") = found.settled);
}

void bind_tables(py::module_& module) {
  module.def(
      "gaussian_mixture",
      [](const Columns& x, std::size_t components, std::size_t most, std::size_t starts, double tolerance, int limit,
         std::uint64_t seed) { return mixture_of(x, {components, most, starts, tolerance, limit, seed}); },
      py::arg("X"), py::arg("components"), py::arg("most_components"), py::arg("starts"), py::arg("tolerance"),
      py::arg("limit"), py::arg("seed"));
  module.def(
      "factorise",
      [](const Columns& values, std::size_t rank, std::optional<double> noise, std::optional<double> factors,
         int starts, std::uint64_t seed) { return factors_of(values, {rank, noise, factors, starts, seed}); },
      py::arg("values"), py::arg("rank"), py::arg("noise_variance"), py::arg("factor_variance"), py::arg("starts"),
      py::arg("seed"));
  py::class_<LinearFit>(module, "LinearFit", "A line through rows: weights of the inputs, the intercept last.")
      .def_property_readonly("weights", [](const LinearFit& fit) { return array_of_vector(fit.weights); })
      .def_property_readonly("covariance", [](const LinearFit& fit) { return array_of(fit.covariance); })
      .def_readonly("noise_variance", &LinearFit::noise_variance)
      .def_readonly("prior_variance", &LinearFit::prior_variance)
      .def_readonly("log_evidence", &LinearFit::log_evidence)
      .def_readonly("converged", &LinearFit::converged)
      .def(
          "predict",
          [](const LinearFit& fit, const Columns& x) {
            const LinearFit::Prediction found = fit.predict(matrix_of(x, "X"));
            return py::make_tuple(array_of_vector(found.mean), array_of_vector(found.sd),
                                  array_of_vector(found.epistemic_sd));
          },
          py::arg("X"), "Mean and standard deviation of a value observed there, and that of the line alone.");
  module.def(
      "linear_regression",
      [](const Columns& x, const Array& y, std::optional<double> noise, std::optional<double> prior) {
        const Eigen::MatrixXd rows = matrix_of(x, "X");
        const Eigen::VectorXd targets = vector_of(y, "y");
        return without_lock([&] { return linear_regression(rows, targets, {noise, prior}); });
      },
      py::arg("X"), py::arg("y"), py::kw_only(), py::arg("noise_variance") = py::none(),
      py::arg("prior_variance") = py::none(),
      "A linear regression of which everything is inferred; variances that are None as well.");
}

std::vector<std::optional<double>> emitted(const Array& values) {
  std::vector<std::optional<double>> known;
  for (const double value : span_of(values)) known.push_back(std::isnan(value) ? std::nullopt : std::optional(value));
  return known;
}

HiddenMarkov hidden_markov(const Array& start, const Columns& transition, const std::optional<Array>& mean,
                           const std::optional<Array>& variance, const std::optional<Columns>& symbols) {
  if (symbols.has_value() == (mean && variance) || mean.has_value() != variance.has_value())
    fail("HiddenMarkov: mean and variance of each state are expected or, of symbols, a table of their probabilities");
  const Eigen::VectorXd first = vector_of(start, "start");
  const Eigen::MatrixXd moves = matrix_of(transition, "transition");
  if (symbols) return {first, moves, SymbolEmission{matrix_of(*symbols, "symbols")}};
  return {first, moves, GaussianEmission{vector_of(*mean, "mean"), vector_of(*variance, "variance")}};
}

void bind_regimes(py::module_& module) {
  const auto numbers_of = [](const HiddenMarkov& m, auto part) -> py::object {
    if (const auto* gaussian = std::get_if<GaussianEmission>(&m.emission())) return array_of_vector(gaussian->*part);
    return py::none();
  };
  using Learned = HiddenMarkov::Learned;
  using Decoded = HiddenMarkov::Decoded;
  const HiddenMarkov::LearnOptions usual;
  py::class_<Learned>(module, "MarkovLearned", "How learning a hidden Markov model ended.")
      .def_readonly("log_evidence", &Learned::log_evidence)
      .def_readonly("iterations", &Learned::iterations)
      .def_readonly("converged", &Learned::converged)
      .def_readonly("fault", &Learned::fault);
  py::class_<Decoded>(module, "MarkovDecoded", "In which state every step was, given all values.")
      .def_property_readonly("probability", [](const Decoded& d) { return array_of(d.probability); }, "Step x state.")
      .def_property_readonly("transitions", [](const Decoded& d) { return array_of(d.transitions); },
                             "How often from one state to another, expected.")
      .def_readonly("log_evidence", &Decoded::log_evidence);
  py::class_<HiddenMarkov>(module, "HiddenMarkov", "A state that nobody sees, which changes, and what it emits.")
      .def(py::init(&hidden_markov), py::arg("start"), py::arg("transition"), py::kw_only(),
           py::arg("mean") = py::none(), py::arg("variance") = py::none(), py::arg("symbols") = py::none())
      .def(
          "learn",
          [](HiddenMarkov& model, const Array& values, double tolerance, int limit) {
            const auto known = emitted(values);
            return without_lock([&] { return model.learn(known, {tolerance, limit}); });
          },
          py::arg("values"), py::kw_only(), py::arg("tolerance") = usual.tolerance, py::arg("limit") = usual.limit,
          "Moves everything to where the values (NaN: missing) are more probable, until nothing is gained.")
      .def(
          "decode",
          [](const HiddenMarkov& model, const Array& values) {
            const auto known = emitted(values);
            return without_lock([&] { return model.decode(known); });
          },
          py::arg("values"), "The state of every step, given all values.")
      .def_property_readonly("start", [](const HiddenMarkov& m) { return array_of_vector(m.start()); })
      .def_property_readonly("transition", [](const HiddenMarkov& m) { return array_of(m.transition()); })
      .def_property_readonly("mean", [=](const HiddenMarkov& m) { return numbers_of(m, &GaussianEmission::mean); })
      .def_property_readonly("variance",
                             [=](const HiddenMarkov& m) { return numbers_of(m, &GaussianEmission::variance); })
      .def_property_readonly("symbols", [](const HiddenMarkov& m) -> py::object {
        if (const auto* symbols = std::get_if<SymbolEmission>(&m.emission())) return array_of(symbols->probability);
        return py::none();
      });
}

// Probabilities, means and covariances, step by step.
py::tuple arrays_of(const std::vector<SwitchingStep>& steps) {
  std::vector<double> probability, mean, covariance;
  for (const SwitchingStep& step : steps) {
    probability.insert(probability.end(), step.probability.begin(), step.probability.end());
    mean.insert(mean.end(), step.mean.begin(), step.mean.end());
    covariance.insert(covariance.end(), step.covariance.reshaped().begin(), step.covariance.reshaped().end());
  }
  const auto count = static_cast<py::ssize_t>(steps.size()), size = static_cast<py::ssize_t>(steps[0].mean.size());
  return py::make_tuple(
      as_array(std::move(probability), {count, static_cast<py::ssize_t>(steps[0].probability.size())}),
      as_array(std::move(mean), {count, size}), as_array(std::move(covariance), {count, size, size}));
}

using GivenRegimes = std::vector<std::array<Columns, 4>>;

SwitchingModel switching_model(const GivenRegimes& regimes, const Array& start, const Columns& transition,
                               const Array& mean, const Columns& covariance) {
  const auto matrix = [](const Columns& values, const char* what) {  // a number is a matrix of one row
    return values.ndim() == 0 ? Eigen::MatrixXd::Constant(1, 1, *values.data()) : matrix_of(values, what);
  };
  SwitchingModel model{{}, vector_of(start, "start"), matrix_of(transition, "transition"), vector_of(mean, "mean"),
                       matrix(covariance, "covariance")};
  for (const auto& [a, q, h, r] : regimes)
    model.regimes.push_back({matrix(a, "a"), matrix(q, "q"), matrix(h, "h"), matrix(r, "r")});
  return model;
}

void bind_switching(py::module_& module) {
  module.def(
      "switching",
      [](const Array& values, const GivenRegimes& regimes, const Array& start, const Columns& transition,
         const Array& mean, const Columns& covariance, std::optional<std::size_t> order) {
        const SwitchingModel model = switching_model(regimes, start, transition, mean, covariance);
        if (const auto columns = values.shape(1); !regimes.empty() && columns != model.regimes[0].h.rows())
          fail("values: {} columns are given; {} are expected, one per row of h", columns, model.regimes[0].h.rows());
        const auto known = emitted(values);
        const Switched found = without_lock([&] { return switching(model, known, order.value_or(kAllPaths)); });
        return py::make_tuple(arrays_of(found.smoothed), arrays_of(found.filtered), found.log_evidence, found.is_exact);
      },
      py::arg("values"), py::arg("regimes"), py::arg("start"), py::arg("transition"), py::arg("mean"),
      py::arg("covariance"), py::arg("order"));
  py::class_<SwitchingFilter>(module, "SwitchingFilter", "A switching state space whose values come step by step.")
      .def(py::init([](const GivenRegimes& regimes, const Array& start, const Columns& transition, const Array& mean,
                       const Columns& covariance, std::size_t order) {
             return SwitchingFilter(switching_model(regimes, start, transition, mean, covariance), order);
           }),
           py::arg("regimes"), py::kw_only(), py::arg("start"), py::arg("transition"), py::arg("mean"),
           py::arg("covariance"), py::arg("order") = 2)
      .def(
          "add",
          [](SwitchingFilter& filter, const std::vector<std::optional<double>>& values) {
            const SwitchingStep step = filter.add(values);
            return py::make_tuple(array_of_vector(step.probability), array_of_vector(step.mean),
                                  array_of(step.covariance));
          },
          py::arg("values"), "Probabilities of the regimes, mean and covariance after one more step; None: missing.")
      .def_property_readonly("log_evidence", &SwitchingFilter::log_evidence);
}

struct Rated {
  Season season;
  RatingOptions options;
};

using Players = std::vector<std::uint32_t>;
// A game: players, rank and shares of each team; and its time.
using GivenTeam = std::tuple<Players, double, std::vector<double>>;
using GivenGame = std::pair<std::vector<GivenTeam>, std::optional<double>>;

Game game_of(const GivenGame& given) {
  Game game{{}, given.second};
  for (const auto& [who, rank, shares] : given.first) game.teams.push_back({who, rank, shares});
  return game;
}

py::array_t<double> array_of_skills(const std::vector<Skill>& skills) {
  std::vector<double> numbers;
  for (const Skill& skill : skills) numbers.insert(numbers.end(), {skill.mean, skill.sd});
  return as_array(std::move(numbers), {static_cast<py::ssize_t>(skills.size()), 2});
}

std::vector<Skill> skills_of(const std::vector<Skill>& all, const Players& team) {
  std::vector<Skill> skills;
  for (const std::uint32_t player : team) skills.push_back(all.at(player));
  return skills;
}

double quality_of(const std::vector<Skill>& all, const std::vector<Players>& teams, const RatingOptions& options) {
  std::vector<std::vector<Skill>> skills;
  for (const Players& team : teams) skills.push_back(skills_of(all, team));
  return match_quality(skills, options);
}

py::tuple pair_of(const Skill& skill) { return py::make_tuple(skill.mean, skill.sd); }
py::tuple tuple_of(const Chances& next) { return py::make_tuple(next.win, next.draw, next.loss); }

RatingOptions rating_options(double performance_sd, double drift_sd, double draw_probability) {
  RatingOptions options;
  options.performance_sd = performance_sd, options.drift_sd = drift_sd, options.draw_probability = draw_probability;
  return options;
}

void bind_games(py::module_& module) {
  py::class_<Rated>(module, "Rated")
      .def_property_readonly("skills", [](const Rated& r) { return array_of_skills(r.season.skills); })
      .def(
          "skill", [](const Rated& r, std::uint32_t player) { return pair_of(r.season.skills.at(player)); },
          py::arg("player"))
      .def_property_readonly("history",
                             [](const Rated& r) {
                               py::list all;
                               for (const SkillThen& then : r.season.history)
                                 all.append(py::make_tuple(then.game, then.player, then.skill.mean, then.skill.sd));
                               return all;
                             })
      .def_property_readonly("report", [](const Rated& r) { return r.season.report; })
      .def("covariance", [](const Rated& r, std::uint32_t a, std::uint32_t b) { return r.season.covariance(a, b); },
           py::arg("a"), py::arg("b"))
      .def(
          "chances",
          [](const Rated& r, const Players& first, const Players& second) {
            return tuple_of(chances(r.season, first, second, r.options));
          },
          py::arg("first"), py::arg("second"))
      .def(
          "match_quality",
          [](const Rated& r, const std::vector<Players>& teams) {
            return quality_of(r.season.skills, teams, r.options);
          },
          py::arg("teams"));
  py::class_<Rating>(module, "OnlineRating")
      .def(py::init([](double performance_sd, double drift_sd, double draw_probability) {
             return std::make_unique<Rating>(0, rating_options(performance_sd, drift_sd, draw_probability));
           }),
           py::arg("performance_sd"), py::arg("drift_sd"), py::arg("draw_probability"))
      .def(
          "join",
          [](Rating& r, double mean, double sd, std::optional<double> own) { return r.join({mean, sd, own}); },
          py::arg("mean"), py::arg("sd"), py::arg("performance_sd") = py::none())
      .def(
          "play", [](Rating& r, const GivenGame& game) { return r.play(game_of(game)); }, py::arg("game"))
      .def_property_readonly("skills", [](const Rating& r) { return array_of_skills(r.skills()); })
      .def(
          "skill", [](const Rating& r, std::uint32_t player) { return pair_of(r.skills().at(player)); },
          py::arg("player"))
      .def(
          "chances",
          [](const Rating& r, const Players& first, const Players& second) {
            return tuple_of(chances(skills_of(r.skills(), first), skills_of(r.skills(), second), r.options()));
          },
          py::arg("first"), py::arg("second"))
      .def(
          "match_quality",
          [](const Rating& r, const std::vector<Players>& teams) { return quality_of(r.skills(), teams, r.options()); },
          py::arg("teams"));
  module.def(
      "rate_season",
      [](const std::vector<GivenGame>& given, std::size_t players, const std::vector<std::array<double, 3>>& priors,
         double performance_sd, double drift_sd, double draw_probability, bool by_sweeps) {
        std::vector<Game> games;
        for (const GivenGame& game : given) games.push_back(game_of(game));
        Rated rated{{}, rating_options(performance_sd, drift_sd, draw_probability)};
        for (const auto& [mean, sd, performance] : priors) rated.options.priors.push_back({mean, sd, performance});
        const py::gil_scoped_release unlocked;
        rated.season = rate_season(games, players, rated.options,
                                   by_sweeps ? SeasonSolver::by_sweeps : SeasonSolver::best);
        return rated;
      },
      py::arg("games"), py::arg("players"), py::arg("priors"), py::arg("performance_sd"), py::arg("drift_sd"),
      py::arg("draw_probability"), py::arg("by_sweeps"));
}

}  // namespace

void bind_models(py::module_& module) {
  bind_tables(module);
  bind_regimes(module);
  bind_switching(module);
  bind_games(module);
}

}  // namespace dma::python
