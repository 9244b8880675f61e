"""Sphinx: `tools/docs/build` runs it on the pages that tools/docs/pages.py has put together."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import dma
from sphinx.domains.cpp import ASTDeclaration

project = "dma"
release = dma.__version__
extensions = ["myst_parser", "breathe", "sphinx.ext.autodoc"]
include_patterns = ["README.md", "tools/docs/**.md", "tools/experiments/results/*.md", "tools/examples/data/README.md", "reference/**"]
exclude_patterns = ["tools/docs/README.md", "tools/docs/gallery/README.md", "tools/experiments/results/README.md"]
root_doc = "tools/docs/index"
html_theme = "furo"
html_title = f"dma {release}"
html_copy_source = False
templates_path: list[str] = []
myst_heading_anchors = 4
breathe_projects = {"dma": str(Path(__file__).resolve().parents[2] / "build/site_source/xml")}
breathe_default_project = "dma"
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
# Types of other libraries, and private ones, have no page here.
nitpick_ignore_regex = [("cpp:.*", ".*"), ("py:.*", ".*")]

# The order of the pages on the left of each.
PAGES = {
    "Learn": ["/README", "tutorial", "vocabulary", "gallery"],
    "Use": ["models", "tables", "classes", "regression", "series", "games", "clusters", "regimes", "gaps", "kalman_and_slam", "own_models",
            "python", "files", "many_machines"],
    "Graphs": ["graphs", "index_maps", "methods", "solvers"],
    "Extend": ["factors", "message", "CONTRIBUTING"],
    "Judge": ["numbers", "promises", "peers", *(f"/tools/experiments/results/{name}" for name in ("RESULTS", "RELIABILITY", "PERFORMANCE", "SCALING"))],
    "Reference": ["/reference/python", "/reference/cpp", "packages", "/tools/examples/data/README", "CHANGELOG"],
}  # fmt: skip


def with_contents(app: Any, name: str, source: list[str]) -> None:
    if name == root_doc:
        for caption, pages in PAGES.items():
            source[0] += "\n".join(["\n```{toctree}", ":hidden:", f":caption: {caption}", *pages, "```\n"])


def signatures() -> dict[str, str]:
    """Types of the compiled module: its docstrings have the types of C++, the stub has those of Python."""
    stub = ast.parse((Path(dma.__file__).parent / "_dma.pyi").read_text())
    found: dict[str, str] = {}
    for top in stub.body:
        inside = [(f"{top.name}.", one) for one in top.body] if isinstance(top, ast.ClassDef) else [("", top)]
        for scope, one in inside:
            if isinstance(one, ast.FunctionDef):
                one.args.args = [argument for argument in one.args.args if argument.arg != "self"]
                returned = f" -> {ast.unparse(one.returns)}" if one.returns and not one.name == "__init__" else ""
                found[f"{scope}{one.name}".replace(".__init__", "")] = f"({ast.unparse(one.args)}){returned}"
    return found


def with_stub(app: Any, what: str, name: str, thing: Any, options: Any, signature: str | None, returned: str | None) -> Any:
    known = SIGNATURES.get(name.removeprefix("dma."))
    return None if known is None else (known.partition(" -> ")[0].replace("_Variable", "Variable"), known.partition(" -> ")[2])


SIGNATURES = signatures()


def remembered(self: ASTDeclaration, compute: Any = ASTDeclaration.get_newest_id) -> str:
    if not hasattr(self, "newest_id"):
        self.newest_id = compute(self)
    return self.newest_id


ASTDeclaration.get_newest_id = remembered  # asked for again and again: half of all time


def setup(app: Any) -> None:
    app.connect("source-read", with_contents)
    app.connect("autodoc-process-signature", with_stub)
