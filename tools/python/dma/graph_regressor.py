"""A graph of one's own as a scikit-learn estimator of numbers or classes, learned as `dma fit --graph` learns it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from . import _dma
from .progress import listener
from .settings import jobs, number, seed, truth, whole
from .table_estimator import Classifying, Floats, Predicting
from .tables import checked, checked_labels, checked_pair, weighed

Self = TypeVar("Self", bound="GraphEstimator")


class GraphEstimator(BaseEstimator):
    """What graphs of numbers and of classes share: how they are learned, columns by name, files and pickles."""

    graph: _dma.Graph
    inputs: Sequence[str] | None
    target: Any
    kinds: Sequence[_dma.Kind]
    model_: _dma.GraphModel
    _required_parameters = ["graph"]

    def _options(self) -> _dma.JointLearnOptions:
        """Of those parameters that the estimator has, which are checked with the graph."""
        name = type(self).__name__
        if not isinstance(self.graph, _dma.Graph):
            raise TypeError(f"{name}: graph is {self.graph!r}; a dma.Graph is expected")
        for kind in self.kinds:
            if not isinstance(kind, _dma.Kind):
                raise TypeError(f"{name}: one of kinds is {kind!r}; a dma.Kind is expected")
        given, options = self.get_params(deep=False), _dma.JointLearnOptions()
        for option in ("learn_noise", "tails", "noise_by_inputs"):
            setattr(options, option, truth(option, given.get(option, False)))
        options.tails = options.tails and options.learn_noise
        options.learn_scale = truth("learn_prior", given["learn_prior"])
        options.starts, options.epochs = whole("starts", given["starts"]), whole("epochs", given["epochs"])
        if "least_gain" in given:
            options.least_gain = number("least_gain", given["least_gain"])
        options.seed, options.jobs = seed(given["random_state"]), jobs(given["n_jobs"])
        return options

    def summary(self) -> str:
        """What `dma inspect` says of the model."""
        check_is_fitted(self, "model_")
        return self.model_.summary()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model file of `dma fit --graph --model`, whole or not at all."""
        check_is_fitted(self, "model_")
        _dma.write_text(os.fspath(path), self.model_.text())

    @classmethod
    def load(cls: type[Self], path: str | os.PathLike[str], kinds: Sequence[_dma.Kind] = ()) -> Self:
        """A model file as a fitted estimator; its columns are the inputs of its graph, in their order."""
        name = os.fspath(path)
        model = _dma.GraphModel.from_text(_dma.read_model_text(name), name, list(kinds))
        if bool(model.classes) != issubclass(cls, Classifying):
            found, by = ("classes", "GraphClassifier") if model.classes else ("numbers", "GraphRegressor")
            raise _dma.Error(f"'{name}' has learned {found}; load it by dma.{by}")
        loaded = cls(model.graph, model.inputs, model.targets[0] if model.classes else model.targets, kinds=kinds)
        loaded.n_features_in_ = len(model.inputs)
        loaded._keep(model)
        return loaded

    def __getstate__(self) -> dict[str, Any]:
        """For pickles: of what was learned the text of the model file. Kinds of one's own need functions that can be pickled."""
        state: dict[str, Any] = dict(super().__getstate__())
        if "model_" in state:
            state["model_"] = state["model_"].text()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "model_" in state:
            model = _dma.GraphModel.from_text(state["model_"], "the pickled model", list(state["kinds"]))
            state = {**state, "model_": model}
        super().__setstate__(state)

    def _keep(self, model: _dma.GraphModel) -> None:
        self.model_ = model
        self.beliefs_, self.report_, self.left_out_ = model.beliefs, model.report, model.left_out

    def _names(self) -> list[str]:
        """Of the columns of X; none where they stand in the order of the graph's inputs."""
        if self.inputs is not None:
            return list(self.inputs)
        return [str(name) for name in getattr(self, "feature_names_in_", [])]


class GraphRegressor(Predicting, GraphEstimator):
    """The shared variables of a graph, learned jointly from rows; observed variables are columns, targets are predicted.

    ``graph`` is a ``dma.Graph``: shared variables with Gaussian priors, functions, and a likelihood on every target
    (``gaussian_noise``, or another density of one input such as ``poisson`` or ``logistic``). ``inputs`` names the columns
    of X by the variables they are; without it a frame's columns are known by name, and those of an array stand in the order
    in which the graph's inputs were made. ``target`` is the name of an observed variable, or a list of them (columns of y).
    ``kinds`` are kinds of factors of one's own.

    ``learn_noise`` learns one variance for every Gaussian target (otherwise the graph's is taken), ``noise_by_inputs`` lets
    its logarithm be linear in the inputs, ``tails`` makes it Student's t where left-out rows ask for that; ``learn_prior``
    learns one factor on all prior precisions; ``starts`` fits are mixed by their evidence.

    After ``fit``: ``model_``, ``beliefs_`` (name -> mean and standard deviation of every shared scalar), ``report_``,
    ``left_out_`` (scores of rows predicted as if left out, one dictionary per target).
    """

    def __init__(
        self,
        graph: _dma.Graph,
        inputs: Sequence[str] | None = None,
        target: str | Sequence[str] = "y",
        *,
        kinds: Sequence[_dma.Kind] = (),
        learn_noise: bool = True,
        noise_by_inputs: bool = False,
        tails: bool = True,
        learn_prior: bool = False,
        starts: int = 1,
        epochs: int = 100,
        least_gain: float = 0.0003,
        random_state: Any = 1,
        n_jobs: int | None = None,
        verbose: Any = False,
    ) -> None:
        self.graph = graph
        self.inputs = inputs
        self.target = target
        self.kinds = kinds
        self.learn_noise = learn_noise
        self.noise_by_inputs = noise_by_inputs
        self.tails = tails
        self.learn_prior = learn_prior
        self.starts = starts
        self.epochs = epochs
        self.least_gain = least_gain
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> GraphRegressor:
        """Learns rows; one with sample_weight 2 counts as two, one with 0 not at all."""
        options = self._options()
        X, y = checked_pair(self, X, y)
        X, y, weights, _ = weighed(X, y, sample_weight)
        targets = [self.target] if isinstance(self.target, str) else list(self.target)
        with listener(self.verbose) as on_epoch:
            self._keep(
                _dma.GraphModel.fit(
                    self.graph, targets, list(self.kinds), X, y.reshape(len(y), -1), self._names(), weights, options, on_epoch
                )
            )
        return self

    def predict_distribution(self, X: Any) -> _dma.Prediction:
        check_is_fitted(self, "model_")
        return self.model_.predict(checked(self, X), self._names())


class GraphClassifier(Classifying, GraphEstimator):
    """The shared variables of a graph, learned jointly from rows with classes.

    ``graph`` has an observed ``target`` of the family ``categorical(K)`` that ``softmax`` draws from a variable of K scores;
    y holds K classes, numbers or text. Other parameters and what there is after ``fit`` as in GraphRegressor, and
    ``classes_``.
    """

    def __init__(
        self,
        graph: _dma.Graph,
        inputs: Sequence[str] | None = None,
        target: str = "y",
        *,
        kinds: Sequence[_dma.Kind] = (),
        learn_prior: bool = False,
        starts: int = 1,
        epochs: int = 100,
        random_state: Any = 1,
        n_jobs: int | None = None,
        verbose: Any = False,
    ) -> None:
        self.graph = graph
        self.inputs = inputs
        self.target = target
        self.kinds = kinds
        self.learn_prior = learn_prior
        self.starts = starts
        self.epochs = epochs
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> GraphClassifier:
        """Learns rows and the class of each."""
        options = self._options()
        X, y = checked_labels(self, X, y)
        classes, labels = self._labelled(y)
        with listener(self.verbose) as on_epoch:
            model = _dma.GraphModel.fit_classes(
                self.graph, self.target, list(self.kinds), X, labels, self._names(), options, on_epoch
            )
        self._keep(model, classes)
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities, rows x classes_."""
        check_is_fitted(self, "model_")
        return np.ascontiguousarray(self.model_.probabilities(checked(self, X), self._names())[:, self._order])

    def _keep(self, model: _dma.GraphModel, classes: Any = None) -> None:
        super()._keep(model)
        self._keep_classes(model.classes, classes)
