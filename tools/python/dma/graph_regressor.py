"""A graph of one's own as a scikit-learn estimator of numbers or classes, learned as `dma fit --graph` learns it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from . import _dma
from .table_estimator import Classifying, Predicting, TableEstimator
from .tables import checked_labels, checked_pair, weights_of

Self = TypeVar("Self", bound="GraphEstimator")


class GraphEstimator(TableEstimator):
    """What graphs of numbers and of classes share: how they are learned, and pickles."""

    graph: _dma.Graph
    inputs: Sequence[str] | None
    target: Any
    kinds: Sequence[_dma.Kind]
    _required_parameters = ["graph"]

    def _names(self) -> list[str]:
        """Names of the columns of X; no names where they stand in the order of the graph's inputs."""
        return list(self.inputs) if self.inputs is not None else [str(name) for name in getattr(self, "feature_names_in_", [])]

    def _fit(self, columns: Any, y: Any, weights: Any = None, classes: Any = None) -> None:
        name = type(self).__name__
        if not isinstance(self.graph, _dma.Graph):
            raise TypeError(f"{name}: graph is {self.graph!r}; a dma.Graph is expected")
        for kind in self.kinds:
            if not isinstance(kind, _dma.Kind):
                raise TypeError(f"{name}: one of kinds is {kind!r}; a dma.Kind is expected")
        targets = [self.target] if isinstance(self.target, str) else list(self.target)
        table = _dma.Table(self._names(), columns, targets, y, weights)
        fit = lambda given, on_epoch: _dma.fit_graph(self.graph, list(self.kinds), table, given, on_epoch)  # noqa: E731
        self._learn(fit, classes)

    @property
    def beliefs_(self) -> dict[str, tuple[float, float]]:
        return self.model_.beliefs

    @classmethod
    def _made_for(cls: type[Self], model: _dma.Model, kinds: Sequence[_dma.Kind]) -> Self:
        return cls(model.graph(), model.features, model.targets[0] if model.classes else model.targets, kinds=kinds)

    def __getstate__(self) -> dict[str, Any]:
        """For pickles: of what was learned the text of the model file. Kinds of one's own need functions that can be pickled."""
        state = super().__getstate__()
        if "model_" in state:
            state["model_"] = state["model_"].text()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "model_" in state:
            model = _dma.Model.from_text(state["model_"], "the pickled model", list(state["kinds"]))
            state = {**state, "model_": model}
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
        self._take(locals())

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> GraphRegressor:
        """Learns rows; one with sample_weight 2 counts as two, one with 0 not at all."""
        weights = weights_of(X, sample_weight)
        self._fit(*checked_pair(self, X, y, ensure_min_samples=2), weights)
        return self


class GraphClassifier(Classifying, GraphEstimator):
    """The shared variables of a graph, learned jointly from rows with classes.

    ``graph`` has an observed ``target`` of the family ``categorical(K)`` that ``softmax`` draws from a variable of K scores;
    y holds K classes, numbers or text. Other parameters and what there is after ``fit`` as in GraphRegressor, and
    ``classes_``.
    """

    _kind = "a graph of classes"

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
        self._take(locals())

    def fit(self, X: Any, y: Any) -> GraphClassifier:
        """Learns rows and the class of each."""
        columns, classes, labels = checked_labels(self, X, y)
        self._fit(columns, labels, None, classes)
        return self
