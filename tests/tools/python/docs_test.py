"""The snippets of tools/docs/python.md run as they stand."""

from __future__ import annotations

import os
import re
import textwrap
from pathlib import Path

import numpy as np
import pytest


def snippets() -> list[str]:
    """The indented blocks that begin with `import dma`."""
    text = (Path(os.environ["DMA_SOURCE_DIR"]) / "tools/docs/python.md").read_text()
    blocks = re.findall(r"(?:^ {4}.*\n|^\n(?= {4}))+", text, flags=re.MULTILINE)
    return [block for block in map(textwrap.dedent, blocks) if block.lstrip().startswith("import dma")]


def test_every_snippet_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(1)
    X = random.normal(size=(40, 2))
    given = {"X": X, "y": X[:, 0] + 0.1 * random.normal(size=40), "X_new": X[:5]}
    found = snippets()
    assert found
    for snippet in found:
        exec(snippet, dict(given))
