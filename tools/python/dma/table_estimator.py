"""What the estimators of tables share: learning through the compiled module, what is kept of it, and files."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar, overload

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from . import _dma, plots
from .progress import listener
from .tables import column_names, finite, looked_at

Floats = npt.NDArray[np.float64]
Self = TypeVar("Self", bound="TableEstimator")


def parameters_of(estimator: BaseEstimator) -> dict[str, Any]:
    """Those that it was made with; a generator of random numbers has drawn the seed, and None one that nobody has seen before."""
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
    """Holds what was learned of a table in ``model_``; what derives from it says how."""

    _kind: str  # of the models that it holds
    model_: _dma.Model
    far_rows_: list[int]
    verbose: Any

    def _take(self, given: dict[str, Any]) -> None:
        """The parameters of the constructor, each as an attribute, as scikit-learn wants them."""
        for name, value in given.items():
            if name != "self":
                setattr(self, name, value)

    def _names(self) -> list[str]:
        """Names of the columns of X, as the model knows them."""
        return column_names(self)

    def _learn(self, fit: Callable[..., _dma.Outcome], classes: Any = None) -> None:
        """fit(parameters, on_epoch) and what to remember of it; what stopped it is raised again."""
        with listener(self.verbose) as on_epoch:
            outcome = fit(parameters_of(self), on_epoch)
        if outcome.without_target:
            warnings.warn(outcome.without_target, UserWarning, stacklevel=3)
        self._keep(outcome.model, classes)
        self._outcome, self.far_rows_ = outcome, outcome.far_rows
        self.ignored_, self.reason_, self.report_ = outcome.ignored, outcome.reason, outcome.line
        if outcome.warning:
            warnings.warn(outcome.warning, UserWarning, stacklevel=3)
        if outcome.error is not None:
            raise outcome.error

    def _keep(self, model: _dma.Model, classes: Any = None) -> None:
        self.model_ = model
        names = self._names() or model.columns
        self.columns_ = np.array([names.index(column) for column in model.columns], dtype=int)
        self.coding_ = model.coding
        self.left_out_: Any = model.left_out
        self.__dict__.pop("_outcome", None)

    def _inputs(self, X: Any) -> Any:
        """What the model is told of new rows."""
        check_is_fitted(self, "model_")
        columns = looked_at(self, X, reset=False)
        inputs, notes = self.model_.encode(_dma.Table(self._names() or self.model_.columns, columns))
        for note in notes:
            warnings.warn(note, UserWarning, stacklevel=4)
        return inputs

    def summary(self) -> str:
        """What `dma inspect` says of the model, and what to expect of unseen rows."""
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
        model = _dma.Model.from_text(_dma.read_model_text(name), name, list(kinds))
        if model.kind != cls._kind:
            raise _dma.Error(f"'{name}' has learned {model.kind}; load it by dma.{_LOADERS[model.kind]}")
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
        state: dict[str, Any] = dict(super().__getstate__())
        state.pop("_outcome", None)  # with the rows
        return state


_LOADERS = {
    "numbers": "Regressor", "classes": "Classifier",
    "a graph of numbers": "GraphRegressor", "a graph of classes": "GraphClassifier",
}  # fmt: skip


class Predicting(RegressorMixin):
    """What estimators of numbers share."""

    model_: _dma.Model
    _inputs: Callable[[Any], Any]

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
        """Of observed targets, row by row: how good mean and spread are together."""
        prediction = self.predict_distribution(X)
        y = finite(y)
        return self._shaped(prediction.log_density(y.reshape(len(y), -1)))

    def plot(self, X: Any, y: Any, ax: Any = None) -> Any:
        """These rows and what is predicted of them: a curve over a single input, otherwise predicted against observed."""
        return plots.numbers(self, X, y, ax)

    def _shaped(self, values: Floats) -> Floats:
        """As y was given: one number a row, or one for each target. A copy, so that nobody holds all of the prediction."""
        return np.array(values[:, 0] if values.shape[1] == 1 else values, order="C")

    def _more_tags(self) -> dict[str, Any]:  # scikit-learn up to 1.5
        return {"multioutput": True}

    def __sklearn_tags__(self) -> Any:  # from 1.6
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class Classifying(ClassifierMixin):
    """What estimators of classes share."""

    classes_: Any
    model_: _dma.Model
    _inputs: Callable[[Any], Any]

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
