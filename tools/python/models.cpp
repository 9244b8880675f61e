// Games, mixtures, hidden Markov and switching models, linear regression and tables with gaps.
#include <fmt/format.h>
#include <pybind11/stl.h>

#include <array>
#include <cmath>
#include <optional>

#include "engine/support/text.h"
#include "models/games/rating.h"
#include "models/linear/linear_models.h"
#include "models/mixtures/gaussian_mixture.h"
#include "models/mixtures/hidden_markov.h"
#include "models/mixtures/switching.h"
#include "tools/dma/fit/read_games.h"
#include "tools/python/tables.h"

namespace dma::python {

namespace {

void bind_tables(py::module_& module) {
  Class<MixtureFit>(module, "Mixture",
                    "Clusters, the largest first: their weight, and mean and variance of every column.")
      .get("weight", "", &MixtureFit::weight)
      .get("mean", "Cluster x column.", &MixtureFit::mean)
      .get("variance", "Cluster x column.", &MixtureFit::variance)
      .get("probability", "Row x cluster: the probability that the row is of the cluster.", &MixtureFit::probability)
      .get("log_likelihood", "", &MixtureFit::log_likelihood)
      .get("log_evidence", "", &MixtureFit::log_evidence)
      .get("converged", "", &MixtureFit::converged)
      .get("candidates", "Log evidence of 1, 2, ... clusters, as far as was tried.",
           [](const MixtureFit& fit) { return as_array(fit.candidates); })
      .get("labels", "The most probable cluster of each row.",
           [](const MixtureFit& fit) {
             Eigen::Matrix<Eigen::Index, Eigen::Dynamic, 1> labels(fit.probability.rows());
             for (Eigen::Index i = 0; i < labels.size(); ++i) fit.probability.row(i).maxCoeff(&labels[i]);
             return labels;
           })
      .pickled(
          [](const MixtureFit& fit) {
            return py::make_tuple(fit.weight, fit.mean, fit.variance, fit.probability, fit.log_likelihood,
                                  fit.log_evidence, fit.converged, fit.candidates);
          },
          [](const py::tuple& state) {
            const auto matrix = [&](std::size_t i) { return state[i].cast<Eigen::MatrixXd>(); };
            return MixtureFit{state[0].cast<Eigen::VectorXd>(),
                              matrix(1),
                              matrix(2),
                              matrix(3),
                              state[4].cast<double>(),
                              state[5].cast<double>(),
                              state[6].cast<bool>(),
                              state[7].cast<std::vector<double>>()};
          });
  def(
      module, "fit_mixture(X, components, most_components, starts, tolerance, limit, seed)", "",
      [](const Eigen::MatrixXd& rows, std::size_t components, std::size_t most, std::size_t starts, double tolerance,
         int limit, std::uint64_t seed) {
        return gaussian_mixture(rows, {components, most, starts, tolerance, limit, seed});
      },
      kUnlocked);
  Class<Factorisation>(module, "Factorisation",
                       "A table as a product of two narrow ones: mean and standard deviation of every entry, without "
                       "the noise.")
      .get("rows", "", &Factorisation::rows)
      .get("columns", "", &Factorisation::columns)
      .get("mean", "", &Factorisation::mean)
      .get("sd", "", &Factorisation::sd)
      .get("noise_variance", "", &Factorisation::noise_variance)
      .get("factor_variance", "", &Factorisation::factor_variance)
      .get("report", "", &Factorisation::report)
      .get("settled", "", &Factorisation::settled);
  def(
      module, "fit_table_with_gaps(values, rank, noise_variance, factor_variance, starts, seed)", "",
      [](const Eigen::MatrixXd& table, std::size_t rank, std::optional<double> noise, std::optional<double> factors,
         int starts, std::uint64_t seed) {
        return factorise(table, {rank, noise, factors, starts, seed});
      },
      kUnlocked);
  Class<LinearFit>(module, "LinearFit", "A line through rows: weights of the inputs, the intercept last.")
      .get("weights", "", &LinearFit::weights)
      .get("covariance", "", &LinearFit::covariance)
      .get("noise_variance", "", &LinearFit::noise_variance)
      .get("prior_variance", "", &LinearFit::prior_variance)
      .get("log_evidence", "", &LinearFit::log_evidence)
      .get("converged", "", &LinearFit::converged)
      .def("predict(X)", "Mean and standard deviation of a value observed there, and that of the line alone.",
           [](const LinearFit& fit, const Eigen::MatrixXd& x) {
             LinearFit::Prediction found = fit.predict(x);
             return std::tuple(std::move(found.mean), std::move(found.sd), std::move(found.epistemic_sd));
           });
  def(
      module, "linear_regression(X, y, *, noise_variance=None, prior_variance=None)",
      "A linear regression of which everything is inferred; variances that are None as well.",
      [](const Eigen::MatrixXd& x, const Eigen::VectorXd& y, std::optional<double> noise, std::optional<double> prior) {
        return linear_regression(x, y, {noise, prior});
      },
      kUnlocked);
}

using MaybeVector = std::optional<Eigen::VectorXd>;

HiddenMarkov hidden_markov(const Eigen::VectorXd& start, const Eigen::MatrixXd& transition, const MaybeVector& mean,
                           const MaybeVector& variance, const std::optional<Eigen::MatrixXd>& symbols) {
  if (symbols.has_value() == (mean && variance) || mean.has_value() != variance.has_value())
    fail("HiddenMarkov: mean and variance of each state are expected or, of symbols, a table of their probabilities");
  if (symbols) return {start, transition, SymbolEmission{*symbols}};
  return {start, transition, GaussianEmission{*mean, *variance}};
}

// A member of what the states emit, or None.
template <class Emission, class Matrix>
auto emitted(Matrix Emission::*part) {
  return [part](const HiddenMarkov& m) -> std::optional<Matrix> {
    const auto* const emission = std::get_if<Emission>(&m.emission());
    return emission != nullptr ? std::optional(emission->*part) : std::nullopt;
  };
}

void bind_regimes(py::module_& module) {
  using Learned = HiddenMarkov::Learned;
  using Decoded = HiddenMarkov::Decoded;
  const HiddenMarkov::LearnOptions usual;
  Class<Learned>(module, "MarkovLearned", "How learning a hidden Markov model ended.")
      .get("log_evidence", "", &Learned::log_evidence)
      .get("iterations", "", &Learned::iterations)
      .get("converged", "", &Learned::converged)
      .get("fault", "", &Learned::fault);
  Class<Decoded>(module, "MarkovDecoded", "In which state every step was, given all values.")
      .get("probability", "Step x state.", &Decoded::probability)
      .get("transitions", "How often from one state to another, expected.", &Decoded::transitions)
      .get("log_evidence", "", &Decoded::log_evidence);
  Class<HiddenMarkov>(module, "HiddenMarkov", "A state that nobody sees, which changes, and what it emits.")
      .init("start, transition, *, mean=None, variance=None, symbols=None", &hidden_markov)
      .def(
          fmt::format("learn(values, *, tolerance={}, limit={})", usual.tolerance, usual.limit),
          "Moves everything to where the values (NaN: missing) are more probable, until nothing is gained.",
          [](HiddenMarkov& model, const KnownValues& values, double tolerance, int limit) {
            return model.learn(values, {tolerance, limit});
          },
          kUnlocked)
      .def(
          "decode(values)", "The state of every step, given all values.",
          [](const HiddenMarkov& model, const KnownValues& values) { return model.decode(values); }, kUnlocked)
      .get("start", "", &HiddenMarkov::start)
      .get("transition", "", &HiddenMarkov::transition)
      .get("mean", "Mean of the emissions of each state; None with symbols.", emitted(&GaussianEmission::mean))
      .get("variance", "Likewise.", emitted(&GaussianEmission::variance))
      .get("symbols", "Their probabilities in each state, or None.", emitted(&SymbolEmission::probability));
}

using GivenRegimes = std::vector<std::array<Columns, 4>>;

SwitchingModel switching_model(const GivenRegimes& regimes, const Eigen::VectorXd& start,
                               const Eigen::MatrixXd& transition, const Eigen::VectorXd& mean,
                               const Eigen::MatrixXd& covariance) {
  const auto matrix = [](const Columns& values, const char* what) {  // a number is a matrix of one row
    return values.ndim() == 0 ? Eigen::MatrixXd::Constant(1, 1, *values.data()) : matrix_of(values, what);
  };
  SwitchingModel model{{}, start, transition, mean, covariance};
  for (const auto& [a, q, h, r] : regimes)
    model.regimes.push_back({matrix(a, "a"), matrix(q, "q"), matrix(h, "h"), matrix(r, "r")});
  return model;
}

// A member of every step (first axis).
template <class Matrix>
auto by_step(std::vector<SwitchingStep> Switched::*steps, Matrix SwitchingStep::*part) {
  return [steps, part](const Switched& found) {
    std::vector<double> all;
    for (const SwitchingStep& step : found.*steps)
      all.insert(all.end(), (step.*part).reshaped().begin(), (step.*part).reshaped().end());
    const auto& first = (found.*steps)[0].*part;
    std::vector<py::ssize_t> shape{std::ssize(found.*steps), first.rows()};
    if (Matrix::ColsAtCompileTime != 1) shape.push_back(first.cols());
    return as_array(std::move(all), shape);
  };
}

void bind_switching(py::module_& module) {
  Class<Switched> switched(module, "Switched",
                           "Regimes and states, step by step (first axis): given all values, and as `filtered_...` "
                           "given those so far.");
  switched.get("log_evidence", "", &Switched::log_evidence)
      .get("exact", "Otherwise paths of regimes were merged.", &Switched::is_exact);
  for (const bool is_filtered : {false, true}) {
    const auto steps = is_filtered ? &Switched::filtered : &Switched::smoothed;
    const std::string before = is_filtered ? "filtered_" : "";
    switched.get((before + "probability").c_str(), "", by_step(steps, &SwitchingStep::probability))
        .get((before + "mean").c_str(), "", by_step(steps, &SwitchingStep::mean))
        .get((before + "covariance").c_str(), "", by_step(steps, &SwitchingStep::covariance));
  }
  def(module, "switched(values, regimes, start, transition, mean, covariance, order)", "",
      [](const Array& values, const GivenRegimes& regimes, const Eigen::VectorXd& start,
         const Eigen::MatrixXd& transition, const Eigen::VectorXd& mean, const Eigen::MatrixXd& covariance,
         std::optional<std::size_t> order) {
        const SwitchingModel model = switching_model(regimes, start, transition, mean, covariance);
        if (const auto columns = values.shape(1); !regimes.empty() && columns != model.regimes[0].h.rows())
          fail("values: {} columns are given; {} are expected, one per row of h", columns, model.regimes[0].h.rows());
        const KnownValues known = known_values(values.attr("ravel")());
        return without_lock([&] { return switching(model, known, order.value_or(kAllPaths)); });
      });
  Class<SwitchingFilter>(module, "SwitchingFilter", "A switching state space whose values come step by step.")
      .init("regimes, *, start, transition, mean, covariance, order=2",
            [](const GivenRegimes& regimes, const Eigen::VectorXd& start, const Eigen::MatrixXd& transition,
               const Eigen::VectorXd& mean, const Eigen::MatrixXd& covariance, std::size_t order) {
              return SwitchingFilter(switching_model(regimes, start, transition, mean, covariance), order);
            })
      .def("add(values)", "Probabilities of the regimes, mean and covariance after one more step; None: missing.",
           [](SwitchingFilter& filter, const std::vector<std::optional<double>>& values) {
             const SwitchingStep step = filter.add(values);
             return std::tuple(step.probability, step.mean, step.covariance);
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
  def(module, "read_games(table)", "The players of a table of text, and its games.", [](const GivenTable& table) {
    const GamesTable found = read_games(TableSource(table.columns));
    std::vector<GivenGame> games;
    for (const Game& game : found.games) {
      std::vector<GivenTeam>& teams = games.emplace_back().first;
      for (const Team& team : game.teams) teams.emplace_back(team.players, team.rank, team.shares);
    }
    return std::pair(found.players, games);
  });
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
