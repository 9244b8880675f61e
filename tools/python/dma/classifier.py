"""The classifier of `dma fit` as a scikit-learn estimator, bit for bit that of the command line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _dma
from .table_estimator import Classifying, TableEstimator
from .tables import cells_of, checked_labels, target_names, weighed


class Classifier(Classifying, TableEstimator):
    """A Bayesian neural network whose outputs are the logits of classes, with probabilities that mean what they say.

    Parameters have the names and the meaning of the options of ``dma fit``; None leaves a choice to the library.
    ``random_state`` is ``--seed``; ``max_seconds``, ``n_jobs``, ``verbose`` and X as in Regressor. After ``fit``:
    ``classes_``, and ``model_``, ``columns_``, ``coding_``, ``ignored_``, ``reason_``, ``report_``, ``left_out_`` as in
    Regressor. In the model file a class is the text of its label.

    Ctrl-C ends the epoch, keeps what was learned, and is raised again.
    """

    _kind = "classes"

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
        names = targets(1, features)
        self._learn(lambda given, on_epoch: _dma.fit(inputs, labels, features, names, given, on_epoch, coding, weights), classes)
        return self

    def _keep(self, model: _dma.Model, columns: npt.NDArray[np.int_], classes: Any = None) -> None:
        super()._keep(model, columns, classes)
        self.left_out_ = model.left_out[0]
