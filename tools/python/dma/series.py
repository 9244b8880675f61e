"""Series: smoothed, their gaps filled, and forecast, by the model that `dma smooth` chooses."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Optional, Union, overload

import numpy as np
import numpy.typing as npt

from . import _dma, plots
from .models import Floats, brief, numbers_of


@dataclass(frozen=True, repr=False)
class Series:
    """Every step of a series and of its forecast; what is not an array of them says so."""

    values: Floats  # as they were given, NaN where nothing was seen, steps that had no row among them
    times: Any  # times of all steps, forecasts too, as they were given: an index of pandas, an array, a list; or None
    median: Floats
    low: Floats  # 2.5 % of values are below it
    high: Floats  # 97.5 % are
    models: list[tuple[str, float, float]]  # name, log score and weight of each that was tried, the best first
    log_evidence: float  # that of the best model
    found: _dma.Smoothed = field(repr=False)  # means, standard deviations, states, weights of inputs, unusual steps
    texts: Optional[list[str]] = field(repr=False)  # times as text

    __repr__ = brief

    @property
    def forecast(self) -> Floats:
        """Medians of the steps beyond the end."""
        return self.median[len(self.values) :]

    def quantile(self, probability: float) -> Floats:
        """The quantile of a value at this probability, at every step."""
        return self.found.quantile(probability)

    def plot(self, ax: Any = None) -> Any:
        """Values as points, the median as a line, and what 95 % of values are within; forecasts are at the end."""
        at = np.arange(len(self.median))
        ax = plots.band(ax, at, self.median, self.low, self.high)
        ax.plot(at[: len(self.values)], self.values, ".", color="black")
        if self.texts is not None:
            shown = at[:: max(1, len(at) // 6)]
            ax.set_xticks(shown, [self.texts[step] for step in shown])
        return ax

    def _repr_html_(self) -> str:
        from .pictures import band

        names = ", ".join(f"{name} ({weight:.0%})" for name, _, weight in self.models if weight > 0)
        return band(self.values, self.median, self.low, self.high, names, self.texts)


def _times_of(values: Any, times: Optional[Sequence[Any]]) -> Union[None, list[str], Floats]:
    """Dates as text, or numbers; None for the index of a frame that is no more than a count, or labels that are no dates."""
    is_given = times is not None
    if times is None:
        index = getattr(values, "index", None)  # an index of pandas; a list has a method of that name
        if index is None or callable(index):
            return None
        times = list(index)
    if isinstance(times, np.ndarray) and times.dtype.kind == "M":
        times = times.astype("M8[s]").astype(str)
    if all(isinstance(time, (int, float, np.number)) and not isinstance(time, bool) for time in times):
        numbers = np.asarray(times, dtype=np.float64)
        return numbers if is_given or not np.array_equal(numbers, np.arange(len(numbers))) else None
    if all(re.fullmatch(r"\d{4}", str(time)) for time in times):  # years as text or as periods
        return np.asarray([int(str(time)) for time in times], dtype=np.float64)
    dates = [str(time)[:10] if str(time).endswith("00:00:00") else str(time).replace(" ", "T") for time in times]
    return dates if is_given or all(re.match(r"\d{4}[-/]\d{2}", date) for date in dates) else None


def _as_given(times: Any, texts: list[str]) -> Any:
    """The times of all steps as what the given ones were: an index of pandas, an array, or a list."""
    array = np.asarray(times)
    made: Any = texts
    if str(getattr(times, "dtype", "")).startswith("period"):
        import pandas

        return pandas.PeriodIndex(texts, freq=times.dtype.freq, name=times.name)
    if array.dtype.kind in "iufM":
        made = np.array([float(text) for text in texts] if array.dtype.kind != "M" else texts, array.dtype)
    elif isinstance(array[0], datetime.date):
        made = [type(array[0]).fromisoformat(text) for text in texts]
    if type(times).__module__.startswith("pandas"):
        import pandas

        return pandas.Index(made, name=times.name)
    return made if isinstance(times, np.ndarray) else np.asarray(made).tolist() if array.dtype.kind in "iuf" else list(made)


def _by_key(values: Any, key: Sequence[Any], times: Any, inputs: Mapping[str, Any], **how: Any) -> dict[Any, Series]:
    """The series of the rows of each key, in the order of their first rows."""
    if len(key) != len(values):
        raise _dma.Error(f"key: {len(key)} are given for {len(values)} values")
    if times is None and _times_of(values, None) is None:
        values = np.asarray(values)  # an index that counts all rows does not count those of a key
    rows: dict[Any, list[int]] = {}
    for row, label in enumerate(key):
        rows.setdefault(label, []).append(row)
    found = {}
    for label, own in rows.items():
        def of(column: Any) -> Any:
            return column.take(own) if hasattr(column, "take") else [column[row] for row in own]

        try:
            found[label] = smooth(of(values), times=None if times is None else of(times),
                                  inputs={name: of(column) for name, column in inputs.items()}, **how)  # fmt: skip
        except _dma.Error as error:
            raise _dma.Error(f"key {label!r}: {error}") from None
    return found


@overload
def smooth(
    values: Any, forecast: int = 0, *, times: Optional[Sequence[Any]] = None, key: None = None, model: str = "auto",
    season: Union[str, float, Sequence[float], None] = "auto", log: Optional[bool] = None,
    inputs: Mapping[str, npt.ArrayLike] = {},
) -> Series: ...  # fmt: skip
@overload
def smooth(
    values: Any, forecast: int = 0, *, times: Optional[Sequence[Any]] = None, key: Sequence[Any], model: str = "auto",
    season: Union[str, float, Sequence[float], None] = "auto", log: Optional[bool] = None,
    inputs: Mapping[str, npt.ArrayLike] = {},
) -> dict[Any, Series]: ...  # fmt: skip
def smooth(
    values: Any, forecast: int = 0, *, times: Optional[Sequence[Any]] = None, key: Optional[Sequence[Any]] = None,
    model: str = "auto", season: Union[str, float, Sequence[float], None] = "auto", log: Optional[bool] = None,
    inputs: Mapping[str, npt.ArrayLike] = {},
) -> Union[Series, dict[Any, Series]]:  # fmt: skip
    """Smooths a series, fills its gaps (NaN or None) and forecasts as many steps.

    ``times`` are dates (ISO text, datetimes or periods) or numbers such as years; those of a pandas index are taken by
    themselves. They may leave steps out. Dates suggest seasons; ``season`` may name them instead (12, or (7, 365.25), or
    None). ``model`` is auto, walk, trend, ar, motion or ar:0.6,-0.3; ``log`` models logarithms. ``inputs`` are known at
    every step, forecasts included. With ``key``, one label per value, the values of each label are a series of their
    own; the answer is a dictionary of them.
    """
    if not isinstance(forecast, (int, np.integer)) or forecast < 0:
        raise _dma.Error(f"forecast: {forecast!r} is given; a whole number of steps, 0 or more, is expected")
    if isinstance(season, str) and season != "auto":
        raise _dma.Error(f"season: {season!r} is given; numbers of steps, None or 'auto' are expected")
    if key is not None:
        return _by_key(values, key, times, inputs, forecast=forecast, model=model, season=season, log=log)
    when = _times_of(values, times)
    known = numbers_of("values", values, 1, missing=True)
    usual: list[float] = []
    texts: Optional[list[str]] = None
    if when is not None:
        if len(when) != len(known):
            raise _dma.Error(f"times: {len(when)} are given for {len(known)} values")
        if isinstance(when, list):
            steps, texts, usual = _dma.series_times(when, int(forecast))
        else:
            steps, texts, usual = _dma.series_number_times(when, int(forecast))
        at_steps = np.full(steps[-1] + 1, np.nan)
        at_steps[steps] = known
        known = at_steps
    single = isinstance(season, (int, float, np.number))
    listed: Any = [season] if single else [] if season is None else season
    seasons = None if isinstance(season, str) else [float(one) for one in listed]
    given = {name: numbers_of(f"input {name!r}", column, 1) for name, column in inputs.items()}
    found = _dma.smooth_values(known, int(forecast), model, usual, seasons, log, given)
    shown = None if texts is None else _as_given(values.index if times is None else times, texts)
    return Series(known, shown, found.quantile(0.5), found.quantile(0.025), found.quantile(0.975), found.models,
                  found.log_evidence, found, texts)  # fmt: skip
