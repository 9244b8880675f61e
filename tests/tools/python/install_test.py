"""`pip install ./tools/python` without a network, into a folder of its own; and what `import dma` asks for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE, BUILD = Path(os.environ["DMA_SOURCE_DIR"]), Path(os.environ["DMA_BINARY_DIR"])


def run(*command: object, **variables: str) -> str:
    environment = {**os.environ, **variables}
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, env=environment, cwd="/")
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_pip_installs_the_module(tmp_path: Path) -> None:
    pytest.importorskip("pip")
    before = sorted(path.name for path in (SOURCE / "tools/python").iterdir())
    run(sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", "--no-build-isolation", "--no-cache-dir", "--quiet",
        "--disable-pip-version-check", "--root-user-action=ignore", "--target", tmp_path, SOURCE / "tools/python",
        DMA_BUILD_DIR=os.path.relpath(BUILD, SOURCE))  # fmt: skip
    program = "import dma; print(dma.__file__, dma.Regressor(hidden=(2,), members=1).fit([[1], [2], [4]], [1, 2, 3]).predict([[3]]).shape)"
    told = run(sys.executable, "-c", program, PYTHONPATH=str(tmp_path))
    assert told.split() == [str(tmp_path / "dma/__init__.py"), "(1,)"]
    assert sorted(path.name for path in (SOURCE / "tools/python").iterdir()) == before


def test_graphs_need_numpy_alone() -> None:
    program = """
import sys
for name in ("sklearn", "pandas", "scipy", "joblib"):
    sys.modules[name] = None  # as if it were not installed
import dma
try:
    dma.Regressor
except ImportError as error:
    print("Regressor needs", error.name)
"""
    assert run(sys.executable, "-c", program).startswith("Regressor needs sklearn")
