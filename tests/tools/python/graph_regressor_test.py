"""Graphs of one's own as estimators, and learned by sweeps."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import dma
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks


def decay() -> dma.Graph:
    """y = a exp(-b t) + c"""
    g = dma.Graph()
    a, b, c = (g.gaussian_prior(g.shared(name), 1, variance=4) for name in "abc")
    t, y = g.observed("t"), g.observed("y")
    fall = g.exponential(g.affine(b * t, -1, 0))
    g.gaussian_noise(a * fall + c, y, variance=1)
    return g


def readings(seed: int = 1, count: int = 60) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    t = np.linspace(0, 5, count)
    return pd.DataFrame({"other": rng.normal(size=count), "t": t, "y": 2.5 * np.exp(-0.8 * t) + 0.5 + 0.1 * rng.normal(size=count)})


def test_a_formula_is_learned() -> None:
    table = readings()
    model = dma.GraphRegressor(decay(), target="y").fit(table[["other", "t"]], table["y"])
    for name, truth in zip("abc", (2.5, 0.8, 0.5)):
        mean, sd = model.beliefs_[name]
        assert abs(mean - truth) < 4 * sd < 1
    assert model.score(table[["other", "t"]], table["y"]) > 0.9 and "sd " in model.summary()


def test_columns_by_name_by_inputs_and_by_order_are_the_same_model() -> None:
    table = readings()
    by_name = dma.GraphRegressor(decay()).fit(table[["other", "t"]], table["y"])
    by_inputs = dma.GraphRegressor(decay(), inputs=["z", "t"]).fit(table[["other", "t"]].to_numpy(), table["y"])
    by_order = dma.GraphRegressor(decay()).fit(table[["t"]].to_numpy(), table["y"])
    mean, sd = by_name.predict(table[["other", "t"]], return_std=True)
    assert (by_inputs.predict(table[["other", "t"]].to_numpy()) == mean).all()
    assert (by_order.predict(table[["t"]].to_numpy(), return_std=True)[1] == sd).all()
    with pytest.raises(dma.Error, match="X has no column 't', which the graph observes"):
        dma.GraphRegressor(decay()).fit(table[["other"]], table["y"])


class Line(dma.GraphRegressor):
    """A line through as many columns as there are, so that scikit-learn's own checks can be run on the estimator."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Line:
        shape, targets = np.asarray(X).shape, np.asarray(y).shape
        g = dma.Graph()
        x = g.observed("x", max(1, shape[1]) if len(shape) == 2 else 1)
        names = [f"y{k}" for k in range(targets[1] if len(targets) == 2 else 1)]
        for name in names:
            w = g.gaussian_prior(g.shared("w" + name, x.size), 0, variance=1e4)
            b = g.gaussian_prior(g.shared("b" + name), 0, variance=1e4)
            g.gaussian_noise(g.sum(g.product(w, x)) + b, g.observed(name), variance=1)
        given = self.graph, self.target
        self.graph, self.target = g, names
        try:
            super().fit(X, y, sample_weight)
        finally:
            self.graph, self.target = given
        return self


@parametrize_with_checks([Line(decay())])
def test_estimator_passes_every_check_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


def saturated(v: float, k: float, s: float) -> float:
    return v * s / (k + s)


def test_pickles_and_files_predict_and_know_the_kinds(tmp_path: Path) -> None:
    kind = dma.factor_from_function("saturation", saturated)
    g = dma.Graph()
    v, k = g.gaussian_prior(g.shared("v"), 1, variance=1), g.gaussian_prior(g.shared("k"), 1, variance=1)
    g.gaussian_noise(g.apply("saturation", [v, k, g.observed("s")]), g.observed("y"), variance=0.01)
    s = np.linspace(0.1, 5, 40)[:, None]
    model = dma.GraphRegressor(g, kinds=[kind]).fit(s, saturated(2, 0.7, s[:, 0]) + 0.01 * np.sin(99 * s[:, 0]))
    model.save(tmp_path / "model.json")
    pickled = pickle.loads(pickle.dumps(model))
    for again in (pickled, dma.GraphRegressor.load(tmp_path / "model.json", [kind])):
        assert (again.predict(s, return_std=True)[1] == model.predict(s, return_std=True)[1]).all() and again.beliefs_ == model.beliefs_
    assert pickled.get_params().keys() == model.get_params().keys()
    assert clone(pickled).fit(s, saturated(2, 0.7, s[:, 0])).score(s, saturated(2, 0.7, s[:, 0])) > 0.99
    with pytest.raises(TypeError, match="cannot pickle a dma.Kind that was not made from a Python function"):
        pickle.dumps(dma.standard_registry().kind("product"))


def test_counts_and_weights() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(300, 1))
    n = rng.poisson(np.exp(1 + 0.5 * x[:, 0]))
    g = dma.Graph()
    w, b = g.gaussian_prior(g.shared("w"), 0, variance=4), g.gaussian_prior(g.shared("b"), 0, variance=4)
    g.factor("poisson", [w * g.observed("x") + b, g.observed("n")])
    model = dma.GraphRegressor(g, target="n").fit(x, n)
    assert model.predict(np.zeros((1, 1)))[0] == pytest.approx(np.exp(1), rel=0.15)
    assert model.predict_quantiles(x[:5]).shape == (5, 3)
    twice = dma.GraphRegressor(g, target="n").fit(x, n, sample_weight=np.full(300, 2.0))
    assert twice.beliefs_["w"][1] == pytest.approx(model.beliefs_["w"][1] / np.sqrt(2), rel=0.05)
    with pytest.raises(dma.Error, match="poisson expects a whole number"):
        dma.GraphRegressor(g, target="n").fit(x, n + 0.5)


def test_what_is_wrong_with_a_graph_is_said_in_one_line() -> None:
    g = dma.Graph()
    g.gaussian_noise(g.shared("w") * g.observed("x"), g.observed("y"), variance=1)
    with pytest.raises(dma.Error, match="shared variable 'w' has no Gaussian prior; give it one by gaussian_prior"):
        dma.GraphRegressor(g).fit([[1.0], [2.0]], [1.0, 2.0])
    with pytest.raises(dma.Error, match="z"):
        dma.GraphRegressor(decay(), target="z").fit([[1.0], [2.0]], [1.0, 2.0])
    for inputs in (["b", "t"], ["b"] * 100000 + ["t"]):
        with pytest.raises(dma.Error, match=f"inputs: {len(inputs)} names are given for the 1 column of X"):
            dma.GraphRegressor(decay(), inputs=inputs).fit([[1.0], [2.0]], [1.0, 2.0])
    with pytest.raises(TypeError, match="GraphRegressor: graph is 3; a dma.Graph is expected"):
        dma.GraphRegressor(3).fit([[1.0], [2.0]], [1.0, 2.0])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="one of kinds is 3; a dma.Kind is expected"):
        dma.GraphRegressor(decay(), kinds=[3]).fit([[1.0], [2.0]], [1.0, 2.0])  # type: ignore[list-item]


def lines(columns: int, classes: int) -> dma.Graph:
    """Scores W x + b of classes; everything ~ N(0, 4)"""
    g = dma.Graph()
    x, w = g.observed("x", columns), g.gaussian_prior(g.shared("w", columns * classes), 0, variance=4)
    b, products = g.gaussian_prior(g.shared("b", classes), 0, variance=4), g.variable("p", columns * classes)
    sums, scores = g.variable("s", classes), g.variable("scores", classes)
    g.factor("product", [w, dma.column(x), products])
    g.factor("sum", [products, sums])
    g.factor("add", [sums, b, scores])
    g.factor("softmax", [scores, g.observed("c", family=f"categorical({classes})")])
    return g


def test_classes_are_learned_and_their_file_predicts_them(tmp_path: Path) -> None:
    random = np.random.default_rng(5)
    X = random.normal(size=(80, 2))
    y = np.array(["b", "a", "c"])[np.argmax(X @ [[1, -1, 0], [0, 1, -1]] + random.gumbel(size=(80, 3)), axis=1)]
    model = dma.GraphClassifier(lines(2, 3), target="c").fit(X, y)
    assert {f"w[{i}]" for i in range(6)} | {f"b[{i}]" for i in range(3)} == set(model.beliefs_)
    assert list(model.classes_) == ["a", "b", "c"] and model.score(X, y) > 0.5 and model.left_out_[0]["accuracy"] > 0.5
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1, rtol=1e-12)
    model.save(tmp_path / "model.json")
    for again in (dma.GraphClassifier.load(tmp_path / "model.json"), pickle.loads(pickle.dumps(model))):
        assert (again.predict_proba(X) == model.predict_proba(X)).all() and (again.predict(X) == model.predict(X)).all()
    assert clone(model).get_params()["target"] == "c"
    with pytest.raises(dma.Error, match="has learned a graph of classes; load it by dma.GraphClassifier"):
        dma.GraphRegressor.load(tmp_path / "model.json")
    with pytest.raises(dma.Error, match=r"target 'c' has 2 classes \(a, b\), but the graph scores for 3"):
        dma.GraphClassifier(lines(2, 3), target="c").fit(X[y != "c"], y[y != "c"])
    with pytest.raises(dma.Error, match="target 'y' is a number"):
        dma.GraphClassifier(decay()).fit(X[:, :1], y)
    with pytest.raises(dma.Error, match="target 'c' is a class, not a number"):
        dma.GraphRegressor(lines(2, 3), target="c").fit(X, np.ones(80))


class Lines(dma.GraphClassifier):
    """As many scores as there are classes, so that scikit-learn's own checks can be run on the estimator."""

    def fit(self, X: Any, y: Any) -> Lines:
        shape, given = np.asarray(X).shape, (self.graph, self.target)
        classes = len(set(np.ravel(np.asarray(y, dtype=object)).tolist()))
        self.graph, self.target = lines(max(1, shape[1]) if len(shape) == 2 else 1, max(2, classes)), "c"
        try:
            super().fit(X, y)
        finally:
            self.graph, self.target = given
        return self


@parametrize_with_checks([Lines(decay())])
def test_classifier_passes_every_check_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


def proportional(batches: int) -> dma.Learner:
    """y = m x and noise of variance 0.25; m ~ N(1, 4)"""
    g = dma.Graph()
    m = g.gaussian_prior(g.shared("m"), 1, variance=4)
    g.gaussian_noise(m * g.observed("x"), g.observed("y"), variance=0.25)
    return dma.Learner(g, ["y"], batches=batches)


def test_a_learner_learns_at_once_in_a_stream_and_without_what_it_forgets() -> None:
    random = np.random.default_rng(3)
    x = random.normal(size=12)
    y = 2 * x + 0.5 * random.normal(size=12)
    learner = proportional(12)
    heard: list[float] = []
    report = learner.fit({"x": x, "y": y}, callback=lambda *epoch: heard.append(epoch[2]))
    assert report.stop == "tolerance" and len(report) == len(heard) and list(report.log_likelihood) == heard
    m = learner.belief("m")
    precision = 0.25 + x @ x / 0.25
    np.testing.assert_allclose([m.mean[0], m.variance[0]], [(0.25 + x @ y / 0.25) / precision, 1 / precision], rtol=1e-10)
    new = np.array([[0.5], [-2.0]])
    found, sd = learner.predict({"x": new})
    np.testing.assert_allclose([found, sd], [m.mean[0] * new, np.sqrt(m.variance[0] * new**2 + 0.25)], rtol=1e-10)
    left_out = learner.predict_left_out({"x": x, "y": y})[0][4, 0]
    learner.forget(4)
    assert left_out == pytest.approx(learner.belief("m").mean[0] * x[4], rel=1e-10)

    stream = proportional(1)
    gap = np.where(np.arange(12) == 4, np.nan, y)  # a missing value teaches nothing
    assert sum(stream.add({"x": x[i : i + 3], "y": gap[i : i + 3]}) for i in range(0, 12, 3)) == 12
    assert stream.belief("m").mean[0] == pytest.approx(learner.belief("m").mean[0], rel=1e-10)
    stream.freeze("m")
    stream.add({"x": x, "y": y})
    assert stream.belief("m").mean[0] == pytest.approx(learner.belief("m").mean[0], rel=1e-10)


def test_a_learner_is_told_who_plays() -> None:
    players = [[0, 1], [2, 3], [0, 2], [1, 3], [0, 3], [1, 2], [3, 2], [1, 0]]
    g = dma.Graph()
    skill = g.gaussian_prior(g.shared("skill", 4), 0, variance=100)
    lead = g.variable("lead")
    points = g.gaussian_noise(lead, g.observed("points"), variance=9)
    game = g.factor("sum", [dma.given(skill, 2), lead], coefficients=[1, -1])
    learner = dma.Learner(g, [points], batches=8)
    learner.fit({points: [7, -3, 4, 9, 13, 1, 5, -4]}, {(game, "terms"): players})
    np.testing.assert_allclose(learner.belief(skill).mean, [5.49, 1.23, -3.19, -3.53], atol=0.005)
    mean, sd = learner.predict({points: [0]}, {(game, "terms"): [[1, 2]]})
    assert f"{mean[0, 0]:.1f} +- {sd[0, 0]:.1f}" == "4.4 +- 4.1"
    for tables, words in [({}, "the data give 0 of the 1 tables"), ({(game, "terms"): [[0.5, 1]] * 8}, "the number of an element"),
                          ({"game": players}, "a pair of a factor and the name of its port")]:  # fmt: skip
        with pytest.raises(dma.Error, match=words):
            learner.fit({points: np.ones(8)}, tables)
    with pytest.raises(dma.Error, match="'points': 2 numbers are given for each of 8 examples; 1 are expected"):
        learner.fit({points: np.ones((8, 2))}, {(game, "terms"): players})
    with pytest.raises(ZeroDivisionError):
        learner.fit({points: np.ones(8)}, {(game, "terms"): players}, callback=lambda *epoch: 1 / 0)
