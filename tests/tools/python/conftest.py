"""Tables that several tests learn, and the command line they are compared with."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dma
import numpy as np
import pytest

if TYPE_CHECKING:
    import pandas as pd


def run_dma(*arguments: object, program: str = "dma") -> str:
    path = os.environ["DMA_PROGRAM" if program == "dma" else "DMA_LAB"]
    done = subprocess.run([path, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def ran(g: dma.Graph, observed: Any = None, schedule: Any = "forward_backward", **options: Any) -> tuple[dma.Plan, dma.State, dma.Report]:
    """A state of the graph's plan that has run with these values."""
    state = dma.State(plan := dma.compile(g, schedule, **options))
    for variable, values in (observed or {}).items():
        state.observe(variable, values)
    return plan, state, dma.run(plan, state)


@pytest.fixture(scope="session")
def table() -> pd.DataFrame:
    """A parabola and a line with noise, numbers that need all their digits."""
    import pandas as pd  # takes longer than many of the tests that need none

    random = np.random.default_rng(1)
    a, b = random.normal(size=(2, 60))
    return pd.DataFrame({"a": a, "b": 1e3 * b, "y": 0.5 * a**2 + 0.3 * b + 0.1 * random.normal(size=60)})


@pytest.fixture
def csv(table: pd.DataFrame, tmp_path: Path) -> Path:
    path = tmp_path / "table.csv"
    table.to_csv(path, index=False)
    return path
