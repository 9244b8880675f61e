"""Pictures by matplotlib, which is imported with the first of them: `plot()` of models, series, ratings and beliefs.

Each draws into `ax`, or into axes of its own, and returns the axes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Optional, Union

import numpy as np

from . import _dma

DARK, LIGHT = "#08519c", "#9ecae1"


def axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise _dma.Error("plot: matplotlib is missing; install it (Debian: python3-matplotlib)") from None
    return plt.subplots(figsize=(7, 4), layout="constrained")[1]


def _or_numbers(names: Optional[Sequence[str]], count: int) -> Sequence[str]:
    return [str(i) for i in range(count)] if names is None else names


def intervals(ax: Any, names: Sequence[str], middle: Any, low: Any, high: Any) -> Any:
    """A point and a bar for each name, the first on top."""
    ax = axes(ax)
    at = np.arange(len(names))[::-1]
    ax.hlines(at, low, high, color=LIGHT, lw=4)
    ax.plot(middle, at, "o", color=DARK)
    ax.set_yticks(at, names)
    return ax


def band(ax: Any, at: Any, middle: Any, low: Any, high: Any) -> Any:
    """A line, and what 95 % of values are within."""
    ax = axes(ax)
    ax.fill_between(at, low, high, color=LIGHT, alpha=0.6, lw=0)
    ax.plot(at, middle, color=DARK)
    return ax


def fractions(ax: Any, probability: Any, names: Optional[Sequence[str]]) -> Any:
    """Probabilities that change with the step (first axis), stacked."""
    ax = axes(ax)
    ax.stackplot(range(len(probability)), np.transpose(probability), labels=_or_numbers(names, probability.shape[1]))
    ax.margins(0)
    ax.legend(loc="upper right")
    return ax


def belief(self: _dma.Belief, ax: Any = None, names: Optional[Sequence[str]] = None) -> Any:
    """A density; of several elements a point and a 95 % bar each, of discrete ones their probabilities."""
    discrete = re.fullmatch(r"bernoulli|categorical\((\d+)\)", self.family)
    if discrete:
        values = range(int(discrete[1] or 2))
        chances = np.array([[self.probability(i, value) for value in values] for i in range(len(self))])
        if len(self) > 12:
            return fractions(ax, chances, names)
        ax = axes(ax)
        for i, row in enumerate(chances):
            ax.bar(np.arange(len(values)) + 0.8 * i / len(self), row, 0.8 / len(self), align="edge", label=f"element {i}")
        ax.set_xticks(np.arange(len(values)) + 0.4, values if names is None else names)
        if len(self) > 1:
            ax.legend()
        return ax
    if len(self) > 1:
        return intervals(ax, _or_numbers(names, len(self)), self.mean, *self.interval())
    ax = axes(ax)
    at = np.linspace(self.quantile(0.0005)[0], self.quantile(0.9995)[0], 201)
    ax.plot(at, np.exp([self.log_density(0, [x]) for x in at]), color=DARK)
    ax.set_ylim(bottom=0)
    return ax


def line(self: _dma.LinearFit, ax: Any = None, names: Optional[Sequence[str]] = None) -> Any:
    """The weights, each with a 95 % bar; the intercept is the last."""
    sd = np.sqrt(np.diag(self.covariance))
    names = [f"x{i}" for i in range(len(sd) - 1)] if names is None else names
    return intervals(ax, [*names, "intercept"], self.weights, self.weights - 1.96 * sd, self.weights + 1.96 * sd)


def smoothed(self: _dma.Smoothed, ax: Any = None, names: Optional[Sequence[str]] = None) -> Any:
    """The median and what 95 % of values are within, at every step; forecasts are at the end."""
    return band(ax, range(len(self)), self.quantile(0.5), self.quantile(0.025), self.quantile(0.975))


def mixture(self: _dma.Mixture, X: Any, ax: Any = None) -> Any:
    """The first two columns of the rows, coloured by cluster, and each cluster's mean with its 95 % region's axes."""
    rows = np.asarray(X, dtype=np.float64)
    if len(rows) != len(self.probability):
        raise _dma.Error(f"plot: {len(rows)} rows are given; the {len(self.probability)} that were learned are expected")
    ax = axes(ax)
    other = min(1, rows.shape[1] - 1)
    ax.scatter(rows[:, 0], rows[:, other], 8, c=self.labels, cmap="tab10")
    sd = (2.45 if other else 1.96) * np.sqrt(self.variance)  # 95 % of a Gaussian in two dimensions, or in one
    ax.errorbar(self.mean[:, 0], self.mean[:, other], xerr=sd[:, 0], yerr=sd[:, other], fmt="o", color="black")
    return ax


def decoded(self: Union[_dma.MarkovDecoded, _dma.Switched], ax: Any = None, names: Optional[Sequence[str]] = None) -> Any:
    """The probability of each state or regime at every step."""
    return fractions(ax, self.probability, names)


def numbers(model: Any, X: Any, y: Any, ax: Any) -> Any:
    """Rows and what is predicted: a curve over a single input; otherwise predicted against observed, with 95 % bars."""
    low, middle, high = np.transpose(model.predict_quantiles(X, [0.025, 0.5, 0.975]))
    y, ax = np.asarray(y, dtype=float), axes(ax)
    if middle.ndim != 1:
        raise _dma.Error(f"plot: the model has {len(middle)} targets; a single one is expected")
    if np.shape(X)[1] == 1:
        x = np.asarray(X, dtype=float)[:, 0]
        order = np.argsort(x)
        band(ax, x[order], middle[order], low[order], high[order])
        ax.plot(x, y, ".", color="black")
        return ax
    ax.errorbar(middle, y, xerr=[middle - low, high - middle], fmt="o", color=DARK, ecolor=LIGHT, ms=3)
    ax.axline((middle.mean(), middle.mean()), slope=1, color="grey", lw=1)
    ax.set(xlabel="predicted", ylabel="observed")
    return ax


def classes(model: Any, X: Any, y: Any, ax: Any) -> Any:
    """How often a class that is given a probability is the right one; on the line promises are kept."""
    chances, ax = model.predict_proba(X), axes(ax)
    right = np.asarray(y)[:, None] == model.classes_[None, :]
    tenth = np.minimum((10 * chances).astype(int), 9)
    points = [(chances[tenth == k].mean(), right[tenth == k].mean(), (tenth == k).sum()) for k in range(10) if (tenth == k).any()]
    said, seen, count = np.transpose(points)
    ax.plot([0, 1], [0, 1], color="grey", lw=1)
    ax.scatter(said, seen, 10 + 200 * count / count.max(), color=DARK)
    ax.set(xlabel="probability that is given", ylabel="how often it is so")
    return ax


for owner, drawn in ((_dma.Belief, belief), (_dma.LinearFit, line), (_dma.Smoothed, smoothed), (_dma.MarkovDecoded, decoded),
                     (_dma.Switched, decoded), (_dma.Mixture, mixture)):  # fmt: skip
    drawn.__name__ = "plot"
    setattr(owner, "plot", drawn)  # for mypy it is in the stub
