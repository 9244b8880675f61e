"""One model, whoever fits, saves or loads it: Python and the command line agree in every bit."""

from __future__ import annotations

import copy
import io
import json
import os
import pickle
from pathlib import Path
from typing import Any

import dma
import numpy as np
import pandas as pd
import pytest
from conftest import run_dma

SETTINGS: list[dict[str, Any]] = [
    {},
    {"hidden": (6, 5), "slopes": (0.4, 0.8), "noise": 0.2, "members": 2, "random_state": 7},
    {"hidden": (4,), "method": "hybrid", "epochs": 3, "batch_size": 5},
    {"hidden": 3, "preset": "paper", "epochs": 2, "bias": True, "standardise": True},
]


def options_of(settings: dict[str, Any]) -> list[str]:
    options = []
    for name, value in settings.items():
        option = "--" + {"random_state": "seed"}.get(name, name).replace("_", "-")
        listed = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
        options += [option] if value is True else [option, listed]
    return options


@pytest.mark.parametrize("settings", SETTINGS)
def test_the_same_fit_is_the_same_file(table: pd.DataFrame, csv: Path, tmp_path: Path, settings: dict[str, Any]) -> None:
    ours, theirs = tmp_path / "python.json", tmp_path / "command.json"
    dma.Regressor(**settings).fit(table[["a", "b"]], table["y"]).save(ours)
    run_dma("fit", csv, "--target", "y", "--model", theirs, "--quiet", *options_of(settings))
    assert ours.read_bytes() == theirs.read_bytes()


@pytest.mark.parametrize("settings", [{}, {"hidden": (4,), "members": 1, "random_state": 3}])
def test_the_same_classifier_is_the_same_file_and_predicts_the_same(table: pd.DataFrame, tmp_path: Path, settings: dict[str, Any]) -> None:
    csv, ours, theirs = tmp_path / "rows.csv", tmp_path / "python.json", tmp_path / "command.json"
    rows = table.assign(y=np.array(["left", "middle", "right"])[pd.qcut(table["y"], 3, labels=False)])
    rows.to_csv(csv, index=False)
    X = rows[["a", "b"]]
    model = dma.Classifier(**settings).fit(X, rows["y"])
    model.save(ours)
    run_dma("fit", csv, "--target", "y", "--model", theirs, "--quiet", *options_of(settings))
    assert ours.read_bytes() == theirs.read_bytes()
    told = pd.read_csv(io.StringIO(run_dma("predict", ours, csv)), float_precision="round_trip")
    columns = [next(column for column in told.columns if column.endswith(name)) for name in model.classes_]
    for one in (model, dma.Classifier.load(theirs), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(one.predict_proba(X), told[columns])


def test_each_reads_the_other_and_predicts_the_same_numbers(table: pd.DataFrame, csv: Path, tmp_path: Path) -> None:
    X, y = table[["a", "b"]], table["y"]
    ours, theirs = tmp_path / "python.json", tmp_path / "command.json"
    fitted = dma.Regressor(hidden=5, members=2).fit(X, y)
    fitted.save(ours)
    run_dma("fit", csv, "--target", "y", "--model", theirs, "--quiet", "--hidden", 5, "--members", 2)
    told = pd.read_csv(io.StringIO(run_dma("predict", ours, csv)), float_precision="round_trip")
    for model in (fitted, dma.Regressor.load(theirs)):
        mean, sd = model.predict(X, return_std=True)
        np.testing.assert_array_equal(mean, told["y_mean"])
        np.testing.assert_array_equal(sd, told["y_sd"])
        np.testing.assert_array_equal(model.predict_quantiles(X, [0.025, 0.975]), told[["y_q2.5", "y_q97.5"]])
        assert list(model.feature_names_in_) == ["a", "b"]


def test_columns_that_say_nothing_are_ignored_by_both(table: pd.DataFrame, tmp_path: Path) -> None:
    wider = table.assign(constant=3.0, copy=1 - 2 * table["a"])[["constant", "a", "copy", "b", "y"]]
    csv = tmp_path / "wider.csv"
    wider.to_csv(csv, index=False)
    X = wider.drop(columns="y")
    model = dma.Regressor(hidden=5, members=1).fit(X, wider["y"])
    assert "'constant' (constant)" in model.ignored_ and "'copy' (as 'a')" in model.ignored_
    assert list(model.columns_) == [1, 3] and model.n_features_in_ == 4
    model.save(tmp_path / "python.json")
    run_dma("fit", csv, "--target", "y", "--model", tmp_path / "command.json", "--quiet", "--hidden", 5, "--members", 1)
    assert (tmp_path / "python.json").read_bytes() == (tmp_path / "command.json").read_bytes()
    np.testing.assert_array_equal(model.predict(X), dma.Regressor.load(tmp_path / "command.json").predict(X[["a", "b"]]))


def test_pickled_and_copied_models_predict_the_same_numbers(table: pd.DataFrame) -> None:
    X = table[["a", "b"]]
    model = dma.Regressor(hidden=5, members=1).fit(X, table["y"])
    for other in (*(pickle.loads(pickle.dumps(model, protocol)) for protocol in range(6)), copy.deepcopy(model)):
        np.testing.assert_array_equal(model.predict(X), other.predict(X))
        assert other.model_.text() == model.model_.text() and list(other.feature_names_in_) == ["a", "b"]
    unfitted = pickle.loads(pickle.dumps(dma.Regressor(hidden=(3,))))
    assert unfitted.hidden == (3,) and not hasattr(unfitted, "model_")


def test_a_model_of_nameless_columns_is_loaded_nameless(table: pd.DataFrame, tmp_path: Path) -> None:
    X = table[["a", "b"]].to_numpy()
    model = dma.Regressor(hidden=5, members=1).fit(X, table["y"].to_numpy())
    model.save(tmp_path / "model.json")
    loaded = dma.Regressor.load(tmp_path / "model.json")
    assert not hasattr(loaded, "feature_names_in_") and loaded.n_features_in_ == 2
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_files_that_are_no_models_are_refused_in_the_same_words(tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.json"
    damaged.write_text("{}")
    for path in (damaged, tmp_path / "none.json", tmp_path):
        with pytest.raises(dma.Error) as error:
            dma.Regressor.load(path)
        with pytest.raises(AssertionError) as told:
            run_dma("predict", path, damaged)
        assert str(error.value) in str(told.value)


@pytest.mark.parametrize("name", ["eight_schools", "rating", "smoother", "sprinkler"])
def test_graphs_from_files_have_the_same_beliefs(name: str) -> None:
    path = Path(os.environ["DMA_SOURCE_DIR"]) / f"tools/examples/graphs/{name}.json"
    told = json.loads(run_dma("infer", path, "--json"))
    read = dma.parse_graph(path.read_text())
    state = dma.State(plan := dma.compile(read.graph, told["schedule"], fuse=False))
    for variable, values in read.observations.items():
        state.observe(variable, values)
    assert repr(dma.run(plan, state)) == told["report"]
    for variable, belief in told["beliefs"].items():
        np.testing.assert_array_equal(state.belief(variable).mean.ravel(), np.array(belief["mean"], dtype=float))
        np.testing.assert_array_equal(state.belief(variable).sd.ravel(), np.array(belief["sd"], dtype=float))
    assert dma.log_evidence(plan, state) == told["log_evidence"]


def test_a_graph_that_cannot_be_read_is_refused_with_the_place() -> None:
    with pytest.raises(dma.Error, match="/factors/0"):
        dma.parse_graph('{"variables": {"x": {}}, "factors": [{"kind": "sum", "connects": ["y"]}]}')
