"""Pictures: `plot()` draws the numbers that it says, names what is missing, and notebooks keep theirs in any browser."""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from typing import Any

import dma
import numpy as np
import pandas as pd
import pytest

RANDOM = np.random.default_rng(1)


@pytest.fixture
def ax() -> Any:
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is missing (Debian: python3-matplotlib)")
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    yield plt.subplots()[1]
    plt.close("all")


def points(ax: Any) -> Any:
    """Points of the line that was drawn last."""
    return ax.lines[-1].get_xydata()


def parcels() -> tuple[dma.Answer, dma.Variable]:
    g = dma.Graph()
    x = g.gaussian_prior(g.variable("<x>", 3), [1, 2, 3], variance=4)
    g.gaussian_noise(g.sum(x), g.observed("y"), variance=1)
    return dma.solve(g, {"y": 7.0}, dma.joint()), x


def test_beliefs_are_densities_intervals_and_bars(ax: Any) -> None:
    answer, x = parcels()
    belief = answer[x]
    assert belief.plot(ax, names=np.array(["a", "b", "c"])) is ax
    np.testing.assert_allclose(points(ax), np.column_stack([belief.mean, [2, 1, 0]]))
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b", "c"]
    g = dma.Graph()
    one = g.gaussian_prior(g.variable("one"), 3, variance=4)
    at, density = points(dma.solve(g)[one].plot()).T
    np.testing.assert_allclose(density, np.exp(-0.5 * (at - 3) ** 2 / 4) / np.sqrt(8 * np.pi), rtol=1e-9)
    g = dma.Graph()
    coin = g.variable("coin", 2, "categorical(3)")
    g.factor("categorical_prior", coin, probability=[0.2, 0.3, 0.5])
    bars = dma.solve(g)[coin].plot()
    np.testing.assert_allclose([bar.get_height() for bar in bars.patches], [0.2, 0.3, 0.5] * 2)


def test_series_seasons_and_models_draw_what_they_found(ax: Any) -> None:
    values = np.cumsum(RANDOM.normal(size=40))
    series = dma.smooth(values, 5, times=pd.date_range("2020-01-01", periods=40).strftime("%Y-%m-%d"), model="walk", season=None, log=False)
    series.plot(ax)
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), series.median)
    np.testing.assert_array_equal(points(ax)[:, 1], values)
    season = dma.rate([("Ann", "Ben"), ("Ben", "Cy"), ("Ann", "Cy")])
    assert [label.get_text() for label in season.plot().get_yticklabels()] == ["Ann", "Ben", "Cy"]
    X = RANDOM.normal(size=(30, 2))
    line = dma.linear_regression(X, X @ [1, 2])
    np.testing.assert_array_equal(points(line.plot())[:, 0], line.weights)
    mixture = dma.gaussian_mixture(X, 1)
    assert len(mixture.plot(X).collections[0].get_offsets()) == 30
    with pytest.raises(dma.Error, match=r"29 rows are given; the 30 that were learned"):
        mixture.plot(X[1:])
    with pytest.raises(dma.Error, match=r"rate some games first"):
        dma.rate([]).plot()
    markov = dma.HiddenMarkov([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], mean=[0, 3], variance=[1, 1])
    assert len(markov.decode(values).plot(names=["low", "high"]).collections) == 2
    drawn = dma.StateSpace([dma.random_walk(1)], observation_variance=1).smooth(values, 3)
    np.testing.assert_array_equal(points(drawn.plot())[:, 1], drawn.quantile(0.5))


def test_estimators_draw_rows_and_predictions(ax: Any) -> None:
    x = RANDOM.uniform(-1, 1, (40, 1))
    model = dma.Regressor(hidden=(2,), members=1, neighbours=False).fit(x, x[:, 0])
    model.plot(x, x[:, 0], ax)
    order = np.argsort(x[:, 0])
    np.testing.assert_allclose(ax.lines[0].get_xydata(), np.column_stack([x[order, 0], model.predict_quantiles(x[order], [0.5])[:, 0]]))
    labels = np.where(x[:, 0] > 0, "up", "down")
    classes = dma.Classifier(hidden=(2,), members=1, neighbours=False).fit(x, labels)
    said, seen = classes.plot(x, labels).collections[0].get_offsets().T
    assert np.all((0 <= said) & (said <= 1) & (0 <= seen) & (seen <= 1)) and len(said) >= 2


def test_without_matplotlib_one_line_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    answer, x = parcels()
    with pytest.raises(dma.Error, match=r"plot: matplotlib is missing; install it"):
        answer[x].plot()


def test_draws_are_arrays_by_name_chain_and_draw() -> None:
    answer, x = parcels()
    draws = dma.draw_posterior(answer.state, chains=3, draws=50, warm_up=50)
    arrays = draws.arrays()
    assert arrays["<x>"].shape == (3, 50, 3) and "y" not in arrays
    np.testing.assert_array_equal(arrays["<x>"].reshape(150, 3), draws.draws(x))
    g = dma.Graph()
    one = g.gaussian_prior(g.variable("one"), 0, variance=1)
    g.factor("student_t_noise", [one, g.observed("seen")], scale=1, degrees=3)
    assert dma.draw_posterior(dma.solve(g, {"seen": 1.0}, dma.joint()).state, chains=2, draws=20).arrays()["one"].shape == (2, 20)


class Tags(HTMLParser):
    """Fails where a tag is not closed, runs, or loads something."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        assert tag not in ("script", "link", "iframe", "img") and not any(name in ("src", "href", "onclick") for name, _ in attrs)
        if tag not in ("br", "meta"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        assert tag not in ("script", "link", "iframe", "img")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def pages() -> list[str]:
    answer, x = parcels()
    series = dma.smooth(np.cumsum(RANDOM.normal(size=30)), 2, model="walk", season=None, log=False)
    season = dma.rate([("<b>", "Ben & Cy")])
    shown = [answer[x], answer.report, answer.state, answer.evidence, series, season, dma.certify(dma.standard_registry().kind("add"), quick=True)]
    return [one._repr_html_() for one in shown]


def test_html_of_notebooks_is_closed_and_loads_nothing() -> None:
    for page in pages():
        tags = Tags()
        tags.feed(page.split("?>")[-1] if page.startswith("<?xml") else page)
        tags.close()
        assert not tags.open and len(page) > 20, page[:200]
