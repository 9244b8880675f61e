"""The table model of `dma fit` as a scikit-learn estimator.

The layer is thin on purpose: settings, checks, numbers and files are those of the command line, so that a model fitted or
saved by one is a model of the other, bit for bit.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.validation import check_is_fitted

from . import _dma
from .table_estimator import Floats, Predicting, TableEstimator
from .tables import checked_pair, target_names, weights_of


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
    """

    _kind = "numbers"

    def __init__(
        self,
        hidden: int | Sequence[int] | None = None,
        *,
        preset: str = "table",
        slopes: float | Sequence[float] | None = None,
        noise: float | Sequence[float] | None = None,
        noise_model: str | None = None,
        bias: bool | None = None,
        standardise: bool | None = None,
        features_map: str = "none",
        prior_scale: float = 1.0,
        neighbours: bool | None = None,
        log_inputs: bool | None = None,
        log_target: bool | None = None,
        members: int | None = None,
        method: str | None = None,
        tempering: float | None = None,
        batches: int | None = None,
        batch_size: int | None = None,
        epochs: int | None = None,
        tolerance: float | None = None,
        patience: int | None = None,
        least_gain: float | None = None,
        max_seconds: float | None = None,
        random_state: Any = 1,
        n_jobs: int | None = None,
        verbose: Any = False,
    ) -> None:
        self._take(locals())

    @property
    def relevance_(self) -> Floats:
        """The factor on the prior variances of every column that was learned from."""
        return self.model_.relevance

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Regressor:
        """Learns rows of inputs and their targets: one column, or several that are predicted together.

        A row with sample_weight 2 counts as two that are equal but independent, one with 0 is left out. Weights that are all
        twice as large make predictions more certain: they say that there are twice as many rows.
        """
        weights = weights_of(X, sample_weight)
        columns, known = checked_pair(self, X, y, ensure_min_samples=2)
        if known.shape[1] == 1 and np.asarray(y).ndim == 2:
            words = "A column-vector y was passed when a 1d array was expected; y.ravel() is taken."
            warnings.warn(words, DataConversionWarning, stacklevel=2)
        table = _dma.Table(names := self._names(), columns, target_names(y, known.shape[1], names), known, weights)
        self._learn(lambda given, on_epoch: _dma.fit(table, given, on_epoch))
        return self

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
