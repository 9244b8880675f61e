"""What scikit-learn says of a table before anything is learned from it, and the names of its columns."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing, check_consistent_length, column_or_1d
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


def numbers_like(frame: Any) -> Any:
    """A frame of numbers with the names and rows of this one, for scikit-learn to look at."""
    return frame.isna().astype(np.float64)


def _infinite(frame: Any) -> str:
    """Where a frame has an infinite number."""
    for name, column in zip(frame.columns, cells_of(frame) or []):
        if not isinstance(column, list) and np.isinf(column).any():
            row = int(np.argmax(np.isinf(column)))
            return f"column {name!r} holds {column[row]} in row {row}; finite numbers are expected"
    return ""


def _looked_at(estimator: Any, X: Any, *y: Any, **options: Any) -> Any:
    """What scikit-learn says of it; of a frame that holds more than numbers, of its names, rows and targets."""
    if cells_of(X) is not None:
        if found := _infinite(X):
            raise Error(found)
        X = numbers_like(X)
    return _validate(estimator, X, *y, **options)


def checked_pair(estimator: Any, X: Any, y: Any) -> tuple[Any, Any]:
    """Two rows at least of finite numbers, as many targets; names and number of the columns are noted."""
    X, y = _looked_at(estimator, X, y, dtype=np.float64, y_numeric=True, multi_output=True, ensure_min_samples=2)
    return X, finite("y", y)


def with_targets(X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any, Any]:
    """The rows that have a target, their weights and places (None: all have one), with a note on the others."""
    values = np.asarray(y) if y is not None else np.zeros(0)
    if values.dtype.kind not in "fO" or values.ndim not in (1, 2):
        return X, y, sample_weight, None
    missing = np.asarray(values != values)
    if values.dtype.kind == "O":
        missing = missing.astype(bool) | np.reshape([value is None for value in values.ravel()], values.shape)
    missing = missing.any(axis=1) if missing.ndim == 2 else missing
    if not missing.any() or missing.all() or len(missing) != _rows(X):
        return X, y, sample_weight, None
    warnings.warn(f"{missing.sum()} of {len(missing)} rows are left out: they have no target", UserWarning, stacklevel=4)
    places = np.flatnonzero(~missing)
    X, y = _rows_at(places, X, y)
    return X, y, None if sample_weight is None else np.asarray(sample_weight)[places], places


def _rows(X: Any) -> int:
    return len(X) if hasattr(X, "__len__") else 0


def _rows_at(places: Any, *tables: Any) -> Any:
    return [_safe_indexing(one if hasattr(one, "iloc") else np.asarray(one), places) for one in tables]


def weighed(X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, list[float], Any]:
    """The rows that have a target and count, their weights and places; places are None where all do."""
    X, y, sample_weight, known = with_targets(X, y, sample_weight)
    if sample_weight is None:
        return X, y, [], known
    check_consistent_length(X, y)
    weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
    if (weights < 0).any():
        row = int(np.argmax(weights < 0))
        raise Error(f"sample_weight holds {weights[row]} in row {row}; 0 or more is expected")
    places = np.flatnonzero(weights)
    if len(places) < len(weights):
        X, y = _rows_at(places, X, y)
    return X, y, weights[places].tolist(), places if known is None else known[places]


def checked_more(estimator: Any, X: Any, y: Any) -> tuple[Any, Any]:
    """One row at least, of the columns that were learned, and targets."""
    X, y = _looked_at(estimator, X, y, dtype=np.float64, y_numeric=True, multi_output=True, reset=False)
    return X, finite("y", y)


def checked_labels(estimator: Any, X: Any, y: Any) -> tuple[Any, Any]:
    """The same where y is one column of classes."""
    X, y = _looked_at(estimator, X, y, dtype=np.float64, ensure_min_samples=2)
    y = column_or_1d(y, warn=True)
    if y.dtype == object:
        for row, label in enumerate(y):
            if label is None or label != label:
                raise Error(f"y holds {label!r} in row {row}; a class is expected for every row")
        if len(types := {type(label).__name__ for label in y}) > 1:
            raise Error(f"y mixes {' and '.join(sorted(types))}; write all classes as text, or all as numbers")
    return X, y


def finite(name: str, values: Any) -> Any:
    """Numbers as the library wants them. None among objects becomes NaN only here, past scikit-learn's check."""
    values = np.asarray(values)
    if values.dtype.kind not in "biufO":
        raise Error(f"{name} holds {values.dtype}; numbers are expected")
    values = values.astype(np.float64)
    if not np.isfinite(values).all():
        raise Error(f"{name} holds NaN or infinity; finite numbers are expected")
    return values


def checked(estimator: Any, X: Any) -> Any:
    """Rows to predict, of the columns that were learned."""
    return _looked_at(estimator, X, dtype=np.float64, reset=False)


def column_names(estimator: Any) -> list[str]:
    """Of the columns of X, as they stand in the model file: x0, x1, ... where they have none."""
    names = getattr(estimator, "feature_names_in_", None)
    return [f"x{i}" for i in range(estimator.n_features_in_)] if names is None else [plain(str(name)) for name in names]


def plain(name: str) -> str:
    """A name that can be told outside of Python: half a surrogate pair cannot."""
    try:
        name.encode()
    except UnicodeEncodeError:
        raise Error(f"the name of a column, {name!r}, is not Unicode text; rename it") from None
    return name


def target_names(y: Any) -> Callable[[int, list[str]], list[str]]:
    """Names for so many targets beside these columns: a Series' or a DataFrame's own, otherwise y, or y0, y1, ..."""
    columns = getattr(y, "columns", None)
    own = [getattr(y, "name", None)] if columns is None else list(columns)

    def names(count: int, features: list[str]) -> list[str]:
        given = [plain(name) for name in own if isinstance(name, str) and name]
        if len(given) != count:
            given = ["y"] if count == 1 else [f"y{i}" for i in range(count)]
        while set(given) & set(features):  # a column cannot be learned from itself
            given = [f"{name}_target" for name in given]
        return given

    return names
