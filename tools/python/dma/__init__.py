"""Factor graphs and Bayesian neural networks: the C++ engine `dma` from Python.

    model = dma.Regressor().fit(X, y)             # a scikit-learn estimator
    mean, sd = model.predict(X_new, return_std=True)

    g = dma.Graph()                               # or a graph of one's own
    w = g.gaussian_prior(g.variable("w", 3), 0, sd=1)
    x, y = g.observed("x", 3), g.observed("y")
    g.gaussian_noise(g.sum(w * x), y, sd=0.2)
    plan = dma.compile(g, dma.forward_backward())
    state = dma.State(plan)
    state.observe(x, [1, 2, 0.5])
    state.observe(y, 1.3)
    print(dma.run(plan, state), state.belief(w))

    dma.smooth(values, forecast=12)               # or a model that is there: series, games, clusters, gaps, ...
    dma.rate([("Ann", "Ben"), ("Ben", "Cy")])["Ann"]

Graphs and these models need NumPy alone; the estimators are imported when they are first asked for, because they need
scikit-learn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._dma import (
    Answer, Belief, Certificate, Connection, Contradiction, Domain, Error, Evidence, Exact, ExactComparison,
    Explanation, Factor, Factorisation, GaussianProcess, Graph, GrowingGraph, HiddenMarkov, Hyper, HyperBelief, Joint, JointDraws, JointComparison,
    Kind, LearnReport, Learner, LinearFit, Mixture, ParsedGraph, Plan, Process, Registry, Report, RunCertificate, Schedule,
    SeriesFilter, Smoothed, State, StateSpace, Switched, SwitchingFilter, TreeReweighted, Variable, VectorFactor, Visit, above,
    all_to_one, at_least, at_most, autoregressive, below, certificate, certify, column, compare_with_exact,
    compare_with_joint, compile, covariance, decide, draw_posterior, evidence, evidence_bounds, exact, exp, explain,
    finite, fixed_season, flooding, forward, forward_backward, gather, given, graph_text, hyper, hyper_belief, joint,
    linear_regression, local_trend, log, log_evidence, marginal, most_probable, motion, one_of, parse_graph,
    random_walk, residual, row, run, sample, seasonal, sequential, set_start, shift, solve, standard_registry,
    tree_reweighted, value_of_information,
    __version__ as __version__,
)  # fmt: skip
from . import plots as _plots  # gives compiled classes their plot()
from .factors import factor, factor_from_function, factor_from_vector_function, likelihood, likelihood_from_log_density
from .model import Model
from .models import Game, Rating, Season, factorise, gaussian_mixture, rate, switching
from .series import Series, smooth

if TYPE_CHECKING:
    from .estimators import Classifier, GraphClassifier, GraphRegressor, Regressor

__all__ = [
    "Answer", "Belief", "Certificate", "Classifier", "Connection", "Contradiction", "Domain", "Error", "Evidence",
    "Exact", "ExactComparison", "Explanation", "Factor", "Factorisation", "Game", "GaussianProcess", "Graph", "GraphClassifier",
    "GraphRegressor", "GrowingGraph", "HiddenMarkov", "Hyper", "HyperBelief", "Joint", "JointDraws", "JointComparison",
    "Kind", "LearnReport", "Learner", "LinearFit", "Mixture", "Model", "ParsedGraph", "Plan", "Process", "Rating", "Registry",
    "Regressor", "Report", "RunCertificate", "Schedule", "Season", "Series", "SeriesFilter", "Smoothed", "State",
    "StateSpace", "Switched", "SwitchingFilter", "TreeReweighted", "Variable", "VectorFactor", "Visit", "above",
    "all_to_one", "at_least", "at_most", "autoregressive", "below", "certificate", "certify", "column",
    "compare_with_exact", "compare_with_joint", "compile", "covariance", "decide", "draw_posterior", "evidence",
    "evidence_bounds", "exact", "exp", "explain", "factor", "factor_from_function", "factor_from_vector_function",
    "factorise", "finite", "fixed_season", "flooding", "forward", "forward_backward", "gather", "gaussian_mixture",
    "given", "graph_text", "hyper", "hyper_belief", "joint", "likelihood", "likelihood_from_log_density",
    "linear_regression", "local_trend", "log", "log_evidence", "marginal", "most_probable", "motion", "one_of",
    "parse_graph", "random_walk", "rate", "residual", "row", "run", "sample", "seasonal", "sequential", "set_start",
    "shift", "smooth", "solve", "standard_registry", "switching", "tree_reweighted", "value_of_information",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in ("Classifier", "GraphClassifier", "GraphRegressor", "Regressor"):
        raise AttributeError(f"module 'dma' has no attribute {name!r}")
    from . import estimators

    return getattr(estimators, name)


def __dir__() -> list[str]:
    return sorted(__all__)
