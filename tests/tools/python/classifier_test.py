"""dma.Classifier: labels of any kind, and wrong ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dma
import numpy as np
import pandas as pd
import pytest

NAMES = np.array(["left", "middle", "right"])


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    """Three clouds of points."""
    random = np.random.default_rng(5)
    place = np.arange(60) % 3
    a = 2.0 * place + random.normal(size=60)
    return pd.DataFrame({"a": a, "b": 100 * random.normal(size=60), "side": NAMES[place]})


@pytest.mark.parametrize("labels", [[10, 9, -1], ["10", "9", "-1"], [True, False, True], [1.0, 2.0, 3e5], ["é", "b c", "日本"]])
def test_labels_come_back_as_they_were_given(rows: pd.DataFrame, tmp_path: Path, labels: list[Any]) -> None:
    X, y = rows[["a", "b"]].to_numpy(), np.array(labels)[np.arange(60) % 3]
    model = dma.Classifier(hidden=()).fit(X, y)
    np.testing.assert_array_equal(model.classes_, np.unique(y))
    found = model.predict(X)
    assert found.dtype == y.dtype and model.score(X, y) > 0.5
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    np.testing.assert_array_equal(found, model.classes_[probabilities.argmax(axis=1)])
    model.save(tmp_path / "model.json")
    loaded = dma.Classifier.load(tmp_path / "model.json")
    assert sorted(map(str, loaded.classes_)) == sorted(map(str, model.classes_))
    if np.array(labels).dtype.kind in "if":
        np.testing.assert_array_equal(loaded.predict_proba(X), probabilities)
        np.testing.assert_array_equal(loaded.predict(X), found)


@pytest.mark.parametrize(("targets", "words"), [
    (["a"] * 10, "y: all rows have the class 'a'; two classes or more are expected"),
    (["a"] * 9 + ["b"], "y: the class 'b' has one row to learn from"),
    (["a", "b\n"] * 5, "the name of a class, 'b.x0a', holds control characters"),
    (np.linspace(0, 1, 10), "Unknown label type"),
    ([0.0, np.nan] * 5, "all rows have the class '0.0'"),
    ([[1, 2]] * 10, "1d array"),
    (np.array(["a", 1] * 5, dtype=object), "y mixes int and str"),
    ([None] * 10, "y: none of 10 rows has a class"),
])  # fmt: skip
def test_wrong_classes_are_refused(targets: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        dma.Classifier().fit(np.random.default_rng(1).normal(size=(10, 2)), targets)


def test_a_file_of_numbers_is_no_classifier(rows: pd.DataFrame, tmp_path: Path) -> None:
    dma.Classifier(hidden=()).fit(rows[["a", "b"]], rows["side"]).save(tmp_path / "classes.json")
    dma.Regressor(hidden=(2,), members=1).fit(rows[["a"]], rows["b"]).save(tmp_path / "numbers.json")
    with pytest.raises(dma.Error):
        dma.Regressor.load(tmp_path / "classes.json")
    with pytest.raises(dma.Error):
        dma.Classifier.load(tmp_path / "numbers.json")
