"""Rows that arrive later: `partial_fit` is `dma fit --update`."""

from __future__ import annotations

import pickle
from pathlib import Path

import dma
import numpy as np
import pandas as pd
import pytest
from conftest import run_dma


def small(neighbours: bool | None = None) -> dma.Regressor:
    return dma.Regressor(hidden=(5,), members=1, neighbours=neighbours)


def test_more_rows_are_those_of_the_command_line(table: pd.DataFrame, tmp_path: Path) -> None:
    wider = table.assign(constant=3.0)[["constant", "a", "b", "y"]]  # a column that says nothing is passed over again
    parts = {"first": wider[:40], "second": wider[40:50], "third": wider[50:51]}
    for name, part in parts.items():
        part.to_csv(tmp_path / f"{name}.csv", index=False)
    model = small()
    for part in parts.values():
        assert model.partial_fit(part.drop(columns="y"), part["y"]) is model
    model.save(tmp_path / "python.json")
    theirs = tmp_path / "command.json"
    run_dma("fit", tmp_path / "first.csv", "--target", "y", "--model", theirs, "--quiet", "--hidden", "5", "--members", "1")
    for name in ("second", "third"):
        run_dma("fit", "--update", theirs, tmp_path / f"{name}.csv", "--quiet")
    assert (tmp_path / "python.json").read_bytes() == theirs.read_bytes()
    assert model.model_.rows == 51 and model.report_ == "learned 1 row on top of 50" and model.left_out_ == []


def test_weights_of_later_rows_are_those_of_the_command_line(table: pd.DataFrame, tmp_path: Path) -> None:
    more = table[40:].assign(w=[0.0, 2.0, 0.5, *([1.0] * 17)])
    more.to_csv(tmp_path / "more.csv", index=False)
    first = small().fit(table[["a", "b"]][:40], table["y"][:40])
    first.save(tmp_path / "first.json")
    run_dma("fit", "--update", tmp_path / "first.json", tmp_path / "more.csv", "--weights", "w", "--quiet")
    with pytest.warns(UserWarning, match="1 of 20 rows are left out: their weight is 0"):
        ours = first.partial_fit(more[["a", "b"]], more["y"], sample_weight=more["w"])
    assert ours.model_.text() == (tmp_path / "first.json").read_bytes() and ours.model_.rows == 59


def test_models_from_files_and_pickles_learn_on_and_a_fit_begins_anew(table: pd.DataFrame, tmp_path: Path) -> None:
    X, y = table[["a", "b"]], table["y"]
    model = small().partial_fit(X[:50], y[:50])
    first = model.model_.text()
    model.save(tmp_path / "model.json")
    others = [dma.Regressor.load(tmp_path / "model.json"), pickle.loads(pickle.dumps(model))]
    text = model.partial_fit(X[50:], y[50:]).model_.text()
    for other in others:
        assert other.partial_fit(X[50:], y[50:]).model_.text() == text
    assert model.fit(X[:50], y[:50]).model_.text() == first


def test_targets_of_a_frame_are_known_by_name(table: pd.DataFrame) -> None:
    X, Y = table[["a"]], table[["y", "b"]]
    model, other = (small(neighbours=False).fit(X, Y) for _ in range(2))
    assert model.partial_fit(X, Y).model_.text() == other.partial_fit(X, Y[["b", "y"]]).model_.text()


def test_what_cannot_be_added_is_refused_and_leaves_the_model_as_it_was(table: pd.DataFrame) -> None:
    X, y = table[["a", "b"]], table["y"]
    model = small(neighbours=False).fit(X, y)
    before = model.model_.text()
    for rows, targets, words in [
        (X[["a"]], y, "feature names"),
        (X[:0], y[:0], "0 sample"),
        (X, y + np.inf, "infinity"),
        (X, table[["y", "b"]], "y has 2 columns, but the model predicts 1: y"),
        (X, y[:-1], "inconsistent"),
        (X + 1e300, y, "too far from the training data"),
    ]:
        with pytest.raises(ValueError, match=words):
            model.partial_fit(rows, targets)
        assert model.model_.text() == before
    swept = dma.Regressor(hidden=(3,), method="hybrid", epochs=2).fit(X, y)
    with pytest.raises(dma.Error, match="this model was learned by sweeps of messages"):
        swept.partial_fit(X, y)
    assert not hasattr(dma.Classifier(), "partial_fit")
