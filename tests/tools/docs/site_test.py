"""The site: Sphinx builds it without a warning, which a dead link is, and its pages can be searched."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(os.environ["DMA_SOURCE_DIR"])


# Constructors, operators, and names that say all need no sentence.
PLAIN = re.compile(
    r"operator|~|(list_fields|format|parse|line|text|size|empty|begin|end|data|at|back|reserve|clear|push_back|append|get|read|write"
    r"|method|\w+_kind)\(")


def undocumented(log: str) -> set[str]:
    """Functions of public headers without a sentence, by Doxygen."""
    found = set()
    for header, name, owner in re.findall(r"headers/(\S+): warning: Member (.*) \(function\) of \w+ (\S+)", log):
        is_constructor = name.startswith(re.split(r"::|<", owner)[-1] + "(")
        if not PLAIN.match(name) and not is_constructor:
            found.add(f"{header} {name}")
    return found


def test_the_site_is_built_and_no_link_is_dead() -> None:
    told = subprocess.run([SOURCE / "tools/docs/build"], capture_output=True, text=True)
    if told.returncode == 77:
        pytest.skip(told.stderr)
    assert told.returncode == 0, told.stderr
    site = SOURCE / "build/site"
    pages = {str(page.relative_to(site)) for page in site.rglob("*.html")}
    assert {"README.html", "search.html", "reference/python_graphs.html", "reference/engine/graph/graph.h.html"} <= pages
    assert "eight_schools.svg" in (site / "tools/docs/gallery/eight_schools.html").read_text()
    missing = undocumented((SOURCE / "build/site_source/doxygen.log").read_text())
    assert not missing, "\n".join(sorted(missing))
    assert all("src=\"http" not in (site / page).read_text() for page in pages)  # it works without a network
