"""Frames as people have them: text, categories, dates, yes and no, missing cells."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dma
from conftest import run_dma


def messy(rows: int = 80) -> pd.DataFrame:
    """A table whose target is known by the colour, whether it is open, the day and the size."""
    random = np.random.default_rng(3)
    colours = random.choice(["red", "green", "blue"], size=rows)
    size = random.normal(size=rows)
    frame = pd.DataFrame(
        {
            "colour": colours,
            "kind": pd.Categorical(random.choice(["new", "used"], size=rows)),
            "open": random.random(rows) < 0.4,
            "day": pd.Timestamp("2022-03-01") + pd.to_timedelta(np.arange(rows) * 9, unit="D"),
            "size": np.where(np.arange(rows) % 8 == 1, np.nan, size),
            "name": [f"customer {i}" for i in range(rows)],
        }
    )
    frame["y"] = 2.0 * (colours == "red") + frame["open"] + 0.1 * size + 0.05 * random.normal(size=rows)
    return frame


def test_a_frame_of_any_cells_is_learned_as_its_csv_file_is(tmp_path: Path) -> None:
    frame = messy()
    X, y = frame.drop(columns="y"), frame["y"]
    model = dma.Regressor(hidden=4, members=1).fit(X, y)
    assert len(model.coding_) == 6
    assert any("name: left out: text with 80 values in 80 rows" in line for line in model.coding_)
    assert model.score(X, y) > 0.9
    frame.to_csv(tmp_path / "data.csv", index=False)
    run_dma("fit", tmp_path / "data.csv", "--target", "y", "--hidden", 4, "--members", 1, "--model", tmp_path / "model.json")
    model.save(tmp_path / "saved.json")
    predicted = [run_dma("predict", tmp_path / name, tmp_path / "data.csv") for name in ("model.json", "saved.json")]
    assert predicted[0] == predicted[1]
    loaded = dma.Regressor.load(tmp_path / "model.json")
    needed = X.drop(columns="name")
    assert np.array_equal(loaded.predict(needed), model.predict(X))


def test_unseen_values_and_missing_cells_are_told_and_predicted() -> None:
    frame = messy()
    X, y = frame.drop(columns="y"), frame["y"]
    model = dma.Regressor(hidden=4, members=1, neighbours=False).fit(X, y)
    new = X.head(3).copy()
    new.loc[0, "colour"] = "purple"
    with pytest.warns(UserWarning, match="'colour': a value that the fit did not have \\('purple'\\)"):
        assert np.isfinite(model.predict(new)).all()
    numbers = frame[["size"]].fillna(0.0)
    plain = dma.Regressor(hidden=4, members=1, neighbours=False).fit(numbers, y)
    assert plain.coding_ == []
    with pytest.warns(UserWarning, match="a cell is missing"):
        assert np.isfinite(plain.predict(pd.DataFrame({"size": [np.nan, 1.0]}))).all()


def test_importance_is_by_column_of_the_frame() -> None:
    frame = messy(200)
    X, y = frame.drop(columns=["y", "name"]), frame["y"]
    model = dma.Regressor(hidden=4, members=1, neighbours=False).fit(X, y)
    found = model.importance()
    assert list(found.columns) == ["target", "column", "rise", "sd"] and set(found["column"]) <= set(X.columns)
    assert list(found["column"][:2]) == ["colour", "open"] and found["rise"].is_monotonic_decreasing
    assert set(dma.Classifier(hidden=3, members=1).fit(X, y > 0.5).importance()["target"]) == {"y"}
    del model._outcome
    with pytest.raises(dma.Error, match="importance: the rows of the fit are not there any more"):
        model.importance()


def test_missing_targets_of_every_kind_are_dropped_with_one_note() -> None:
    frame = messy()
    X, gap = frame[["open", "day"]], np.arange(80) % 9 == 4
    for y in (frame["y"].astype("Float64").where(~gap), frame["y"].where(~gap), [None if g else v for v, g in zip(frame["y"], gap)]):
        with pytest.warns(UserWarning, match="9 of 80 rows are left out: they have no value of 'y'"):
            assert dma.Regressor(hidden=(), members=1).fit(X, y).model_.rows == 71
    for y in (frame["colour"].astype("string").where(~gap), frame["colour"].astype("category").where(~gap)):
        with pytest.warns(UserWarning, match="9 of 80 rows are left out: they have no value of 'colour'"):
            model = dma.Classifier(hidden=(), members=1).fit(X, y)
        assert model.model_.rows == 71 and list(model.classes_) == ["blue", "green", "red"]


def test_a_graph_refuses_text_and_missing_cells() -> None:
    g = dma.Graph()
    g.gaussian_noise(g.gaussian_prior(g.shared("w"), 0, sd=1) * g.observed("size"), g.observed("y"), sd=1)
    frame = messy()
    with pytest.raises(dma.Error, match="row 1, column 'size': a missing cell, or text, where a number is expected"):
        dma.GraphRegressor(g).fit(frame[["size"]], frame["y"])
