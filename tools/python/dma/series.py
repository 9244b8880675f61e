"""Series: smoothed, their gaps filled, and forecast, by the model that `dma smooth` chooses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Optional, Union

import numpy as np
import numpy.typing as npt

from . import _dma
from .models import Floats, numbers_of


@dataclass(frozen=True)
class Series:
    """Every step of a series and of its forecast; what is not an array of them says so."""

    values: Floats  # as they were given, NaN where nothing was seen, steps that had no row among them
    times: Optional[list[str]]  # of dates
    median: Floats
    low: Floats  # 2.5 % of values are below it
    high: Floats  # 97.5 % are
    models: list[tuple[str, float, float]]  # name, log score and weight of each that was tried, the best first
    log_evidence: float  # of the best
    found: _dma.Smoothed = field(repr=False)  # means, standard deviations, states, weights of inputs, unusual steps

    @property
    def forecast(self) -> Floats:
        """Medians of the steps beyond the end."""
        return self.median[len(self.values) :]

    def quantile(self, probability: float) -> Floats:
        """What a value is below with this probability, at every step."""
        return self.found.quantile(probability)

    def _repr_html_(self) -> str:
        from .pictures import band

        names = ", ".join(f"{name} ({weight:.0%})" for name, _, weight in self.models if weight > 0)
        return band(self.values, self.median, self.low, self.high, names, self.times)


def _dates_of(values: Any, times: Optional[Sequence[Any]]) -> Optional[list[str]]:
    if times is None:
        index = getattr(values, "index", None)  # of pandas
        if index is None or not hasattr(index, "strftime"):
            return None
        times = list(index)
    return [str(time)[:10] if str(time).endswith("00:00:00") else str(time).replace(" ", "T") for time in times]


def smooth(
    values: Any, forecast: int = 0, *, times: Optional[Sequence[Any]] = None, model: str = "auto",
    season: Union[str, float, Sequence[float], None] = "auto", log: Optional[bool] = None,
    inputs: Mapping[str, npt.ArrayLike] = {},
) -> Series:  # fmt: skip
    """Smooths a series, fills its gaps (NaN or None) and forecasts as many steps.

    ``times`` are dates (ISO text, datetimes or periods; those of a pandas index are taken by themselves): they may leave
    steps out, and suggest seasons; ``season`` may name them instead (12, or (7, 365.25), or None). ``model`` is auto,
    walk, trend, ar, motion or ar:0.6,-0.3; ``log`` models logarithms. ``inputs`` are known at every step, forecasts
    included.
    """
    dates = _dates_of(values, times)
    known = numbers_of("values", values, 1, missing=True)
    usual: list[float] = []
    texts: Optional[list[str]] = None
    if not isinstance(forecast, (int, np.integer)) or forecast < 0:
        raise _dma.Error(f"forecast: {forecast!r} is given; a whole number of steps, 0 or more, is expected")
    if dates is not None:
        if len(dates) != len(known):
            raise _dma.Error(f"times: {len(dates)} are given for {len(known)} values")
        steps, texts, usual = _dma.series_times(dates, int(forecast))
        at_steps = np.full(steps[-1] + 1, np.nan)
        at_steps[steps] = known
        known = at_steps
    if isinstance(season, str) and season == "auto":
        seasons = usual
    elif season is None or isinstance(season, (int, float, np.number)):
        seasons = [] if season is None else [float(season)]
    elif isinstance(season, str):
        raise _dma.Error(f"season: {season!r} is given; numbers of steps, None or 'auto' are expected")
    else:
        seasons = [float(one) for one in season]
    given = {name: numbers_of(f"input {name!r}", column, 1) for name, column in inputs.items()}
    found = _dma.smooth_values(known, int(forecast), model, seasons, season != "auto", log, given)
    return Series(known, texts, found.quantile(0.5), found.quantile(0.025), found.quantile(0.975), found.models,
                  found.log_evidence, found)  # fmt: skip
