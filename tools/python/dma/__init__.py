"""Factor graphs and Bayesian neural networks: the C++ engine `dma` from Python.

    import dma

    model = dma.Regressor().fit(X, y)             # a scikit-learn estimator
    mean, sd = model.predict(X_new, return_std=True)

Graphs need NumPy alone; the estimators are imported when they are first asked for, because they need scikit-learn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._dma import Contradiction, Error

if TYPE_CHECKING:
    from .regressor import Regressor as Regressor

__all__ = ["Contradiction", "Error", "Regressor"]

_ESTIMATORS = {"Regressor": "regressor"}


def __getattr__(name: str) -> Any:
    if name not in _ESTIMATORS:
        raise AttributeError(f"module 'dma' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f".{_ESTIMATORS[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted(__all__)
