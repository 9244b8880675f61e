"""The programs of the gallery: each runs, which checks its answer, and draws its picture; the page lists all of them."""

from __future__ import annotations

import os
import re
import runpy
from pathlib import Path

import pytest

SOURCE = Path(os.environ["DMA_SOURCE_DIR"])
PROGRAMS = sorted((SOURCE / "tools/docs/gallery").glob("*.py"))


def test_the_page_lists_all_programs() -> None:
    listed = re.findall(r"\(gallery/(\w+)\.py\)", (SOURCE / "tools/docs/gallery.md").read_text())
    assert sorted(listed) == [program.stem for program in PROGRAMS] and len(PROGRAMS) >= 12


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_a_program_runs_and_draws(program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is missing (Debian: python3-matplotlib)").use("agg")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tools").symlink_to(SOURCE / "tools")
    runpy.run_path(str(program), run_name="__main__")
    assert "<svg" in (tmp_path / f"{program.stem}.svg").read_text()
