// Games, mixtures, hidden Markov and switching models, linear regression and tables with gaps. Results without methods
// are tuples, of which dma/models.py makes dataclasses.
#include <fmt/format.h>
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

Eigen::VectorXd vector_of(const Array& values, const char* what) {
  if (values.ndim() != 1) fail("{}: an array of {} dimensions is given; one is expected", what, values.ndim());
  return Eigen::Map<const Eigen::VectorXd>(values.data(), values.size());
}

void bind_tables(py::module_& module) {
  def(module, "gaussian_mixture(X, components, most_components, starts, tolerance, limit, seed)", "",
      [](const Columns& x, std::size_t components, std::size_t most, std::size_t starts, double tolerance, int limit,
         std::uint64_t seed) {
        const Eigen::MatrixXd rows = matrix_of(x, "X");
        const MixtureOptions options{components, most, starts, tolerance, limit, seed};
        MixtureFit fit = without_lock([&] { return gaussian_mixture(rows, options); });
        return py::make_tuple(array_of(fit.weight), array_of(std::move(fit.mean)), array_of(std::move(fit.variance)),
                              array_of(std::move(fit.probability)), fit.log_likelihood, fit.log_evidence, fit.converged,
                              as_array(fit.candidates));
      });
  def(module, "factorise(values, rank, noise_variance, factor_variance, starts, seed)", "",
      [](const Columns& values, std::size_t rank, std::optional<double> noise, std::optional<double> factors,
         int starts, std::uint64_t seed) {
        const Eigen::MatrixXd table = matrix_of(values, "values");
        Factorisation f = without_lock([&] { return factorise(table, {rank, noise, factors, starts, seed}); });
        return py::make_tuple(array_of(std::move(f.rows)), array_of(std::move(f.columns)), array_of(std::move(f.mean)),
                              array_of(std::move(f.sd)), f.noise_variance, f.factor_variance, f.report, f.settled);
      });
  Class<LinearFit>(module, "LinearFit", "A line through rows: weights of the inputs, the intercept last.")
      .get("weights", "", [](const LinearFit& fit) { return array_of(fit.weights); })
      .get("covariance", "", [](const LinearFit& fit) { return array_of(fit.covariance); })
      .get("noise_variance", "", &LinearFit::noise_variance)
      .get("prior_variance", "", &LinearFit::prior_variance)
      .get("log_evidence", "", &LinearFit::log_evidence)
      .get("converged", "", &LinearFit::converged)
      .def("predict(X)", "Mean and standard deviation of a value observed there, and that of the line alone.",
           [](const LinearFit& fit, const Columns& x) {
             const LinearFit::Prediction found = fit.predict(matrix_of(x, "X"));
             return py::make_tuple(array_of(found.mean), array_of(found.sd), array_of(found.epistemic_sd));
           });
  def(module, "linear_regression(X, y, *, noise_variance=None, prior_variance=None)",
      "A linear regression of which everything is inferred; variances that are None as well.",
      [](const Columns& x, const Array& y, std::optional<double> noise, std::optional<double> prior) {
        const Eigen::MatrixXd rows = matrix_of(x, "X");
        const Eigen::VectorXd targets = vector_of(y, "y");
        return without_lock([&] { return linear_regression(rows, targets, {noise, prior}); });
      });
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
  const auto numbers_of = [](Eigen::VectorXd GaussianEmission::*part) {
    return [part](const HiddenMarkov& m) -> py::object {
      if (const auto* gaussian = std::get_if<GaussianEmission>(&m.emission())) return array_of(gaussian->*part);
      return py::none();
    };
  };
  using Learned = HiddenMarkov::Learned;
  using Decoded = HiddenMarkov::Decoded;
  const HiddenMarkov::LearnOptions usual;
  Class<Learned>(module, "MarkovLearned", "How learning a hidden Markov model ended.")
      .get("log_evidence", "", &Learned::log_evidence)
      .get("iterations", "", &Learned::iterations)
      .get("converged", "", &Learned::converged)
      .get("fault", "", &Learned::fault);
  Class<Decoded>(module, "MarkovDecoded", "In which state every step was, given all values.")
      .get("probability", "Step x state.", [](const Decoded& d) { return array_of(d.probability); })
      .get("transitions", "How often from one state to another, expected.",
           [](const Decoded& d) { return array_of(d.transitions); })
      .get("log_evidence", "", &Decoded::log_evidence);
  Class<HiddenMarkov>(module, "HiddenMarkov", "A state that nobody sees, which changes, and what it emits.")
      .init("start, transition, *, mean=None, variance=None, symbols=None", &hidden_markov)
      .def(fmt::format("learn(values, *, tolerance={}, limit={})", usual.tolerance, usual.limit),
           "Moves everything to where the values (NaN: missing) are more probable, until nothing is gained.",
           [](HiddenMarkov& model, const Array& values, double tolerance, int limit) {
             const auto known = emitted(values);
             return without_lock([&] { return model.learn(known, {tolerance, limit}); });
           })
      .def("decode(values)", "The state of every step, given all values.",
           [](const HiddenMarkov& model, const Array& values) {
             const auto known = emitted(values);
             return without_lock([&] { return model.decode(known); });
           })
      .get("start", "", [](const HiddenMarkov& m) { return array_of(m.start()); })
      .get("transition", "", [](const HiddenMarkov& m) { return array_of(m.transition()); })
      .get("mean", "Of what each state emits; None with symbols.", numbers_of(&GaussianEmission::mean))
      .get("variance", "Likewise.", numbers_of(&GaussianEmission::variance))
      .get("symbols", "Their probabilities in each state, or None.", [](const HiddenMarkov& m) -> py::object {
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
  return py::make_tuple(as_array(std::move(probability), steps.size(), steps[0].probability.size()),
                        as_array(std::move(mean), {count, size}), as_array(std::move(covariance), {count, size, size}));
}

using GivenRegimes = std::vector<std::array<Columns, 4>>;

SwitchingModel switching_model(const GivenRegimes& regimes, const Array& start, const Columns& transition,
                               const Array& mean, const Columns& covariance) {
  const auto matrix = [](const Columns& values, const char* what) {  // a number is a matrix of one row
    return values.ndim() == 0 ? Eigen::MatrixXd::Constant(1, 1, *values.data()) : matrix_of(values, what);
  };
  SwitchingModel model{{},
                       vector_of(start, "start"),
                       matrix_of(transition, "transition"),
                       vector_of(mean, "mean"),
                       matrix(covariance, "covariance")};
  for (const auto& [a, q, h, r] : regimes)
    model.regimes.push_back({matrix(a, "a"), matrix(q, "q"), matrix(h, "h"), matrix(r, "r")});
  return model;
}

void bind_switching(py::module_& module) {
  def(module, "switching(values, regimes, start, transition, mean, covariance, order)", "",
      [](const Array& values, const GivenRegimes& regimes, const Array& start, const Columns& transition,
         const Array& mean, const Columns& covariance, std::optional<std::size_t> order) {
        const SwitchingModel model = switching_model(regimes, start, transition, mean, covariance);
        if (const auto columns = values.shape(1); !regimes.empty() && columns != model.regimes[0].h.rows())
          fail("values: {} columns are given; {} are expected, one per row of h", columns, model.regimes[0].h.rows());
        const auto known = emitted(values);
        const Switched found = without_lock([&] { return switching(model, known, order.value_or(kAllPaths)); });
        return py::make_tuple(arrays_of(found.smoothed), arrays_of(found.filtered), found.log_evidence, found.is_exact);
      });
  Class<SwitchingFilter>(module, "SwitchingFilter", "A switching state space whose values come step by step.")
      .init("regimes, *, start, transition, mean, covariance, order=2",
            [](const GivenRegimes& regimes, const Array& start, const Columns& transition, const Array& mean,
               const Columns& covariance, std::size_t order) {
              return SwitchingFilter(switching_model(regimes, start, transition, mean, covariance), order);
            })
      .def("add(values)", "Probabilities of the regimes, mean and covariance after one more step; None: missing.",
           [](SwitchingFilter& filter, const std::vector<std::optional<double>>& values) {
             const SwitchingStep step = filter.add(values);
             return py::make_tuple(array_of(step.probability), array_of(step.mean), array_of(step.covariance));
           })
      .get("log_evidence", "", &SwitchingFilter::log_evidence);
}

struct Rated {
  Season season;
  RatingOptions options;
};

// The skills that a season or a stream of games has, and what the next game is expected to be.
const std::vector<Skill>& skills_in(const Rated& r) { return r.season.skills; }
const std::vector<Skill>& skills_in(const Rating& r) { return r.skills(); }
const RatingOptions& options_of(const Rated& r) { return r.options; }
const RatingOptions& options_of(const Rating& r) { return r.options(); }

using Players = std::vector<std::uint32_t>;
std::vector<Skill> skills_of(const Rating& rating, const Players& team) {
  std::vector<Skill> skills;
  for (const std::uint32_t player : team) skills.push_back(rating.skills().at(player));
  return skills;
}
Chances chances_in(const Rated& r, const Players& a, const Players& b) { return chances(r.season, a, b, r.options); }
Chances chances_in(const Rating& r, const Players& a, const Players& b) {
  return chances(skills_of(r, a), skills_of(r, b), r.options());
}

template <class Games>
void bind_skills(Class<Games>& games) {
  games
      .get("skills", "Mean and standard deviation, player by player.",
           [](const Games& g) {
             const std::vector<Skill>& skills = skills_in(g);
             std::vector<double> numbers;
             for (const Skill& skill : skills) numbers.insert(numbers.end(), {skill.mean, skill.sd});
             return as_array(std::move(numbers), skills.size(), 2);
           })
      .def("skill(player)", "",
           [](const Games& g, std::uint32_t player) {
             const Skill& skill = skills_in(g).at(player);
             return std::pair(skill.mean, skill.sd);
           })
      .def("chances(first, second)", "",
           [](const Games& g, const Players& first, const Players& second) {
             const Chances next = chances_in(g, first, second);
             return std::tuple(next.win, next.draw, next.loss);
           })
      .def("match_quality(teams)", "", [](const Games& g, const std::vector<Players>& teams) {
        std::vector<std::vector<Skill>> skills(teams.size());
        for (std::size_t i = 0; i < teams.size(); ++i)
          for (const std::uint32_t player : teams[i]) skills[i].push_back(skills_in(g).at(player));
        return match_quality(skills, options_of(g));
      });
}

// A game: players, rank and shares of each team; and its time.
using GivenTeam = std::tuple<Players, double, std::vector<double>>;
using GivenGame = std::pair<std::vector<GivenTeam>, std::optional<double>>;

Game game_of(const GivenGame& given) {
  Game game{{}, given.second};
  for (const auto& [who, rank, shares] : given.first) game.teams.push_back({who, rank, shares});
  return game;
}

RatingOptions rating_options(double performance_sd, double drift_sd, double draw_probability) {
  RatingOptions options;
  options.performance_sd = performance_sd;
  options.drift_sd = drift_sd;
  options.draw_probability = draw_probability;
  return options;
}

void bind_games(py::module_& module) {
  Class<Rated> rated(module, "Rated", "Skills of a season.");
  bind_skills(rated);
  rated
      .get("history", "",
           [](const Rated& r) {
             std::vector<std::tuple<std::size_t, std::uint32_t, double, double>> all;
             for (const SkillThen& then : r.season.history)
               all.emplace_back(then.game, then.player, then.skill.mean, then.skill.sd);
             return all;
           })
      .get("report", "", [](const Rated& r) { return r.season.report; })
      .def("covariance(a, b)", "",
           [](const Rated& r, std::uint32_t a, std::uint32_t b) { return r.season.covariance(a, b); });
  Class<Rating> online(module, "OnlineRating", "Skills, game by game.");
  bind_skills(online);
  online
      .init("performance_sd, drift_sd, draw_probability",
            [](double performance_sd, double drift_sd, double draw_probability) {
              return std::make_unique<Rating>(0, rating_options(performance_sd, drift_sd, draw_probability));
            })
      .def("join(mean, sd, performance_sd=None)", "",
           [](Rating& r, double mean, double sd, std::optional<double> own) {
             return r.join({mean, sd, own});
           })
      .def("play(game)", "", [](Rating& r, const GivenGame& game) { return r.play(game_of(game)); });
  def(module, "rate_season(games, players, priors, performance_sd, drift_sd, draw_probability, by_sweeps)", "",
      [](const std::vector<GivenGame>& given, std::size_t players, const std::vector<std::array<double, 3>>& priors,
         double performance_sd, double drift_sd, double draw_probability, bool by_sweeps) {
        std::vector<Game> games;
        for (const GivenGame& game : given) games.push_back(game_of(game));
        Rated season{{}, rating_options(performance_sd, drift_sd, draw_probability)};
        for (const auto& [mean, sd, performance] : priors) season.options.priors.push_back({mean, sd, performance});
        const auto solver = by_sweeps ? SeasonSolver::by_sweeps : SeasonSolver::best;
        season.season = without_lock([&] { return rate_season(games, players, season.options, solver); });
        return season;
      });
}

}  // namespace

void bind_models(py::module_& module) {
  bind_tables(module);
  bind_regimes(module);
  bind_switching(module);
  bind_games(module);
}

}  // namespace dma::python
