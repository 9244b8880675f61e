"""The classifier of `dma fit` as a scikit-learn estimator, bit for bit that of the command line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _dma
from .table_estimator import Classifying, Floats, TableEstimator
from .tables import cells_of, checked_labels, target_names, weighed


class Classifier(Classifying, TableEstimator):
    """A Bayesian neural network whose outputs are the logits of classes, with probabilities that mean what they say.

    Parameters have the names and the meaning of the options of ``dma fit``; None leaves a choice to the library.
    ``random_state`` is ``--seed``; ``max_seconds``, ``n_jobs``, ``verbose`` and X as in Regressor. After ``fit``:
    ``classes_``, and ``model_``, ``columns_``, ``coding_``, ``ignored_``, ``reason_``, ``report_``, ``left_out_`` as in
    Regressor. In the model file a class is the text of its label.

    Ctrl-C ends the epoch, keeps what was learned, and is raised again.
    """

    _model_type = _dma.ClassModel
    model_: _dma.ClassModel

    def __init__(
        self,
        hidden: int | Sequence[int] | None = None,
        *,
        slopes: float | None = None,
        standardise: bool | None = None,
        neighbours: bool | None = None,
        log_inputs: bool | None = None,
        prior_scale: float = 1.0,
        members: int | None = None,
        epochs: int | None = None,
        max_seconds: float | None = None,
        random_state: Any = 1,
        n_jobs: int | None = None,
        verbose: Any = False,
    ) -> None:
        self.hidden = hidden
        self.slopes = slopes
        self.standardise = standardise
        self.neighbours = neighbours
        self.log_inputs = log_inputs
        self.prior_scale = prior_scale
        self.members = members
        self.epochs = epochs
        self.max_seconds = max_seconds
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Classifier:
        """Learns rows of inputs and the class of each: numbers or text, two rows of every class at least.

        Weights of rows as in Regressor: one with sample_weight 2 counts as two, one with 0 is left out. Probabilities are
        those of a population in which rows come as often as their weights say.
        """
        targets = target_names(y)
        X, y, weights, _ = weighed(X, y, sample_weight)
        cells = cells_of(X)
        X, y = checked_labels(self, X, y)
        classes, labels = self._labelled(y)
        inputs, features, coding = self._coded(X, cells)
        target = targets(1, features)[0]
        self._classes = classes  # for _keep, which is called even if the fit is stopped
        try:
            self._learn(lambda settings, on_epoch: _dma.fit_classes(inputs, labels, features, target, settings, on_epoch, coding, weights))
        finally:
            self.__dict__.pop("_classes", None)
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities, rows x classes_."""
        inputs = self._inputs(X)  # first: it says what an estimator lacks that was not fitted
        return np.ascontiguousarray(self.model_.predict(inputs)[:, self._order])

    def _keep(self, model: _dma.ClassModel, columns: npt.NDArray[np.int_]) -> None:
        super()._keep(model, columns)
        self._keep_classes(model.classes, self.__dict__.pop("_classes", None))
