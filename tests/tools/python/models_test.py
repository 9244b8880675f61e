"""Models of series, games, clusters, regimes, lines and gaps from Python: the numbers of the command line, of textbooks
and of the truth they were made with."""

from __future__ import annotations

import json
import os
import pickle
from pathlib import Path
from typing import Any

import dma
import numpy as np
import pandas as pd
import pytest
from conftest import ran, run_dma

DATA = Path(os.environ["DMA_SOURCE_DIR"]) / "tools/examples/data"


def test_smooth_finds_what_the_command_line_finds() -> None:
    options = ["--forecast", 3, "--model", "walk", "--no-log", "--json"]
    told = json.loads(run_dma("smooth", DATA / "nile.csv", "--time", "year", *options))
    values = pd.read_csv(DATA / "nile.csv").iloc[:, -1]
    found = dma.smooth(values, 3, model="walk", log=False)
    assert found.median.tolist() == told["q50"] and found.high.tolist() == told["q97.5"]
    assert len(found.forecast) == 3 and found.log_evidence == told["log_evidence"]
    assert [step for step, _, _ in found.found.unusual] == [one["step"] for one in told["unusual"]]
    assert "<svg" in found._repr_html_() and found.models[0][0] in found._repr_html_()


def test_dates_of_a_frame_tell_steps_and_season() -> None:
    index = pd.date_range("2020-01-01", periods=36, freq="MS")
    t = np.arange(36)
    series = pd.Series(10 + 3 * np.sin(2 * np.pi * t / 12) + 0.01 * np.cos(5 * t**2), index=index).drop(index[7])
    found = dma.smooth(series, 2, model="walk", log=False)
    assert found.times.equals(pd.date_range("2020-01-01", periods=38, freq="MS"))  # an index of pandas, as it was given
    days = dma.smooth(series.to_numpy(), 1, times=index.drop(index[7]).to_numpy(), model="walk", log=False)
    assert days.times.dtype.kind == "M" and days.times[7] == index[7]
    days = dma.smooth(series.to_numpy(), times=list(index.drop(index[7]).date), model="walk", log=False)
    assert days.times[7] == index[7].date()
    assert np.isnan(found.values[7]) and abs(found.median[7] - 10 + 1.5) < 0.3
    assert "season 12" in found.models[0][0]


def test_every_key_is_a_series_and_equals_that_series_by_itself() -> None:
    draw = np.random.default_rng(4)
    price = draw.uniform(size=60)
    frame = pd.DataFrame({"shop": ["north", "south"] * 30, "price": price, "y": np.cumsum(draw.normal(size=60)) - 5 * price},
                         index=np.repeat(pd.date_range("2021-01-01", periods=30), 2))  # fmt: skip
    how: Any = {"model": "walk", "season": None, "log": False}
    found = dma.smooth(frame["y"], key=frame["shop"], inputs={"price": frame["price"]}, **how)
    assert list(found) == ["north", "south"]
    for shop, rows in frame.groupby("shop"):
        alone = dma.smooth(rows["y"], inputs={"price": rows["price"]}, **how)
        np.testing.assert_array_equal(found[shop].median, alone.median)
        assert found[shop].times.equals(rows.index) and abs(found[shop].found.weights["price"][0] + 5) < 1.5
    plain = dma.smooth(frame["y"].to_list(), 3, key=frame["shop"].to_list(), **how)
    assert plain["south"].times is None and len(plain["south"].forecast) == 3
    with pytest.raises(dma.Error, match="key: 2 are given for 3 values"):
        dma.smooth([1.0, 2.0, 3.0], key=["a", "b"])
    with pytest.raises(dma.Error, match="key 'b': series: 1 of its values are present"):
        dma.smooth([1.0, 2.0, 1.5, 2.5], key=["a", "a", "a", "b"], **how)


def test_a_state_space_of_ones_own_and_its_filter() -> None:
    values = 0.5 * np.arange(20) + 0.1 * np.sin(9.0 * np.arange(20) ** 2)
    model = dma.StateSpace([dma.local_trend()], inputs={"step": np.r_[np.zeros(10), np.ones(12)]})
    assert model.learn(np.where(np.arange(20) == 5, np.nan, values)) and set(model.variances) >= {"observation"}
    found = model.smooth(values, 2)
    assert len(found) == 22 and abs(found.mean[21] - 10.5) < 0.5 and abs(found.weights["step"][0]) < 0.5
    plain = dma.StateSpace([dma.random_walk(1.0)], observation_variance=1.0)
    online = dma.SeriesFilter(plain, [0.0, 1.0])
    mean, sd = online.forecast()
    gain = sd**2 / 1.0  # the observation's part of the forecast's variance is 1
    after, _ = online.add(mean + 2)
    assert abs(after - mean - 2 * (gain - 1) / gain) < 1e-9


def test_games_have_names_and_chances() -> None:
    games = [("Ann", "Ben"), ("Ben", "Cy"), (["Ann", "Cy"], "Ben"), dma.Game(["Ann", "Cy"], ranks=[1, 1], time=None)]
    season = dma.rate(games)
    assert season.players == ["Ann", "Ben", "Cy"] and season.report.converged
    assert season["Ann"][0] > season["Cy"][0] and season["Ann"][1] < 25 / 3
    assert abs(sum(season.chances("Ann", ["Ben", "Cy"])) - 1) < 1e-12
    assert 0 < season.match_quality("Ann", "Ben") < 1 and season.covariance("Ann", "Ben") != 0
    assert len(season.history) == 9 and season._repr_html_().index("Ann") < season._repr_html_().index("Ben")
    assert dma.rate(games, priors={"Ben": (40, 1)})["Ben"][0] > 35
    assert dma.rate(games, priors={"Ben": (40, 1, None)})["Ben"] == dma.rate(games, priors={"Ben": (40, 1)})["Ben"]


def test_clusters_gaps_and_a_line_find_the_truth() -> None:
    random = np.random.default_rng(1)
    points = np.concatenate([random.normal(centre, 0.5, size=(20, 2)) for centre in ([0, 5], [3, 1])])
    found = dma.gaussian_mixture(points, most_components=3)
    assert len(found.weight) == 2 and len(set(found.labels[:20])) == 1 and found.labels[0] != found.labels[-1]
    again = pickle.loads(pickle.dumps(found))
    assert (again.labels == found.labels).all() and (again.variance == found.variance).all() and repr(again) == repr(found)
    table = np.outer([1, 2, -1, -2], [2, 1, -1.5]) + 0.01 * random.normal(size=(4, 3))
    gap = [[None if (i, j) == (1, 2) else value for j, value in enumerate(row)] for i, row in enumerate(table)]
    filled = dma.factorise(gap, rank=1)
    assert abs(filled.mean[1, 2] + 3) < 4 * filled.sd[1, 2] + 0.1 and filled.mean.shape == (4, 3)
    X = random.normal(size=(200, 2))
    line = dma.linear_regression(X, X @ [2, -1] + 3 + 0.1 * random.normal(size=200), noise_variance=0.01)
    dense = np.linalg.lstsq(np.c_[X, np.ones(200)], X @ [2, -1] + 3, rcond=None)[0]
    assert np.allclose(line.weights, dense, atol=0.05) and line.covariance.shape == (3, 3)
    assert np.all(line.predict(X)[1] > line.predict(X)[2])


def test_hidden_states_are_decoded_and_learned() -> None:
    seen = np.array([0, 1, np.nan, 1, 0])
    model = dma.HiddenMarkov([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], symbols=[[0.7, 0.3], [0.1, 0.9]])
    decoded = model.decode(seen)
    assert decoded.probability.shape == (5, 2) and decoded.transitions.shape == (2, 2)
    np.testing.assert_allclose(decoded.probability.sum(axis=1), 1)
    learned = model.learn(seen, limit=3)
    assert learned.iterations == 3 and learned.log_evidence >= decoded.log_evidence and model.mean is None
    named = dma.HiddenMarkov([1, 0], [[0.5, 0.5], [0, 1]], mean=[0, 3], variance=[1, 2])
    assert named.mean.tolist() == [0, 3] and named.transition.tolist() == [[0.5, 0.5], [0, 1]] and named.symbols is None


def test_games_one_after_the_other() -> None:
    for prior in ((1,), (1, 2, 3, 4), 5, "ab"):
        for work in (lambda p: dma.rate([("Ann", "Cy")], priors={"Cy": p}), lambda p: dma.Rating(priors={"Cy": p}).play(("Ann", "Cy"))):
            with pytest.raises(dma.Error, match="is given for 'Cy'; a mean and a standard deviation are expected"):
                work(prior)
    rating = dma.Rating(draw_probability=0, priors={"Cy": (30, 2)})
    assert rating.play(("Ann", "Ben")).converged
    season = dma.rate([("Ann", "Ben")], draw_probability=0)  # both are the same for one game
    np.testing.assert_allclose([rating["Ann"], rating["Ben"]], [season["Ann"], season["Ben"]], rtol=1e-2)
    rating.play(("Cy", "Ann"))
    with pytest.raises(dma.Error, match="ends in a draw"):
        rating.play(dma.Game(["Ann", "Dan"], ranks=[1, 1]))  # who is not taken in
    assert rating.players == ["Ann", "Ben", "Cy"] and rating.mean.shape == rating.sd.shape == (3,) and rating["Cy"][0] > 30
    assert repr(rating) == "<dma.Rating: 3 players, 2 games>" and "<td>Ann</td>" in rating._repr_html_()
    assert abs(sum(rating.chances("Ann", ["Ben", "Cy"])) - 1) < 1e-12 and 0 < rating.match_quality("Ann", "Ben") < 1


def test_vectors_and_chains() -> None:
    g = dma.Graph()
    x, y = g.variable("x", 2), g.observed("y", 2)
    prior, noise = np.array([[1.0, 0.5], [0.5, 2.0]]), np.diag([0.1, 0.4])
    g.gaussian_vector_prior(x, [1, -1], covariance=prior)
    seen = g.gaussian_vector_noise(x, y, covariance=noise)
    assert len(seen) == 2 and seen[1].kind == "gaussian_linear"
    plan, state, _ = ran(g, {y: [2.0, 0.0]}, dma.joint())
    gain = prior @ np.linalg.inv(prior + noise)
    assert np.allclose(state.belief(x).mean, [1, -1] + gain @ [1.0, 1.0])
    chains = dma.draw_posterior(state, chains=2, warm_up=50, draws=200)
    assert chains.draws(x).shape == (400, 2) and np.allclose(chains.mean(x), state.belief(x).mean, atol=0.2)
    assert "draws of 2 chains" in repr(chains)
    seen.set(state, noise := np.array([[0.3, -0.1], [-0.1, 0.2]]))
    dma.run(plan, state)
    gain = prior @ np.linalg.inv(prior + noise)
    np.testing.assert_allclose(dma.covariance(state, x, x), prior - gain @ prior, rtol=1e-12)
    assert state._repr_html_().count("<td>") == 8 and "<th>belief</th>" in state._repr_html_() and g._repr_html_()
    solver = dma.joint()
    seen.learn(solver, "noise", "half_normal", [3], 2)
    _, state, report = ran(g, {y: [2.0, 0.0]}, solver)
    assert seen.learned(state, "noise").shape == (2, 2) and abs(dma.hyper_belief(state, "noise.r10").mean) < 1


def test_gaussian_process() -> None:
    g = dma.Graph()
    places = np.array([0.0, 1.0, 2.5, 4.0, 1.5])  # the last one is new
    f, y = g.variable("f", 5), g.observed("y", 4)
    process = g.gaussian_process(f, places, shape="matern32", sd=2, lengths=1.5)
    g.factor("gaussian_noise", [dma.gather(f, [0, 1, 2, 3]), y], variance=0.1)
    seen = np.array([1.0, 2.0, 0.5, -1.0])
    _, state, report = ran(g, {y: seen}, dma.joint())
    t = np.sqrt(3) * abs(places[:, None] - places) / 1.5
    k = 4 * (1 + t) * np.exp(-t)
    gain = k[:, :4] @ np.linalg.inv(k[:4, :4] + 0.1 * np.eye(4))
    assert report.stop == "exact" and np.allclose(state.belief(f).mean, gain @ seen, rtol=1e-6)
    assert np.allclose(state.belief(f).variance, np.diag(k - gain @ k[:4]), rtol=1e-6)
    solver = dma.joint()
    process.learn(solver, "f", sd=("half_normal", [2]), length=("gamma", [4, 2]))
    _, state, report = ran(g, {y: seen}, solver)
    assert report.converged and dma.hyper_belief(state, "f.length").mean > 0
    with pytest.raises(dma.Error, match="no covariance 'matern'; did you mean"):
        g.gaussian_process(f, places, shape="matern")


def test_poses_and_growing_graphs() -> None:
    g = dma.Graph()
    x = g.variable("x", 3, "pose2")
    g.point_prior(dma.gather(x, [0]), [0, 0, 0], covariance=np.eye(3) * 1e-6)
    g.between(dma.gather(x, [0, 1]), dma.gather(x, [1, 2]), [1, 0, np.pi / 2], covariance=np.eye(3) * 0.01)
    g.between(dma.gather(x, [0]), dma.gather(x, [2]), [9, 9, 0], precision=np.eye(3), loss="cauchy:0.1")
    _, state, report = ran(g, {}, dma.joint())
    assert report.converged
    assert state.belief(x).mean.shape == (3, 3)
    np.testing.assert_allclose(state.belief(x).mean[1:, :2], [[1, 0], [1, 1]], atol=0.01)
    parsed = dma.parse_graph((DATA.parent / "graphs/square.g2o").read_text())
    assert parsed.schedule == "joint" and len(parsed.starts["pose"]) == 9 and len(parsed.observations["fixed"]) == 3
    level, before = dma.GrowingGraph(lag=3), None
    for t in range(20):
        now, seen = level.graph.variable(f"x{t}"), level.graph.observed(f"y{t}")
        if before is None:
            level.graph.gaussian_prior(now, 0, variance=100)
        else:
            level.graph.factor("gaussian_noise", [before, now], variance=0.1)
        level.graph.factor("gaussian_noise", [now, seen], variance=1)
        level.observe(seen, [2.0])
        assert level.update().stop == "exact"
        before = now
    assert abs(level.belief("x19").mean[0] - 2) < 0.05 and level.compiled < 12
    with pytest.raises(dma.Error, match="is not observed"):
        level.observe("x19", [1.0])


@pytest.mark.parametrize(("call", "words"), [
    (lambda: dma.smooth("abc"), "values: 'abc' is given; numbers in a row are expected"),
    (lambda: dma.smooth([1.0, np.inf, 2, 3]), "values holds NaN or infinity"),
    (lambda: dma.smooth([1.0, 2, 3, 4], model="tend"), "there is no model 'tend' of a series; did you mean 'trend'"),
    (lambda: dma.smooth([1.0, 2, 3, 4], season="year"), "season: 'year' is given"),
    (lambda: dma.smooth([1.0, 2, 3, 4], -1), "forecast: -1 is given"),
    (lambda: dma.smooth([1.0, 2, 3], times=["2020-01"]), "times: 1 are given for 3 values"),
    (lambda: dma.rate(["AB"]), "game 0 is 'AB'; a list of teams"),
    (lambda: dma.rate([("A", "B")])["C"], "'C' played no game of this season"),
    (lambda: dma.rate([("A", ["B", "A"])]), "game 0: 'A' appears twice; a player is in one team, once"),
    (lambda: dma.gaussian_mixture([1, 2]), "X: [1, 2] is given; rows of numbers are expected"),
    (lambda: dma.gaussian_mixture([[1, np.nan]]), "X holds NaN or infinity"),
    (lambda: dma.HiddenMarkov([1], [[1]]), "HiddenMarkov: mean and variance of each state are expected"),
])  # fmt: skip
def test_wrong_values_are_refused(call: object, words: str) -> None:
    with pytest.raises(dma.Error) as error:
        call()  # type: ignore[operator]
    assert str(error.value).startswith(words)


def test_a_graph_is_written_and_a_belief_explained() -> None:
    g = dma.Graph()
    m, y = g.gaussian_prior(g.variable("m"), 0, variance=4), g.observed("y")
    g.gaussian_noise(m, y, variance=1.0)
    again = dma.parse_graph(dma.graph_text(g)).graph
    assert dma.graph_text(again) == dma.graph_text(g) and again.describe() == g.describe()
    _, state, _ = ran(g, {y: 2.0})
    (first, most), (_, least) = dma.explain(state, m).elements[0]
    assert first.startswith("gaussian_noise") and abs(most - 0.8) < 1e-12 and abs(least - 0.2) < 1e-12  # 1 of 1 + 1/4


def test_a_series_of_too_many_steps_is_refused_before_they_are_made() -> None:
    seconds = [f"2001-01-01T00:00:0{i}" for i in range(4)]
    with pytest.raises(dma.Error, match="row 5: .* 126230397 steps of 1 second after the row before, .* more than 1000000"):
        dma.smooth([1.0, 2.0, 1.5, 2.5, 2.0], times=[*seconds, "2005-01-01T00:00:00"])
    for times in (None, seconds):
        with pytest.raises(dma.Error, match="1000000000000 steps are to be forecast; at most 1000000 are expected"):
            dma.smooth([1.0, 2.0, 1.5, 2.5], 10**12, times=times, model="walk")


def test_switching_regimes_are_found() -> None:
    random = np.random.default_rng(2)
    jumps = np.where(np.arange(40) % 20 == 10, 8.0, 0.0)
    values = np.cumsum(0.1 * random.normal(size=40) + jumps) + 0.3 * random.normal(size=40)
    values[25] = np.nan
    drift, jump = (1, 0.01, 1, 0.09), (1, 64, 1, 0.09)
    prior: dict[str, Any] = {"start": [0.9, 0.1], "transition": [[0.95, 0.05], [0.95, 0.05]], "mean": [0], "covariance": [[1]]}
    found = dma.switching(values, [drift, jump], **prior)
    assert np.flatnonzero(found.probability[:, 1] > 0.5).tolist() == [10, 30] and not found.exact
    assert found.mean.shape == (40, 1) and found.covariance.shape == (40, 1, 1) and found.filtered_probability.shape == (40, 2)
    online = dma.SwitchingFilter([drift, jump], **prior)
    steps = [online.add([None if np.isnan(value) else value]) for value in values]
    assert steps[30][0].tolist() == found.filtered_probability[30].tolist() and online.log_evidence == found.log_evidence
    assert dma.switching(values[:11], [drift, jump], order=None, **prior).exact
    with pytest.raises(dma.Error, match="keeps 1.1e.12 Gaussians at a step; at most 65536 are possible: take order 16 or less"):
        dma.switching(values, [drift, jump], order=None, **prior)
    with pytest.raises(dma.Error, match="four matrices are expected"):
        dma.switching(values, [drift[:3]], **prior)
