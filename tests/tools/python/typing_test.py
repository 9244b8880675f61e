"""The type hints: mypy agrees with them and finds what is wrong in a user's program."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PACKAGE = Path(os.environ["DMA_BINARY_DIR"]) / "python/dma"  # with the type hints of the compiled module

RIGHT = """
import dma
import numpy as np

model = dma.Regressor(hidden=(6, 5), epochs=3).fit(np.zeros((3, 2)), [1.0, 2.0, 3.0])
mean = model.predict(np.zeros((3, 2))) + 1
wide = sum(model.predict(np.zeros((3, 2)), return_std=True)[1].tolist())
ahead: float = dma.smooth([1.0, None, 2.0], forecast=2, season=(7, 365)).forecast[0] + dma.rate([("a", "b")])["a"][0]
words: str = model.summary()

@dma.likelihood(scale=dma.above(0))
def laplace(x: float, y: float, *, scale: float) -> float:
    return -abs(y - x) / scale

g = dma.Graph()
x, y = g.gaussian_prior(g.variable("x", 2), [0.0, 1.0], variance=1), g.observed("y", 2)
g.factor("laplace", [x, y], scale=2.0)
plan = dma.compile(g, dma.joint(), kinds=[laplace])
state = dma.State(plan)
state.observe(y, [1.0, None])
report: dma.Report = dma.run(plan, state)
means = state.belief(x).mean + dma.log_evidence(plan, state)
band: str = dma.certify(laplace, quick=True).band
learner = dma.Learner(g, [y], batches=3)
learned: dma.LearnReport = learner.fit({x: np.zeros(3), y: [1.0, None, 2.0]})
total: float = sum(learner.predict({"x": [5.0]})[0].tolist())
rating = dma.Rating()
skill: float = rating["a"][0] if rating.play(("a", "b")).converged else rating.mean[0]
apart: float = dma.compare_with_joint(g, {y: [1.0]}).rows[0][1]
square: dma.Kind = dma.factor_from_vector_function("square", 1, 1, lambda v: v * v)
"""
WRONG = """
import dma

dma.Regressor(hiden=(6, 5))
dma.Regressor().summary() + 1
dma.compile(dma.Graph(), 3)
dma.Regressor().predict([[1.0]]).append(1)
dma.Learner(dma.Graph(), ["y"], batches="many")
"""


def mypy(*arguments: object) -> str:
    # It keeps what it knows of numpy in the build, and asks the files whether they are still the same.
    cache = Path(os.environ["DMA_BINARY_DIR"]) / "mypy"
    command = [sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports", "--no-error-summary",
               "--allow-subclassing-any", "--cache-dir", str(cache), *map(str, arguments)]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, cwd=PACKAGE.parent)
    assert done.returncode < 2, done.stderr  # it did not fail itself
    return done.stdout


def test_the_package_and_its_users_are_typed(tmp_path: Path) -> None:
    right, wrong = tmp_path / "right.py", tmp_path / "wrong.py"
    right.write_text(RIGHT)
    wrong.write_text(WRONG)
    lines = mypy("dma", right, wrong).splitlines(keepends=True)  # one call: reading what it knows is most of the work
    found = "".join(line for line in lines if line.startswith(str(wrong)))
    # A note may say where that which is called wrongly is defined.
    assert [line for line in lines if line not in found and not line.endswith(" defined here\n")] == []
    assert 'Unexpected keyword argument "hiden"' in found and "Unsupported operand types" in found
    assert 'Argument 2 to "compile" has incompatible type "int"' in found
    assert 'has no attribute "append"' in found  # predict without return_std is an array
    assert 'Argument "batches" to "Learner" has incompatible type "str"' in found
