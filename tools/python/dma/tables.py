"""Tables of users as named columns of numbers or text, and what scikit-learn says of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight

from ._dma import Error

try:  # scikit-learn from 1.6
    from sklearn.utils.validation import validate_data as _validate
except ImportError:

    def _validate(estimator: Any, X: Any, y: Any = "no_validation", **options: Any) -> Any:
        return estimator._validate_data(X, y, **options)


def cells_of(frame: Any) -> list[Any] | None:
    """The columns of a frame that holds anything but finite numbers: arrays of numbers, NaN where one is missing, and lists
    of text. None for a frame of numbers, and for what is no frame."""
    if not hasattr(frame, "columns") or not hasattr(frame, "iloc"):
        return None
    columns = [_cells(frame.iloc[:, place]) for place in range(frame.shape[1])]
    is_plain = all(not isinstance(one, list) and np.isfinite(one).all() for one in columns)
    return None if is_plain else columns


def _cells(column: Any) -> Any:
    if column.dtype.kind == "m":
        column = column / np.timedelta64(1, "D")
    if column.dtype.kind not in "Mb":  # True and False are what a CSV file has for them
        try:
            return column.to_numpy(dtype=np.float64, na_value=np.nan)
        except (TypeError, ValueError):
            pass
    missing = column.isna().to_numpy()
    return ["" if absent else _text(value) for value, absent in zip(column, missing)]


def _text(value: Any) -> str:
    return plain(str(value.isoformat() if hasattr(value, "isoformat") else value).strip())


def looked_at(estimator: Any, X: Any, *y: Any, **options: Any) -> Any:
    """X, or X and y, as scikit-learn lets them pass: X is an array, or the columns of a frame that holds more than numbers,
    of which it sees names and rows."""
    cells = cells_of(X)
    if cells is None:
        return _validate(estimator, X, *y, dtype=np.float64, **options)
    for name, column in zip(X.columns, cells):
        if not isinstance(column, list) and np.isinf(column).any():
            row = int(np.argmax(np.isinf(column)))
            raise Error(f"column {name!r} holds {column[row]} in row {row}; finite numbers are expected")
    found = _validate(estimator, X.isna().astype(np.float64), *y, dtype=np.float64, **options)
    return (cells, found[1]) if y else cells


def checked_pair(estimator: Any, X: Any, y: Any, **options: Any) -> tuple[Any, Any]:
    """Columns, and targets in columns: finite numbers, or NaN where one is missing, as long as one is not."""
    seen = given = _with_none(y)
    if y is not None and (given := np.asarray(given)).dtype.kind in "fO":
        seen = given = given.astype(np.float64)  # None is NaN
        if not (missing := np.isnan(given)).all():
            seen = np.where(missing, 0.0, given)
    X, seen = looked_at(estimator, X, seen, y_numeric=True, multi_output=True, **options)
    if given.dtype.kind not in "biuf":
        raise Error(f"y holds {given.dtype}; numbers are expected")
    return X, given.astype(np.float64).reshape(len(given), -1)


def checked_labels(estimator: Any, X: Any, y: Any) -> tuple[Any, Any, list[str]]:
    """Columns, the classes, and the name of every row's class: "" where it is missing."""
    labels, missing = y, np.zeros(0, dtype=bool)
    if y is not None and (values := np.asarray(_with_none(y))).dtype.kind in "fO" and values.ndim == 1:
        missing = np.array([one is None or one != one for one in values], dtype=bool)
        if missing.all() and missing.size:
            raise Error(f"y: none of {missing.size} rows has a class")
        labels = np.where(missing, values[~missing][0], values) if missing.any() else y
    X, labels = looked_at(estimator, X, labels, ensure_min_samples=2)
    labels = column_or_1d(labels, warn=True)
    if labels.dtype == object and len(types := {type(label).__name__ for label in labels}) > 1:
        raise Error(f"y mixes {' and '.join(sorted(types))}; write all classes as text, or all as numbers")
    check_classification_targets(labels)
    classes, of_rows = np.unique(labels, return_inverse=True)
    names = [str(one) for one in classes.tolist()]
    return X, classes, ["" if missing.any() and missing[row] else names[k] for row, k in enumerate(of_rows)]


def _with_none(y: Any) -> Any:
    """None for what pandas has for a missing value of its own types."""
    return y if not hasattr(y, "isna") or isinstance(getattr(y, "dtype", None), np.dtype) else y.astype(object).where(y.notna(), None)


def finite(y: Any) -> Any:
    """Numbers, none of which is missing."""
    values = np.asarray(y)
    values = values.astype(np.float64) if values.dtype.kind in "biufO" else np.full(1, np.nan)
    if not np.isfinite(values).all():
        raise Error("y holds NaN or infinity, or no numbers; finite numbers are expected")
    return values


def weights_of(X: Any, sample_weight: Any) -> Any:
    """One for every row, or None."""
    return None if sample_weight is None else _check_sample_weight(sample_weight, X, dtype=np.float64)


def column_names(estimator: Any) -> list[str]:
    """Names of the columns of X, as they stand in the model file: x0, x1, ... where they have none."""
    names = getattr(estimator, "feature_names_in_", None)
    return [f"x{i}" for i in range(estimator.n_features_in_)] if names is None else [plain(str(name)) for name in names]


def plain(name: str) -> str:
    """A name that can be told outside of Python: half a surrogate pair cannot."""
    try:
        name.encode()
    except UnicodeEncodeError:
        raise Error(f"the name of a column, {name!r}, is not Unicode text; rename it") from None
    return name


def target_names(y: Any, count: int, features: list[str]) -> list[str]:
    """For so many targets beside these columns: a Series' or a DataFrame's own, otherwise y, or y0, y1, ..."""
    columns = getattr(y, "columns", None)
    own = [getattr(y, "name", None)] if columns is None else list(columns)
    given = [plain(name) for name in own if isinstance(name, str) and name]
    if len(given) != count:
        given = ["y"] if count == 1 else [f"y{i}" for i in range(count)]
    while set(given) & set(features):  # a column cannot be learned from itself
        given = [f"{name}_target" for name in given]
    return given
