"""Pictures of graphs for notebooks, drawn by Graphviz's program `dot` where that is installed."""

from __future__ import annotations

import shutil
import subprocess
from typing import Optional


def svg(dot: str) -> Optional[str]:
    """None where there is no Graphviz, so that a notebook shows the text instead."""
    program = shutil.which("dot")
    if program is None:
        return None
    done = subprocess.run([program, "-Tsvg"], input=dot, capture_output=True, text=True)
    if done.returncode != 0:
        return None
    return done.stdout[done.stdout.index("<svg") :]
