"""The models of `dma fit` as scikit-learn estimators: numbers, classes, and graphs of one's own.

The layer is thin: settings, checks, numbers and files are those of the command line, so that a model fitted or saved by one is
a model of the other, bit for bit.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal, TypeVar, overload

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.validation import check_is_fitted

from . import _dma, plots
from .tables import checked_labels, checked_pair, column_names, finite, looked_at, target_names, weights_of

Floats = npt.NDArray[np.float64]
Self = TypeVar("Self", bound="TableEstimator")


@contextmanager
def listener(verbose: Any) -> Iterator[Callable[..., object] | None]:
    """Who hears of every epoch: a function, a line on standard error that renews itself, or nobody."""

    def show(member: int, epoch: int, log_likelihood: float, seconds: float) -> None:
        words = f"\rmember {member + 1}, epoch {epoch}: {log_likelihood:.4f} a row, {seconds:.1f} s"
        print(words, end="", file=sys.stderr, flush=True)

    if callable(verbose) or not verbose:
        yield verbose or None
        return
    try:
        yield show
    finally:
        print(file=sys.stderr, flush=True)


def parameters_of(estimator: BaseEstimator) -> dict[str, Any]:
    """The parameters that it was made with; a generator of random numbers has drawn the seed, and None one that nobody has seen before."""
    parameters: dict[str, Any] = estimator.get_params(deep=False)
    random = parameters["random_state"]
    if random is None:
        random = np.random.default_rng()
    if isinstance(random, np.random.RandomState):
        random = int(random.randint(0, 2**31 - 1))
    elif isinstance(random, np.random.Generator):
        random = int(random.integers(0, 2**63))
    return {**parameters, "random_state": random}


class TableEstimator(BaseEstimator):
    """Holds what was learned of a table in ``model_``; what derives from it says how rows are checked, learned and predicted."""

    _kind: str  # kind of the models that it holds
    model_: _dma.Model
    verbose: Any

    def _take(self, given: dict[str, Any]) -> None:
        """The parameters of the constructor, each as an attribute, as scikit-learn wants them."""
        for name, value in given.items():
            if name != "self":
                setattr(self, name, value)

    def _names(self) -> list[str]:
        """Names of the columns of X, as the model knows them."""
        return column_names(self)

    def _targets(self, y: Any, count: int) -> list[str]:
        return target_names(y, count, self._names())

    def _compiled(self) -> Callable[..., _dma.Outcome]:
        """fit(table, parameters, on_epoch)."""
        return _dma.fit

    def _checked(self, X: Any, y: Any) -> tuple[Any, Any, Any]:
        """The columns of X, those of y, and the classes that y has."""
        raise NotImplementedError

    def _learn(self: Self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learns rows and remembers what is to be told of it; what stopped the fit is raised again."""
        weights = weights_of(X, sample_weight)
        columns, known, classes = self._checked(X, y)
        count = known.shape[1] if classes is None else 1
        fit, table = self._compiled(), _dma.Table(self._names(), columns, self._targets(y, count), known, weights)
        with listener(self.verbose) as on_epoch:
            outcome = fit(table, parameters_of(self), on_epoch)
        if outcome.without_target:
            warnings.warn(outcome.without_target, UserWarning, stacklevel=3)
        self._keep(outcome.model, classes)
        self._outcome, self.far_rows_ = outcome, outcome.far_rows
        self.ignored_, self.reason_, self.report_ = outcome.ignored, outcome.reason, outcome.line
        if outcome.warning:
            warnings.warn(outcome.warning, UserWarning, stacklevel=3)
        if outcome.error is not None:
            raise outcome.error
        return self

    def _keep(self, model: _dma.Model, classes: Any = None) -> None:
        self.model_ = model
        names = self._names() or model.columns
        self.columns_ = np.array([names.index(column) for column in model.columns], dtype=int)
        self.coding_ = model.coding
        self.left_out_: Any = model.left_out
        self.__dict__.pop("_outcome", None)

    def _inputs(self, X: Any) -> Any:
        """The inputs of new rows for the model."""
        check_is_fitted(self, "model_")
        columns = looked_at(self, X, reset=False)
        inputs, notes = self.model_.encode(_dma.Table(self._names() or self.model_.columns, columns))
        for note in notes:
            warnings.warn(note, UserWarning, stacklevel=4)
        return inputs

    def summary(self) -> str:
        """The text of `dma inspect`: the model, and what to expect of unseen rows."""
        check_is_fitted(self, "model_")
        return self.model_.summary()

    def report(self, path: str | os.PathLike[str]) -> None:
        """Writes the page of `dma fit --report`: scores, pictures, which inputs matter. It needs the rows of the fit."""
        self._fitted("report").report(os.fspath(path), f"{self}.fit(X, y)")

    def importance(self) -> Any:
        """A frame of pandas: for every column of X and target by how much the loss of the learned rows (the RMSE, or the
        log-loss of classes) rises when the column's values are handed to other rows, most important first."""
        import pandas as pd

        found = self._fitted("importance").importance()
        return pd.DataFrame(
            [{"target": one["target"], "column": c["name"], "rise": float(c["rise"]), "sd": float(c["sd"])} for one in found for c in one["inputs"]]
        )

    def _fitted(self, method: str) -> _dma.Outcome:
        """The fit with its rows."""
        check_is_fitted(self, "model_")
        if not hasattr(self, "_outcome"):
            raise _dma.Error(f"{method}: the rows of the fit are not there any more; call fit before it")
        return self._outcome

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model file of `dma fit --model`, whole or not at all."""
        check_is_fitted(self, "model_")
        _dma.write_text(os.fspath(path), self.model_.text())

    @classmethod
    def load(cls: type[Self], path: str | os.PathLike[str], kinds: Sequence[_dma.Kind] = ()) -> Self:
        """A model file as a fitted estimator; its columns are those that the model learned from, in their order.

        The file holds what was learned, not how the estimator was made: the parameters are the defaults.
        """
        name = os.fspath(path)
        model = _dma.model_from_text(_dma.read_model_text(name), name, list(kinds))
        if model.kind != cls._kind:
            estimators: list[type[TableEstimator]] = [Regressor, Classifier, GraphRegressor, GraphClassifier]
            loader = next(one.__name__ for one in estimators if one._kind == model.kind)
            raise _dma.Error(f"'{name}' has learned {model.kind}; load it by dma.{loader}")
        loaded = cls._made_for(model, kinds)
        loaded.n_features_in_ = len(model.columns)
        if "graph" not in model.kind and model.columns != [f"x{i}" for i in range(len(model.columns))]:  # else without names
            loaded.feature_names_in_ = np.asarray(model.columns, dtype=object)
        loaded._keep(model)
        loaded.far_rows_ = model.far_rows
        loaded.ignored_, loaded.reason_, loaded.report_ = "", f"read from {name}", f"read from {name}"
        return loaded

    @classmethod
    def _made_for(cls: type[Self], model: _dma.Model, kinds: Sequence[_dma.Kind]) -> Self:
        return cls()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "_outcome"}  # the outcome has the rows


class Predicting(RegressorMixin):
    """The common part of estimators of numbers."""

    model_: _dma.Model
    _inputs: Callable[[Any], Any]

    def _checked(self, X: Any, y: Any) -> tuple[Any, Any, Any]:
        return (*checked_pair(self, X, y, ensure_min_samples=2), None)

    def predict_distribution(self, X: Any) -> _dma.Prediction:
        """All that is known of new rows: mean, sd, epistemic_sd, noise_sd (rows x targets), quantile, log_density."""
        inputs = self._inputs(X)  # first: it says what an estimator lacks that was not fitted
        return self.model_.predict(inputs)

    @overload
    def predict(self, X: Any, return_std: Literal[False] = ..., return_quantiles: None = ...) -> Floats: ...
    @overload
    def predict(self, X: Any, return_std: Literal[True], return_quantiles: None = ...) -> tuple[Floats, Floats]: ...
    @overload
    def predict(self, X: Any, return_std: bool = ..., return_quantiles: Sequence[float] | None = ...) -> Any: ...
    def predict(self, X: Any, return_std: bool = False, return_quantiles: Sequence[float] | None = None) -> Any:
        """Means; beside them, if they are asked for, standard deviations (noise included), and the values that the target
        stays below with the probabilities return_quantiles, along the last axis."""
        prediction = self.predict_distribution(X)
        found = [self._shaped(prediction.mean)]
        if return_std:
            found.append(self._shaped(prediction.sd))
        if return_quantiles is not None:
            found.append(self._quantiles(prediction, return_quantiles))
        return found[0] if len(found) == 1 else tuple(found)

    def predict_quantiles(self, X: Any, quantiles: Sequence[float] = (0.025, 0.5, 0.975)) -> Floats:
        """The values that the target stays below with these probabilities, along the last axis."""
        return self._quantiles(self.predict_distribution(X), quantiles)

    def _quantiles(self, prediction: _dma.Prediction, quantiles: Sequence[float]) -> Floats:
        found = [self._shaped(prediction.quantile(float(one))) for one in np.atleast_1d(np.asarray(quantiles, dtype=float))]
        if not found:
            raise _dma.Error("quantiles: none is given; probabilities above 0 and below 1 are expected")
        return np.stack(found, axis=-1)

    def log_density(self, X: Any, y: Any) -> Floats:
        """Log density of observed targets, row by row: how good mean and spread are together."""
        prediction = self.predict_distribution(X)
        y = finite(y)
        return self._shaped(prediction.log_density(y.reshape(len(y), -1)))

    def plot(self, X: Any, y: Any, ax: Any = None) -> Any:
        """These rows and what is predicted of them: a curve over a single input, otherwise predicted against observed."""
        return plots.numbers(self, X, y, ax)

    def _shaped(self, values: Floats) -> Floats:
        """As y was given: one number per row, or one for each target. A copy, so that nobody holds all of the prediction."""
        return np.array(values[:, 0] if values.shape[1] == 1 else values, order="C")

    def _more_tags(self) -> dict[str, Any]:  # scikit-learn up to 1.5
        return {"multioutput": True}

    def __sklearn_tags__(self) -> Any:  # from 1.6
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class Classifying(ClassifierMixin):
    """The common part of estimators of classes."""

    classes_: Any
    model_: _dma.Model
    _inputs: Callable[[Any], Any]

    def _checked(self, X: Any, y: Any) -> tuple[Any, Any, Any]:
        columns, classes, labels = checked_labels(self, X, y)
        return columns, labels, classes

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities, rows x ``classes_``."""
        inputs = self._inputs(X)  # first: it says what an estimator lacks that was not fitted
        return np.ascontiguousarray(self.model_.probabilities(inputs)[:, self._order])

    def predict_log_proba(self, X: Any) -> Floats:
        """Their logarithms."""
        with np.errstate(divide="ignore"):  # a class that cannot be
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> Any:
        """The most probable class of every row."""
        most = np.argmax(self.predict_proba(X), axis=1)
        return self.classes_[most]

    def plot(self, X: Any, y: Any, ax: Any = None) -> Any:
        """How often classes are the right ones that are given a probability: on the line promises are kept."""
        return plots.classes(self, X, y, ax)

    def _keep(self, model: _dma.Model, classes: Any = None) -> None:
        """The classes of a fit; None: from a file, as those that the fit had no row of."""
        super()._keep(model, classes)
        names = model.classes
        self.classes_ = classes if classes is not None and len(classes) == len(names) else np.unique(as_labels(names))
        self._order = [names.index(str(one)) for one in self.classes_.tolist()]


def as_labels(names: list[str]) -> Any:
    """Names of classes as they were before they were text: whole numbers, numbers, or names."""
    for kind in (int, float):
        try:
            values = [kind(name) for name in names]
        except ValueError:
            continue
        if [str(value) for value in values] == names:
            return np.asarray(values)
    return np.asarray(names)


class Regressor(Predicting, TableEstimator):
    """A Bayesian neural network for a table of numbers, with settings that need no tuning.

    Parameters have the names and the meaning of the options of ``dma fit`` (``dma fit --help`` explains each); None leaves a
    choice to the library. ``random_state`` is ``--seed``, ``n_jobs`` is ``--jobs`` (None: 1, -1: all processors),
    ``max_seconds`` is ``--time``: the best model that can be learned in so many seconds. ``verbose`` is False, True for a
    line of progress on standard error, or a function that is called as f(member, epoch, log_likelihood, seconds) after
    every epoch.

    X is an array of numbers, or a frame whose columns may hold text, categories, dates, yes and no, and missing cells; they
    become numbers as in ``dma fit``, and ``coding_`` has a line on each column.

    After ``fit``: ``model_`` (what was learned), ``columns_`` (places of those columns of X that it needs; constant ones and copies are
    ignored, ``ignored_`` says which), ``reason_`` (for the method), ``report_`` (one line), ``left_out_`` (scores of rows
    predicted as if left out, one dictionary per target), ``far_rows_`` (places of rows of y beyond 10 sd of what the others
    predict, which are not learned), ``relevance_`` (of every column that was learned from, the factor on the prior
    variance of its weights).

    Ctrl-C ends the epoch, keeps what was learned, and is raised again: the estimator is then fitted, if not to the end.

        low, high = dma.Regressor(hidden=(20,)).fit(X, y).predict_quantiles(X_new, [0.05, 0.95]).T
    """

    _kind = "numbers"

    def __init__(
        self, hidden: int | Sequence[int] | None = None, *, preset: str = "table", slopes: float | Sequence[float] | None = None,
        noise: float | Sequence[float] | None = None, noise_model: str | None = None, bias: bool | None = None,
        standardise: bool | None = None, features_map: str = "none", prior_scale: float = 1.0,
        neighbours: bool | None = None, log_inputs: bool | None = None, log_target: bool | None = None,
        count_target: bool | None = None, members: int | None = None, method: str | None = None, batches: int | None = None,
        batch_size: int | None = None, epochs: int | None = None, tolerance: float | None = None, patience: int | None = None,
        least_gain: float | None = None, max_seconds: float | None = None, random_state: Any = 1, n_jobs: int | None = None,
        verbose: Any = False,
    ) -> None:  # fmt: skip
        self._take(locals())

    @property
    def relevance_(self) -> Floats:
        """The factor on the prior variances of every column that was learned from."""
        return self.model_.relevance

    def _checked(self, X: Any, y: Any) -> tuple[Any, Any, Any]:
        columns, known, _ = super()._checked(X, y)
        if known.shape[1] == 1 and np.asarray(y).ndim == 2:
            words = "A column-vector y was passed when a 1d array was expected; y.ravel() is taken."
            warnings.warn(words, DataConversionWarning, stacklevel=4)
        return columns, known, None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Regressor:
        """Learns rows of inputs and their targets: one column, or several that are predicted together.

        A row with sample_weight 2 counts as two that are equal but independent, one with 0 is left out. Weights that are all
        twice as large make predictions more certain: they say that there are twice as many rows.
        """
        return self._learn(X, y, sample_weight)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Regressor:
        """Learns more rows on top of those that are known, which need not be there any more; the first call is ``fit``.

        As ``dma fit --update``, bit for bit: what is known of the network's weights is the prior of the new rows, which
        count as sample_weight says. Units, the prior's scale and the parameters of the estimator stay those of the fit;
        ``left_out_`` is empty, because it told of the old rows alone.
        """
        if not hasattr(self, "model_"):
            return self.fit(X, y, sample_weight)
        weights = weights_of(X, sample_weight)
        columns, more = checked_pair(self, X, y, reset=False)
        known = self.model_.targets
        if more.shape[1] != len(known):
            raise _dma.Error(f"partial_fit: y has {more.shape[1]} columns, but the model predicts {len(known)}: {', '.join(known)}")
        names = target_names(y, len(known), self._names())
        if set(names) != set(known):  # otherwise a frame's columns are known by name, in any order
            names = known
        before = self.model_.rows
        model, settled, notes = self.model_.updated(_dma.Table(self._names(), columns, names, more, weights))
        self._keep(model)
        for note in notes:
            warnings.warn(note, UserWarning, stacklevel=2)
        added = model.rows - before
        self.report_ = f"learned {added} row{'s' if added != 1 else ''} on top of {before}"
        if not settled:
            warnings.warn(f"{self.report_}, but the update stopped before it settled; fit all rows together", UserWarning, stacklevel=2)
        return self

    def graph(self) -> _dma.Graph:
        """The graph of one row in standardised units that the first network learned, with its priors, noise and tails."""
        check_is_fitted(self, "model_")
        return self.model_.graph()


class Classifier(Classifying, TableEstimator):
    """A Bayesian neural network whose outputs are the logits of classes, with probabilities that mean what they say.

    Parameters have the names and the meaning of the options of ``dma fit``; None leaves a choice to the library.
    ``random_state`` is ``--seed``; ``max_seconds``, ``n_jobs``, ``verbose`` and X as in Regressor. After ``fit``:
    ``classes_``, and ``model_``, ``columns_``, ``coding_``, ``ignored_``, ``reason_``, ``report_``, ``left_out_`` as in
    Regressor. In the model file a class is the text of its label. Ctrl-C ends the epoch, keeps what was learned, and is
    raised again.

        dma.Classifier().fit(X, ["yes", "no", ...]).predict_proba(X_new)
    """

    _kind = "classes"

    def __init__(
        self, hidden: int | Sequence[int] | None = None, *, slopes: float | None = None, standardise: bool | None = None,
        neighbours: bool | None = None, log_inputs: bool | None = None, prior_scale: float = 1.0, members: int | None = None,
        epochs: int | None = None, max_seconds: float | None = None, random_state: Any = 1, n_jobs: int | None = None,
        verbose: Any = False,
    ) -> None:  # fmt: skip
        self._take(locals())

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Classifier:
        """Learns rows of inputs and the class of each: numbers or text, two rows of every class at least.

        Weights of rows as in Regressor: one with sample_weight 2 counts as two, one with 0 is left out. Probabilities are
        those of a population in which rows come as often as their weights say.
        """
        return self._learn(X, y, sample_weight)

    def _keep(self, model: _dma.Model, classes: Any = None) -> None:
        super()._keep(model, classes)
        self.left_out_ = model.left_out[0]


class GraphEstimator(TableEstimator):
    """The common part of graphs of numbers and of classes: learning, and pickles."""

    graph: _dma.Graph
    inputs: Sequence[str] | None
    target: Any
    kinds: Sequence[_dma.Kind]
    _required_parameters = ["graph"]

    def _names(self) -> list[str]:
        """Names of the columns of X; no names where they stand in the order of the graph's inputs."""
        return list(self.inputs) if self.inputs is not None else [str(name) for name in getattr(self, "feature_names_in_", [])]

    def _targets(self, y: Any, count: int) -> list[str]:
        return [self.target] if isinstance(self.target, str) else list(self.target)

    def _compiled(self) -> Callable[..., _dma.Outcome]:
        for name, expected, given in [("graph", _dma.Graph, self.graph), *(("one of kinds", _dma.Kind, kind) for kind in self.kinds)]:
            if not isinstance(given, expected):
                raise TypeError(f"{type(self).__name__}: {name} is {given!r}; a dma.{expected.__name__} is expected")
        return lambda *given: _dma.fit_graph(self.graph, list(self.kinds), *given)

    @property
    def beliefs_(self) -> dict[str, tuple[float, float]]:
        """Mean and standard deviation of every shared scalar by name."""
        return self.model_.beliefs

    @classmethod
    def _made_for(cls: type[Self], model: _dma.Model, kinds: Sequence[_dma.Kind]) -> Self:
        return cls(model.graph(), model.features, model.targets[0] if model.classes else model.targets, kinds=kinds)

    def __getstate__(self) -> dict[str, Any]:
        """For pickles: of what was learned the text of the model file. Kinds of one's own need functions that can be pickled."""
        state = super().__getstate__()
        return {**state, "model_": state["model_"].text()} if "model_" in state else state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "model_" in state:
            state = {**state, "model_": _dma.model_from_text(state["model_"], "the pickled model", list(state["kinds"]))}
        super().__setstate__(state)


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

    _kind = "a graph of numbers"

    def __init__(
        self, graph: _dma.Graph, inputs: Sequence[str] | None = None, target: str | Sequence[str] = "y", *,
        kinds: Sequence[_dma.Kind] = (), learn_noise: bool = True, noise_by_inputs: bool = False, tails: bool = True,
        learn_prior: bool = False, starts: int = 1, epochs: int = 100, least_gain: float = 0.0003, random_state: Any = 1,
        n_jobs: int | None = None, verbose: Any = False,
    ) -> None:  # fmt: skip
        self._take(locals())

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> GraphRegressor:
        """Learns rows; one with sample_weight 2 counts as two, one with 0 not at all."""
        return self._learn(X, y, sample_weight)


class GraphClassifier(Classifying, GraphEstimator):
    """The shared variables of a graph, learned jointly from rows with classes.

    ``graph`` has an observed ``target`` of the family ``categorical(K)`` that ``softmax`` draws from a variable of K scores;
    y holds K classes, numbers or text. Other parameters and what there is after ``fit`` as in GraphRegressor, and
    ``classes_``.
    """

    _kind = "a graph of classes"

    def __init__(
        self, graph: _dma.Graph, inputs: Sequence[str] | None = None, target: str = "y", *, kinds: Sequence[_dma.Kind] = (),
        learn_prior: bool = False, starts: int = 1, epochs: int = 100, random_state: Any = 1, n_jobs: int | None = None,
        verbose: Any = False,
    ) -> None:  # fmt: skip
        self._take(locals())

    def fit(self, X: Any, y: Any) -> GraphClassifier:
        """Learns rows and the class of each."""
        return self._learn(X, y)
