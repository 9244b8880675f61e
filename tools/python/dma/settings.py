"""From what people write in Python to the settings of `dma fit`, which are text as it is typed there.

Wrong types are refused here, by name, because the compiled module would only say that its arguments do not fit.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np

from ._dma import Error, FitSettings

_LARGEST_SEED = 2**64 - 1


def whole(name: str, value: Any) -> int:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral) or value < 0:
        raise Error(f"{name}: {value!r} is given; a whole number of 0 or more is expected")
    return int(value)


def number(name: str, value: Any) -> float:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise Error(f"{name}: {value!r} is given; a number is expected")
    return float(value)


def numbers(name: str, value: Any) -> list[str]:
    """One number or several, each with all its digits."""
    if isinstance(value, str) or not isinstance(value, (Iterable, Real)):
        raise Error(f"{name}: {value!r} is given; a number, or several in a list, are expected")
    return [repr(number(name, one)) for one in (value if isinstance(value, Iterable) else [value])]


def widths(value: Any) -> list[str]:
    """Of hidden layers: 50, or (6, 5), or () for a linear model."""
    if isinstance(value, str) or not isinstance(value, (Iterable, Integral)):
        raise Error(f"hidden: {value!r} is given; a width, or several in a tuple, are expected: 50, (6, 5), () for a linear model")
    return [str(whole("hidden", one)) for one in (value if isinstance(value, Iterable) else [value])] or ["none"]


def truth(name: str, value: Any) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise Error(f"{name}: {value!r} is given; True or False is expected")
    return bool(value)


def word(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise Error(f"{name}: {value!r} is given; a name is expected")
    return value


def seed(random_state: Any) -> int:
    """As scikit-learn takes it: a number, a generator to draw one from, or None for one that nobody has seen before."""
    if random_state is None:
        random_state = np.random.default_rng()
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(0, 2**31 - 1))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(0, 2**63))
    value = whole("random_state", random_state)
    if value > _LARGEST_SEED:
        raise Error(f"random_state: {value} is given; at most {_LARGEST_SEED} is expected")
    return value


def jobs(n_jobs: Any) -> int:
    """As scikit-learn counts them: None is one thread, -1 all processors, -2 all but one."""
    if n_jobs is None:
        return 1
    if isinstance(n_jobs, (bool, np.bool_)) or not isinstance(n_jobs, Integral) or n_jobs == 0:
        raise Error(f"n_jobs: {n_jobs!r} is given; a whole number of threads, or -1 for all processors, is expected")
    count = int(n_jobs)
    return count if count > 0 else max(1, (os.cpu_count() or 1) + 1 + count)


# How each setting is read; None in Python means that it is not given.
_READERS = {
    "preset": word, "features_map": word, "method": word, "noise_model": word,
    "slopes": numbers, "noise": numbers,
    "bias": truth, "standardise": truth, "learn_prior": truth, "neighbours": truth,
    "log_inputs": truth,
    "prior_scale": number, "tempering": number, "tolerance": number, "least_gain": number,
    "max_seconds": number,
    "members": whole, "batches": whole, "batch_size": whole, "epochs": whole, "patience": whole,
}  # fmt: skip


def fit_settings(parameters: dict[str, Any]) -> FitSettings:
    """Of an estimator with these parameters; those it does not have stay as the library has them."""
    settings = FitSettings()
    if parameters["hidden"] is not None:
        settings.hidden = widths(parameters["hidden"])
    settings.seed = seed(parameters["random_state"])
    settings.jobs = jobs(parameters.get("n_jobs"))
    for name, read in _READERS.items():
        if parameters.get(name) is not None:
            try:
                setattr(settings, name, read(name, parameters[name]))
            except TypeError:  # a whole number beyond what the library counts with
                raise Error(f"{name}: {parameters[name]!r} is given; a smaller number is expected") from None
    if settings.batches is not None and settings.batch_size is not None:
        raise Error("batches and batch_size are given; give one of them")
    return settings


def in_python(words: str) -> str:
    """The library's words, with its options called as they are here: --batch-size is batch_size, --time max_seconds."""
    return re.sub(r"--([a-z][a-z-]*)", lambda option: option[1].replace("-", "_"), words.replace("--time", "max_seconds"))
