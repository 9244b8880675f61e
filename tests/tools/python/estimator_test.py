"""scikit-learn's own opinion of the estimators."""

from __future__ import annotations

import warnings
from typing import Any

import dma
import numpy as np
import pandas as pd
import pytest
from conftest import ran
from sklearn.utils.estimator_checks import parametrize_with_checks


# One network of a given width alone, where the question is what goes in and comes out. Fits without settings, which
# choose a width and ask the neighbours, are in the other checks and tests.
QUICK: dict[str, Any] = {"hidden": (5,), "members": 1, "neighbours": False}

# Checks of scikit-learn that fit many rows or many times.
LONG = (
    "check_classifiers_classes",
    "check_classifiers_train",
    "check_dtype_object",
    "check_estimators_dtypes",
    "check_pipeline_consistency",
    "check_regressor_data_not_an_array",
    "check_regressors_train",
)


@parametrize_with_checks([dma.Regressor(), dma.Classifier()])
def test_estimator_passes_every_check_of_scikit_learn(estimator: Any, check: Any) -> None:
    if getattr(check, "func", check).__name__ in LONG:
        estimator.set_params(**QUICK)
    check(estimator)


def test_weights_of_rows(table: pd.DataFrame) -> None:
    X, y = table[["a", "b"]].assign(kind=["x", "z"] * (len(table) // 2) + ["x"] * (len(table) % 2)), table["y"].copy()
    weight = np.ones(len(y))
    fitted = lambda X, y, w, **more: dma.Regressor(**QUICK | more).fit(X, y, sample_weight=w)  # noqa: E731
    assert np.array_equal(fitted(X, y, weight).predict(X), dma.Regressor(**QUICK).fit(X, y).predict(X))
    weight[:5], weight[5:] = 0, np.linspace(0.5, 2, len(y) - 5)
    some = fitted(X, y, weight, neighbours=True)
    assert np.array_equal(some.predict(X), fitted(X[5:], y[5:], weight[5:], neighbours=True).predict(X))
    y.iloc[7] += 1000 * np.ptp(y)
    assert fitted(X, y, weight).far_rows_ == [7]
    with pytest.raises(dma.Error, match="row 2, column 'sample_weight': the weight of the row is -1; a number of 0 or more is expected"):
        fitted(X, y, np.where(np.arange(len(y)) == 2, -1.0, 1.0))
    with pytest.raises(ValueError, match="NaN"):
        fitted(X, y, np.where(np.arange(len(y)) == 2, np.nan, 1.0))
    kinds = np.where(table["y"] > table["y"].mean(), "high", "low")
    classes = lambda X, y, w: dma.Classifier(hidden=10, members=1).fit(X, y, sample_weight=w).predict_proba(X)  # noqa: E731
    some_rows = classes(X[5:], kinds[5:], weight[5:])
    assert np.array_equal(classes(X, kinds, weight)[5:], some_rows)
    assert not np.allclose(classes(X[5:], kinds[5:], None), some_rows)


def test_a_limited_time_is_kept_to_and_leaves_a_model(table: pd.DataFrame) -> None:
    X, y = table[["a", "b"]], table["y"]
    hurried = dma.Regressor(max_seconds=1e-3).fit(X, y)
    assert np.isfinite(hurried.predict(X)).all()
    patient, usual = (dma.Regressor(hidden=4, members=1, max_seconds=limit).fit(X, y) for limit in (1e6, None))
    assert np.array_equal(patient.predict(X), usual.predict(X))
    kinds = np.where(y > y.mean(), "high", "low")
    assert dma.Classifier(max_seconds=1e-3).fit(X, kinds).predict_proba(X).sum() == pytest.approx(len(X))
    with pytest.raises(dma.Error, match="max_seconds: 0 is given; a number above 0 and below 1e9 is expected"):
        dma.Regressor(max_seconds=0).fit(X, y)


@pytest.mark.parametrize("as_given", [
    lambda X: np.asfortranarray(X), lambda X: X.tolist(), lambda X: np.repeat(X, 2, axis=0)[::2], lambda X: X[::-1][::-1],
])  # fmt: skip
def test_numbers_are_the_same_however_they_lie_in_memory(table: pd.DataFrame, as_given: Any) -> None:
    X, y = table[["a", "b"]].to_numpy(), table["y"].to_numpy()
    model = dma.Regressor(**QUICK).fit(X, y)
    targets = np.asarray(as_given(y[:, None]))[:, 0]
    other = dma.Regressor(**QUICK).fit(as_given(X), targets)
    np.testing.assert_array_equal(model.predict(X), other.predict(as_given(X)))


def test_several_targets_are_predicted_together(table: pd.DataFrame) -> None:
    X, Y = table[["a"]], table[["y", "b"]]
    model = dma.Regressor(members=1).fit(X, Y)
    mean, sd = model.predict(X, return_std=True)
    assert mean.shape == sd.shape == (60, 2) and (sd > 0).all()
    assert model.predict_quantiles(X, [0.1, 0.9]).shape == (60, 2, 2)
    mean, sd, low_and_high = model.predict(X, return_std=True, return_quantiles=[0.1, 0.9])
    np.testing.assert_array_equal(low_and_high, model.predict_quantiles(X, [0.1, 0.9]))
    assert repr(model.predict_distribution(X)) == "<dma.Prediction of 60 rows x 2 targets>"
    assert model.model_.targets == ["y", "b"] and len(model.left_out_) == 2


def test_quantiles_spread_and_density_belong_together(table: pd.DataFrame) -> None:
    X, y = table[["a", "b"]], table["y"]
    model = dma.Regressor(**QUICK).fit(X, y)
    low, middle, high = model.predict_quantiles(X).T
    assert ((low < middle) & (middle < high)).all() and 0.9 <= np.mean((low < y) & (y < high)) <= 1
    p = model.predict_distribution(X)
    assert (p.epistemic_sd <= p.sd).all() and not p.mean.flags.writeable
    above, below = (p.cumulative((y + step).to_numpy()[:, None]) for step in (1e-4, -1e-4))
    np.testing.assert_allclose(np.exp(model.log_density(X, y)), (above - below)[:, 0] / 2e-4, rtol=1e-5)


def test_no_warning_where_nothing_is_wrong(table: pd.DataFrame) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dma.Regressor(members=1).fit(table[["a", "b"]], table["y"]).predict(table[["a", "b"]])


def test_the_graph_of_a_model_is_whole_and_written_and_compiled(table: pd.DataFrame) -> None:
    model = dma.Regressor(hidden=3, members=2, neighbours=False).fit(table[["a", "b"]], table["y"])
    g = model.graph()
    assert {"x", "y", "W1", "b1", "W2"} <= {one.name for one in g.variables}
    again = dma.parse_graph(dma.graph_text(g)).graph
    assert [one.kind for one in again.factors] == [one.kind for one in g.factors]
    _, state, _ = ran(again, {"x": [0.1, 0.2], "y": [None]}, "forward_backward")
    assert np.isfinite(state.belief("y").variance[0]) and state.belief("y").variance[0] > 0
