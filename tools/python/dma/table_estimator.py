"""What the estimators of tables share: learning through the compiled module, what is kept of it, and files."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from . import _dma
from .progress import listener
from .settings import fit_settings, in_python
from .tables import cells_of, checked, column_names

Self = TypeVar("Self", bound="TableEstimator")


class TableEstimator(BaseEstimator):
    """A model of `dma fit`. What a derived class keeps in `model_` can tell its text, and what it says of left-out rows."""

    _model_type: Any  # of the compiled module
    verbose: Any

    def _coded(self, X: Any, cells: list[Any] | None) -> tuple[Any, list[str], Any]:
        """Inputs, their names, and what made them of the cells of a frame; X is what scikit-learn has looked at."""
        names = column_names(self)
        if cells is None:
            return X, names, _dma.ColumnCoding()
        coding = _dma.ColumnCoding(names, cells)
        if not coding.columns:
            raise _dma.Error(f"there is nothing to learn from: {'; '.join(coding.lines)}")
        return coding.encode(names, cells), coding.columns, coding

    def _learn(self, fit: Callable[..., Any]) -> None:
        """fit(settings, on_epoch) and what to remember of it. Errors call options by their names in Python."""
        try:
            settings = fit_settings(self.get_params(deep=False))
            with listener(self.verbose) as on_epoch:
                outcome = fit(settings, on_epoch)
        except _dma.Error as error:
            raise type(error)(in_python(str(error))) from None
        self._keep(outcome.model, np.asarray(outcome.columns))
        self.ignored_, self.reason_, self.report_ = outcome.ignored, outcome.reason, outcome.line
        if outcome.warning:
            warnings.warn(in_python(outcome.warning), UserWarning, stacklevel=3)
        if outcome.error is not None:
            raise outcome.error

    def _keep(self, model: Any, columns: npt.NDArray[np.int_]) -> None:
        self.model_ = model
        self.columns_ = columns
        self.coding_ = model.coding
        self.left_out_ = model.left_out

    def _inputs(self, X: Any) -> Any:
        """The columns that the model learned from."""
        check_is_fitted(self, "model_")
        return self._learned_from(X, checked(self, X))

    def _learned_from(self, X: Any, numbers: Any) -> Any:
        """From X as it was given, and as scikit-learn has looked at it."""
        cells = cells_of(X)
        if cells is None and self.coding_:
            cells = list(numbers.T)
        if cells is None:
            return numbers if len(self.columns_) == numbers.shape[1] else numbers[:, self.columns_]
        inputs, notes = self.model_.encode(column_names(self), cells)
        for note in notes:
            warnings.warn(note, UserWarning, stacklevel=4)
        return inputs

    def summary(self) -> str:
        """What `dma inspect` says of the model, and what to expect of unseen rows."""
        check_is_fitted(self, "model_")
        return str(self.model_.summary())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model file of `dma fit --model`, whole or not at all."""
        check_is_fitted(self, "model_")
        _dma.write_text(os.fspath(path), self.model_.text())

    @classmethod
    def load(cls: type[Self], path: str | os.PathLike[str]) -> Self:
        """A model file as a fitted estimator; its columns are those that the model learned from, in their order.

        The file holds what was learned, not how the estimator was made: the parameters are the defaults.
        """
        name = os.fspath(path)
        model = cls._model_type.from_text(_dma.read_model_text(name), name)
        loaded = cls()
        loaded.n_features_in_ = len(model.columns)
        if model.columns != [f"x{i}" for i in range(len(model.columns))]:  # otherwise columns without names
            loaded.feature_names_in_ = np.asarray(model.columns, dtype=object)
        loaded._keep(model, np.arange(len(model.features)))
        loaded.ignored_, loaded.reason_, loaded.report_ = "", f"read from {name}", f"read from {name}"
        return loaded
