"""Wrong input: one line that says what was found, what was expected and where, and never a crash."""

from __future__ import annotations

import pickle
from typing import Any

import dma
import numpy as np
import pandas as pd
import pytest

X = np.random.default_rng(2).normal(size=(20, 2))
Y = X[:, 0] + 0.1 * X[:, 1]


@pytest.mark.parametrize(("settings", "words"), [
    ({"hidden": "50"}, "hidden: '50' is given"),
    ({"hidden": (2.5,)}, "hidden: 2.5 is given; a whole number"),
    ({"hidden": (-3,)}, "hidden: -3 is given"),
    ({"epochs": 10**12}, "epochs: 1000000000000 is given; a whole number of at most 32 bits"),
    ({"epochs": "many"}, "epochs: 'many' is given; a whole number"),
    ({"noise": float("nan")}, "noise: nan is given"),
    ({"method": "hybird"}, "method: there is no 'hybird'; did you mean 'hybrid'"),
    ({"method": 3}, "method: 3 is given; a name is expected"),
    ({"bias": "yes"}, "bias: 'yes' is given; True or False"),
    ({"batches": 2, "batch_size": 3}, "batches and batch_size are given"),
    ({"patience": 2, "method": "joint"}, "patience is known to sweeps of messages only"),
    ({"random_state": -1}, "random_state: -1 is given"),
    ({"n_jobs": 0}, "n_jobs: 0 is given"),
    ({"random_state": 2**64}, "random_state: 18446744073709551616 is given"),
])  # fmt: skip
def test_wrong_settings_are_named_as_they_were_written(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(dma.Error) as error:
        dma.Regressor(**settings).fit(X, Y)
    assert str(error.value).startswith(words) and "\n" not in str(error.value) and "--" not in str(error.value)


@pytest.mark.parametrize(("rows", "targets", "words"), [
    (X, np.ones(20), "the target 'y' is 1 in all 20 rows; there is nothing to learn"),
    (np.ones((20, 2)), Y, "every column beside the target is constant"),
    (X[:1], Y[:1], "1 sample"),
    (X[:0], Y[:0], "0 sample"),
    (X[:, :0], Y, "0 feature"),
    (X[:, 0], Y, "1D array"),
    (X[None], Y, "dim 3"),
    (X, Y[:-1], "inconsistent numbers of samples"),
    (np.where(X == X[3, 1], np.nan, X), Y, "NaN"),
    (np.where(X == X[3, 1], np.inf, X), Y, "infinity"),
    (X, np.where(Y == Y[3], np.inf, Y), "infinity"),
    (X, Y * np.nan, "NaN"),
    (np.full((20, 2), "a"), Y, "could not convert"),
    (np.array([[object(), 1.0]] * 20), Y, "float"),
    (X + 1j, Y, "Complex"),
    (X, None, "requires y"),
    (X, [None] * 20, "y contains NaN"),
    (X, [str(value) for value in Y], "y holds <U"),
    (pd.DataFrame(X, columns=["a", "a"]), Y, "two columns are named 'a'"),
    (pd.DataFrame(X, columns=["a", "b\n"]), Y, "'b.x0a', holds control characters; rename it"),
    (pd.DataFrame(X, columns=["a", "\ud800"]), Y, "is not Unicode text"),
    (X, pd.Series(Y, name="\x1b"), "holds control characters"),
    (pd.DataFrame(X, columns=["a", "b"]).replace(X[3, 1], np.inf), Y, "column 'b' holds inf in row 3"),
    (pd.DataFrame({"id": [f"id{i}" for i in range(20)]}), Y, "nothing to learn from: columns left out: 'id' .text with 20 values"),
])  # fmt: skip
def test_wrong_tables_are_refused(rows: Any, targets: Any, words: str) -> None:
    with pytest.raises((ValueError, TypeError), match=words):
        dma.Regressor().fit(rows, targets)


def test_rows_without_a_target_are_left_out_with_a_note() -> None:
    gap = np.where(np.arange(20) % 7 == 3, np.nan, Y)
    with pytest.warns(UserWarning, match="3 of 20 rows are left out: they have no value of 'y'"):
        model = dma.Regressor(hidden=(2,), members=1, epochs=3).fit(X, gap, sample_weight=np.ones(20))
    kept = ~np.isnan(gap)
    assert model.model_.text() == dma.Regressor(hidden=(2,), members=1, epochs=3).fit(X[kept], Y[kept], np.ones(17)).model_.text()
    with pytest.warns(UserWarning, match="1 of 20 rows"):
        assert dma.Classifier(hidden=()).fit(X, ["a", "b"] * 9 + [None, "a"]).model_.rows == 19


def test_wrong_rows_to_predict_are_refused() -> None:
    model = dma.Regressor(hidden=(3,), members=1).fit(X, Y)
    for rows, words in [(X[:, :1], "1 features"), (X[:0], "0 sample"), (X * np.nan, "NaN"), (X[0], "1D array")]:
        with pytest.raises(ValueError, match=words):
            model.predict(rows)
    with pytest.raises(dma.Error, match="a quantile of 1 is asked for"):
        model.predict_quantiles(X, [0.5, 1.0])
    with pytest.raises(dma.Error, match="none is given"):
        model.predict_quantiles(X, [])
    with pytest.raises(dma.Error, match="y has 19 rows"):
        model.log_density(X, Y[:-1])
    with pytest.raises(dma.Error, match="y holds NaN"):
        model.log_density(X, Y * np.nan)
    with pytest.raises(dma.Error, match="too far from the training data"):
        model.predict(np.full((1, 2), 1e300))


def test_a_frame_whose_target_is_named_like_a_column_is_learned() -> None:
    frame = pd.DataFrame(X, columns=["y", "z"])
    assert dma.Regressor(members=1).fit(frame, Y).model_.targets == ["y_target"]


def test_errors_are_value_errors_that_can_be_pickled() -> None:
    assert issubclass(dma.Error, ValueError) and issubclass(dma.Contradiction, dma.Error)
    assert str(pickle.loads(pickle.dumps(dma.Error("words")))) == "words" and dma.Error.__module__ == "dma"


def line() -> dma.Graph:
    g = dma.Graph()
    slope = g.gaussian_prior(g.shared("slope"), 0, variance=4)
    g.gaussian_noise(slope * g.observed("x"), g.observed("y"), variance=1)
    return g


@pytest.mark.parametrize("number", [1e160, 1.7e308, -1e200, 5e-324])
def test_numbers_that_overflow_are_refused_and_leave_the_model_as_it_was(number: float) -> None:
    model = dma.Regressor(hidden=(2,), members=1, epochs=3).fit(X, Y)
    before, x, y = model.model_.text(), X[:3].copy(), Y[:3].copy()
    x[1, 0] = y[1] = number
    try:
        model.partial_fit(x, y)
    except ValueError as error:
        assert "\n" not in str(error) and model.model_.text() == before
    assert np.isfinite(model.predict(X)).all()
    with pytest.raises(dma.Error, match="overflow when they are multiplied; use other units"):
        dma.GraphRegressor(line()).fit(X[:, :1], np.append(Y[:-1], 1e200))
