"""The classifier of `dma fit` as a scikit-learn estimator, bit for bit that of the command line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import _dma
from .table_estimator import Classifying, TableEstimator
from .tables import checked_labels, target_names, weights_of


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
        self._take(locals())

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Classifier:
        """Learns rows of inputs and the class of each: numbers or text, two rows of every class at least.

        Weights of rows as in Regressor: one with sample_weight 2 counts as two, one with 0 is left out. Probabilities are
        those of a population in which rows come as often as their weights say.
        """
        weights = weights_of(X, sample_weight)
        columns, classes, labels = checked_labels(self, X, y)
        table = _dma.Table(names := self._names(), columns, target_names(y, 1, names), labels, weights)
        self._learn(lambda given, on_epoch: _dma.fit(table, given, on_epoch), classes)
        return self

    def _keep(self, model: _dma.Model, classes: Any = None) -> None:
        super()._keep(model, classes)
        self.left_out_ = model.left_out[0]
