"""Names that people guess: std, interval and quantile of beliefs, frames of games, years as times; and short texts."""

from __future__ import annotations

import math
from typing import Any

import dma
import numpy as np
import pandas as pd
import pytest
from scipy import stats


def solved(family: str, kind: str, parameters: dict[str, float], size: int = 1) -> dma.Belief:
    g = dma.Graph()
    x = g.variable("x", size, family=family)
    g.factor(kind, [x], **parameters)
    return dma.solve(g)[x]


@pytest.mark.parametrize(("family", "kind", "parameters", "truth"), [
    ("gaussian", "gaussian_prior", {"mean": 2.0, "variance": 9.0}, stats.norm(2, 3)),
    ("gamma", "gamma_prior", {"shape": 0.7, "rate": 2.0}, stats.gamma(0.7, scale=0.5)),
    ("beta", "beta_prior", {"a": 3.0, "b": 0.5}, stats.beta(3, 0.5)),
])  # fmt: skip
def test_intervals_and_quantiles_are_those_of_scipy(family: str, kind: str, parameters: dict[str, float], truth: Any) -> None:
    belief = solved(family, kind, parameters, 2)
    low, high = belief.interval(0.9)
    np.testing.assert_allclose([low, high], np.repeat([truth.interval(0.9)], 2, axis=0).T, rtol=1e-9)
    np.testing.assert_allclose(belief.interval()[1], truth.ppf(0.975), rtol=1e-9)
    np.testing.assert_allclose(belief.quantile(0.3), truth.ppf(0.3), rtol=1e-9)
    assert belief.std.tolist() == belief.sd.tolist() and belief.std[0] == pytest.approx(truth.std(), rel=1e-12)


def test_discrete_beliefs_have_probabilities() -> None:
    coin = solved("bernoulli", "bernoulli_prior", {"probability": 0.3})
    assert coin.probability(0, 1) == pytest.approx(0.3) and coin.probability(0, 0) == pytest.approx(0.7)
    with pytest.raises(dma.Error, match=r"bernoulli has no quantiles; ask for probability\(element, value\)"):
        coin.interval()
    with pytest.raises(dma.Error, match="gaussian is not discrete"):
        solved("gaussian", "gaussian_prior", {"mean": 0, "variance": 1}).probability(0, 1)


def test_an_unknown_kind_or_method_says_how_it_is_given() -> None:
    g = dma.Graph()
    x, y = g.gaussian_prior(g.variable("x"), 0, variance=1), g.observed("y")
    g.factor("laplace", [x, y])
    for work in (lambda: dma.solve(g, {"y": 1.0}), lambda: dma.compile(g, "flooding")):
        with pytest.raises(dma.Error, match=r"no factor kind 'laplace'.*kinds=\[\.\.\.\]"):
            work()
    g = dma.Graph()
    x = g.gaussian_prior(g.variable("x"), 0, variance=1)
    g.gaussian_noise(x, g.observed("y"), variance=1)
    with pytest.raises(dma.Error, match=r"no method 'joint'.*joint is a solver.*kind_methods="):
        dma.compile(g, "flooding", method="joint")
    with pytest.raises(dma.Error, match=r"'product'.*kind_methods="):
        dma.compile(g, "flooding", kind_methods={"product": "exakt"})
    with pytest.raises(dma.Error, match="joint"):
        dma.solve(g, {"y": 1.0}, by="jiont")


def test_a_frame_of_games_is_rated_as_a_list_of_them() -> None:
    games = [("Ann", "Ben"), ("Ben", "Cy"), (["Ann", "Cy"], "Ben"), dma.Game(["Ann", "Cy"], ranks=[1, 1])]
    expected = dma.rate(games)
    by_row = pd.DataFrame({"winner": ["Ann", "Ben", "Ann + Cy", "Ann"], "loser": ["Ben", "Cy", "Ben", "Cy"],
                           "draw": ["no", "no", "no", "yes"]}, index=[7, 5, 3, 1])  # fmt: skip
    by_player = pd.DataFrame(
        [(1, "Ann", 1, "a"), (1, "Ben", 2, "b"), (2, "Ben", 1, "b"), (2, "Cy", 2, "c"), (3, "Ann", 1, "a"), (3, "Cy", 1, "a"),
         (3, "Ben", 2, "b"), (4, "Ann", 1, "a"), (4, "Cy", 1, "c")], columns=["game", "player", "rank", "team"])  # fmt: skip
    for frame in (by_row, by_player):
        found = dma.rate(frame)
        assert found.players == expected.players
        np.testing.assert_allclose([found.mean, found.sd], [expected.mean, expected.sd], rtol=1e-12)
    numbered = dma.rate(pd.DataFrame({"winner": [7, 3, 7], "loser": [3, 9, 9], "draw": [None, 1.0, 0.0]}))
    assert numbered.players == [7, 3, 9]
    np.testing.assert_allclose(numbered[7], dma.rate([(7, 3), dma.Game([3, 9], ranks=[1, 1]), (7, 9)])[7], rtol=1e-12)
    with pytest.raises(dma.Error, match="row 1: 'perhaps' in the column draw, where yes or no is expected"):
        dma.rate(pd.DataFrame({"winner": ["Ann", "Ben"], "loser": ["Ben", "Cy"], "draw": ["no", "perhaps"]}))
    with pytest.raises(dma.Error, match="a table with the columns home, away is given; winner and loser are expected"):
        dma.rate(pd.DataFrame({"home": ["Ann"], "away": ["Ben"]}))


class Indexed(list):  # a series of somebody else's making
    def __init__(self, values: list[float], index: list[object]) -> None:
        super().__init__(values)
        self.index = index  # type: ignore[assignment]


def test_times_may_be_years_and_any_index() -> None:
    values = [3.0, 3.5, 2.5, 3.25, 3.0, 3.75]
    years = [1871, 1872, 1874, 1875, 1876, 1877]  # one is left out
    told = dma.smooth(values, 1, times=years, model="walk", log=False)
    assert told.times == list(range(1871, 1879)) and math.isnan(told.values[2])
    plain = dma.smooth([3.0, 3.5, None, 2.5, 3.25, 3.0, 3.75], 1, model="walk", log=False)
    np.testing.assert_array_equal(told.median, plain.median)
    for index in (years, pd.Index(years), pd.Index(years, dtype=float), pd.PeriodIndex([str(year) for year in years], freq="A")):
        found = dma.smooth(pd.Series(values, index=index), 1, model="walk", log=False, season=None)
        assert len(found.median) == 8 and type(found.times) is type(pd.Series(values, index=index).index)
        assert found.times[0] == index[0] and str(found.times[2]).startswith("1873")
    assert dma.smooth(Indexed(values, list(years)), 1, model="walk", log=False).times == told.times
    for labels in (range(6), list("abcdef"), pd.MultiIndex.from_product([["a"], range(6)])):
        assert dma.smooth(pd.Series(values, index=labels), model="walk", log=False).times is None
    with pytest.raises(dma.Error, match="the time 1873 does not come after 1874"):
        dma.smooth(values, times=[1871, 1872, 1874, 1873, 1876, 1877])
    with pytest.raises(dma.Error, match="equal steps are expected"):
        dma.smooth(values, times=[1.0, 2.0, 3.3, 4.0, 5.0, 6.0])


def test_what_is_printed_has_twenty_lines_at_most() -> None:
    random = np.random.default_rng(1)
    season = dma.rate([(f"p{i}", f"p{i + 1}") for i in range(60)])
    mixture = dma.gaussian_mixture(random.normal(size=(80, 3)), 2)
    filled = dma.factorise(random.normal(size=(30, 20)), rank=1)
    series = dma.smooth(random.normal(size=60), model="walk")
    g = dma.Graph()
    x = [g.gaussian_prior(g.variable(f"x{i}", 400), 0, variance=1) for i in range(30)]
    compared = dma.compare_with_joint(g, {})
    belief = dma.solve(g)[x[0]]
    line = dma.linear_regression(random.normal(size=(20, 2)), random.normal(size=20))
    for one in (season, mixture, filled, series, compared, belief, line, dma.Regressor(), dma.solve(g)):
        for text in (str(one), repr(one)):
            assert 0 < len(text.splitlines()) <= 20 and len(text) < 5000
    assert "80 x 2 numbers" in repr(mixture) and "61 of them" in repr(season)
    assert "(400 elements)" in repr(belief) and "more lines" in repr(compared)
